/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports and units by arithmetic, held against nodes and links as the fabric numbers them. */
#include "sim/kernel/worker.h"

#include "fabric/topology_toml.h"
#include "support/test.h"

static void fabric(struct ms_units *u, const char *preset, uint32_t workers)
{
	char why[MF_TOML_ERROR_BYTES];
	struct mf_topology t;

	assert_true(mf_topology_open(preset, &t, why));
	ms_units_init(u, &t, workers);
}

/* Two and three tiers, small enough to look at every link. */
static void three_tiers(struct ms_units *u, uint32_t workers)
{
	struct mf_topology_cfg cfg = {
		.dscp = mw_dscp_map_default(),
		.name = "three",
		.planes = 2,
		.tiers = 3,
		.pods = 3,
		.hosts_per_t0 = 5,
		.t0s = 4,
		.t1s = 3,
		.t1_uplinks = 2,
		.rails = 1,
		.links = {{100000000000, 500}, {100000000000, 500}, {100000000000, 500}},
		.mtu = 4262,
		.usid = {.block = 0xfcbbbb00, .planes = MF_PLANE_IN_USID},
		.address_block = 0xfd6d7263,
	};
	struct mf_error error = {"", "", ""};
	struct mf_topology t;

	if (!mf_topology_init(&t, &cfg, &error))
		fail_msg("%s = %s: %s", error.field, error.value, error.what);
	ms_units_init(u, &t, workers);
}

static void ports_are_links(const struct ms_units *u)
{
	bool *used = calloc(u->n_ports, sizeof(*used));

	assert_non_null(used);
	assert_u_eq(u->n_ports, u->t.n_links);
	for (uint32_t link = 0; link < u->t.n_links; link++) {
		uint32_t port = ms_units_port(u, link);

		assert_true(port < u->n_ports);
		assert_false(used[port]);
		used[port] = true;
		assert_u_eq(ms_units_link(u, port), link);
	}
	free(used);
}

TEST(ms_units_port, is_one_for_each_link)
{
	struct ms_units u;

	three_tiers(&u, 1);
	ports_are_links(&u);
	fabric(&u, "lab8", 3);
	ports_are_links(&u);
}

static bool is_down(enum ms_port_kind k)
{
	return k == MS_PORT_T0_DOWN || k == MS_PORT_T1_DOWN || k == MS_PORT_T2_DOWN;
}

static void peers_are_ends(const struct ms_units *u)
{
	for (uint32_t link = 0; link < u->t.n_links; link++) {
		uint32_t port = ms_units_port(u, link), from = ms_units_from(u, link);
		enum ms_port_kind kind;
		struct ms_unit unit;

		ms_units_fill(u, from, &unit);
		assert_true(port >= unit.first_port && port < unit.first_port + unit.ports);
		assert_u_eq(ms_unit_peer(u, &unit, port - unit.first_port), ms_units_to(u, link));
		kind = port - unit.first_port < unit.downlinks ? unit.down_kind : unit.up_kind;
		assert_u_eq(is_down(kind), mf_link_down(link));
	}
}

TEST(ms_unit_peer, is_the_other_end)
{
	struct ms_units u;

	three_tiers(&u, 2);
	peers_are_ends(&u);
	fabric(&u, "lab8", 1);
	peers_are_ends(&u);
}

TEST(ms_units_fill, shares_work_among_workers)
{
	struct ms_units u;

	for (uint32_t workers = 1; workers <= 4; workers++) {
		uint32_t work[4] = {0};

		three_tiers(&u, workers);
		for (uint32_t i = 0; i < u.n; i++) {
			struct ms_unit unit;

			ms_units_fill(&u, i, &unit);
			assert_true(unit.worker < workers);
			work[unit.worker] += unit.ports;
		}
		for (uint32_t i = 0; i < workers; i++)
			assert_u_between(work[i], u.n_ports / workers / 2, u.n_ports / workers * 2);
	}
}
