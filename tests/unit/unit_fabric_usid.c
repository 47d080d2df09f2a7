/* SPDX-License-Identifier: BSD-2-Clause */
/* The uSID plan. */
#include "fabric_fixture.h"

#include "fabric/usid.h"

static void assert_usids(const struct mf_topology *t, uint32_t src, uint32_t dst, uint32_t ev,
			 const uint16_t *want, uint32_t n)
{
	struct mf_pair p = mf_pair_of(t, src, dst);
	uint16_t got[MF_USIDS_MAX];

	assert_u_eq(mf_usids_of(t, &p, ev, got), n);
	for (uint32_t i = 0; i < n; i++)
		assert_u_eq(got[i], want[i]);
}

/* REQ(srv6.path) */
TEST(mf_usids_of, two_tiers)
{
	struct mf_topology t = fabric("lab");

	assert_usids(&t, 0, 7, mf_ev_of(2, 1, 0), (uint16_t[]){0xa000, 0xb001, 0xa001, 8}, 4);
	assert_usids(&t, 0, 3, mf_ev_of(2, 1, 0), (uint16_t[]){0xa000, 4}, 2);
	assert_u_eq(mf_usid_block(&t, 2), 0xfcbbbb02);
}

/* REQ(srv6.ev-planes) REQ(topo.usid.planes) */
TEST(mf_usids_of, the_plane_is_in_every_usid)
{
	struct mf_topology t = fabric("paper");
	uint32_t last = t.n_hosts - 1;

	assert_usids(&t, 0, last, mf_ev_of(0, 255, 0), (uint16_t[]){0xa000, 0xb0ff, 0xa1ff, 0x10ff},
		     4);
	assert_usids(&t, 0, last, mf_ev_of(5, 255, 0), (uint16_t[]){0xaa00, 0xbaff, 0xabff, 0x1aff},
		     4);
	assert_u_eq(mf_usid_block(&t, 5), 0xfcbbbb00);
}

TEST(mf_usids_of, three_tiers)
{
	struct mf_topology t = fabric("threetier");

	assert_usids(&t, 33, 65535, mf_ev_of(0, 3, 5),
		     (uint16_t[]){0xa001, 0xb003, 0xc065, 0xb7e3, 0xa7ff, 0x101f}, 6);
	assert_usids(&t, 33, 1023, mf_ev_of(0, 3, 5), (uint16_t[]){0xa001, 0xb003, 0xa01f, 0x101f},
		     4);
}

/* Each uSID of a plane belongs to one switch, none is 0, and none is where local ones are. */
static void assert_distinct(const char *name)
{
	struct mf_topology t = fabric(name);
	uint8_t *seen = calloc(1, 65536);

	assert_non_null(seen);
	for (uint32_t node = t.n_hosts; node < t.n_nodes; node++) {
		struct mf_node n = mf_node_at(&t, node);
		uint16_t usid = mf_usid_switch(&t, n);
		bool again = t.cfg.usid.planes == MF_PLANE_IN_BLOCK && seen[usid] == n.plane;

		assert_true(seen[usid] == 0 || again);
		assert_u_between(usid, 0xa000, 0xdfff);
		seen[usid] = (uint8_t)(n.plane + 1);
	}
	for (uint32_t host = 0; host < t.n_hosts; host++)
		assert_u_between(mf_usid_dst(&t, t.cfg.planes - 1, host), 1, 0x9fff);
	free(seen);
}

/* REQ(topo.usid.roles) */
TEST(mf_usid_switch, one_switch_each)
{
	const char *const names[] = {"tiny",   "lab",	    "lab8",  "pod",
				     "paper4", "threetier", "paper", "small3"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_distinct(names[i]);
}

/* REQ(topo.usid.roles) */
TEST(mf_usid_switch, a_t1_has_the_number_of_the_uplink)
{
	struct mf_topology t = fabric("small3");

	for (uint32_t t1 = 0; t1 < t.n_t1s; t1++) {
		uint16_t usid = mf_usid_switch(&t, (struct mf_node){MF_T1, 0, t1});

		assert_u_eq(usid & ((1u << t.t1_bits) - 1), t1 % t.cfg.t1s);
	}
}

/* REQ(topo.usid.destination) */
TEST(mf_usid_dst, tells_apart_what_a_t0_must)
{
	struct mf_topology lab = fabric("lab8"), pod = fabric("pod");

	for (uint32_t host = 1; host < 32; host++) {
		assert_u_eq(mf_usid_dst(&lab, 3, host), 1 + host);
		assert_u_eq(mf_usid_dst(&pod, 0, host), 0x1000 + host);
	}
	assert_u_eq(mf_usid_dst(&pod, 0, 33), 0x1001);
	assert_u_eq(mf_usid_dst(&pod, 7, 33), 0x1e01);
}
