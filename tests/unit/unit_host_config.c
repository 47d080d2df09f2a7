/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of a host: what the software NIC makes of its rows must be what the plan says, for every
 * preset, for random hosts, destinations and EVs.
 */
#include "fabric_fixture.h"
#include "support/test.h"

#include <stdio.h>

#include "base/toml.h"
#include "fabric/fabric_path.h"
#include "fabric/host_config.h"
#include "fabric/usid.h"
#include "host/config/env.h"
#include "wire/ev_fmt.h"

#define FILE_MAX 4096u

/* Reads the rows, which the reader joins by commas. */
static int take_rows(void *ctx, const struct mb_toml_item *item)
{
	struct mh_srv6 *srv6 = ctx;
	char why[MH_SRV6_WHY_MAX], rows[MB_TOML_VALUE_MAX], *rest = rows, *row;

	if (strcmp(item->name, "srv6.rows") != 0)
		return 0;
	strcpy(rows, item->value);
	while ((row = strsep(&rest, ",")) != NULL)
		if (!mh_srv6_parse_row(row, &srv6->row[srv6->n_rows++], why))
			fail_msg("%s: %s", row, why);
	return 0;
}

static void read_file(const char *text, struct mh_srv6 *srv6)
{
	const char *why;
	uint32_t line;

	memset(srv6, 0, sizeof(*srv6));
	if (mb_toml_read(text, take_rows, srv6, &line, &why))
		fail_msg("line %u: %s\n%s", line, why, text);
}

static void assert_same_carrier(const struct mf_topology *t, const struct mh_srv6 *srv6,
				uint32_t src, uint32_t dst, uint32_t ev)
{
	struct mf_pair pair = mf_pair_of(t, src, dst);
	uint8_t gid[MF_ADDRESS_BYTES], to[16];
	uint16_t usids[MF_USIDS_MAX];
	const struct mh_srv6_row *row;
	struct mw_carrier want;

	mf_address_of_host(t, dst, gid);
	row = mh_srv6_find(srv6, gid);
	assert_non_null(row);
	mw_carrier_of(mf_usid_block(t, mf_ev_plane(ev)), usids, mf_usids_of(t, &pair, ev, usids),
		      &want);
	mh_srv6_carrier(row, mf_ev_plane(ev), ev | 0xC00u << MW_EV_FREE_SHIFT, gid, to);
	assert_bytes_eq(to, want.dst, 16);
}

static void check_fabric(const struct mf_topology *t, size_t rounds)
{
	struct mf_host_options options = {.form = MF_HOST_RAW41};

	for (size_t i = 0; i < rounds; i++) {
		uint32_t src = (uint32_t)test_rand_below(t->n_hosts);
		struct mh_srv6 srv6;
		char text[FILE_MAX];

		assert_true(mf_host_config_write(t, src, &options, text, sizeof(text)) <
			    sizeof(text));
		read_file(text, &srv6);
		assert_u_eq(srv6.n_rows, t->cfg.tiers);
		for (size_t k = 0; k < 100; k++) {
			uint32_t n = (uint32_t)test_rand_below(mf_ev_count(t));

			assert_same_carrier(t, &srv6, src, (uint32_t)test_rand_below(t->n_hosts),
					    mf_ev_nth(t, n));
		}
	}
}

/* REQ(srv6.path) REQ(srv6.ev-planes) */
TEST(mf_host_config_write, gives_the_paths_of_every_preset)
{
	for (const struct mb_named_text *p = mf_presets; p->name; p++) {
		struct mf_topology t = fabric(p->name);

		check_fabric(&t, test_rounds(40));
	}
}

TEST(mf_host_config_write, gives_the_paths_of_every_usid_plan)
{
	/* The fourth there is not: numbers of hosts leave a uSID no room for planes. */
	for (unsigned plan = 0; plan < 3; plan++) {
		struct mf_topology_cfg cfg = mf_preset_cfg("lab8");
		struct mf_topology t;

		cfg.usid.planes = plan & 1 ? MF_PLANE_IN_USID : MF_PLANE_IN_BLOCK;
		cfg.usid.dst = plan & 2 ? MF_DST_HOST : MF_DST_DOWNLINK;
		t = fabric_of(&cfg);
		check_fabric(&t, test_rounds(40));
	}
}

TEST(mf_host_config_write, one_plane_and_three_tiers)
{
	struct mf_topology_cfg cfg = mf_preset_cfg("threetier");
	struct mf_topology t = fabric_of(&cfg);
	struct mf_host_options options = {.form = MF_HOST_UDP, .pace_bps = 1000, .ifname = "swp"};
	char text[FILE_MAX];

	mf_host_config_write(&t, 0, &options, text, sizeof(text));
	assert_non_null(strstr(text, "list = [\"swp0\"]\ndriver = \"udp\"\npace = 1000\n"));
	assert_non_null(strstr(text, "t1_uplinks = "));
	check_fabric(&t, test_rounds(100));
}

TEST(mf_host_config_write, tells_its_length_like_snprintf)
{
	struct mf_topology t = fabric("tiny");
	struct mf_host_options options = {.form = MF_HOST_UDP};
	size_t len = mf_host_config_write(&t, 3, &options, NULL, 0);
	char *text = malloc(len + 1);

	assert_u_eq(mf_host_config_write(&t, 3, &options, text, len + 1), len);
	assert_u_eq(strlen(text), len);
	assert_u_eq(mf_host_config_write(&t, 3, &options, text, 20), len);
	assert_u_eq(strlen(text), 19);
	free(text);
}

/* REQ(wire.dscp.values) */
TEST(mf_host_config_write, gives_the_dscp_map_of_the_fabric)
{
	struct mf_topology_cfg cfg = mf_preset_cfg("tiny");
	struct mf_host_options options = {.form = MF_HOST_UDP};
	struct mf_topology t = fabric_of(&cfg);
	char text[FILE_MAX];

	mf_host_config_write(&t, 0, &options, text, sizeof(text));
	assert_null(strstr(text, "dscp"));
	cfg.dscp.code[MW_DSCP_CONTROL] = 48;
	t = fabric_of(&cfg);
	mf_host_config_write(&t, 0, &options, text, sizeof(text));
	assert_non_null(strstr(text, "pace = 200000000\ndscp = \"0,4,8,12,16,48\"\n\n"));
}

/* 20 Mb/s: a packet takes 1.76 ms a link, which is no congestion. */
TEST(mf_host_config_write, round_trip_of_the_empty_fabric)
{
	struct mf_topology_cfg cfg = mf_preset_cfg("lab8");
	struct mf_host_options options = {.form = MF_HOST_UDP};
	struct mf_topology t;
	char text[FILE_MAX];

	cfg.links[MF_HOST_T0] = cfg.links[MF_T0_T1] = (struct mf_link_cfg){20000000, 500};
	cfg.mtu = 4400;
	cfg.switch_ns = 500;
	t = fabric_of(&cfg);
	mf_host_config_write(&t, 0, &options, text, sizeof(text));
	/* 200 + 4 x (1760 + 1) + 4 x (63.2 + 1), in us. */
	assert_non_null(strstr(text, "[congestion]\nbase_rtt_us = 7501\n"));
	/* Timers that would be below what the fabric takes, and no others. */
	assert_non_null(strstr(text, "[timers]\nrto_min_us = 30000\ntail_probe_us = 15000\n"
				     "reorder_min_us = 7500\nreorder_max_us = 15000\n\n"));
	t = fabric("paper");
	mf_host_config_write(&t, 0, &options, text, sizeof(text));
	assert_null(strstr(text, "[timers]"));
}

/* 59 ms behind a full queue are no loss, once that is seen; dead paths are found as soon as
 * ever. */
TEST(mf_host_config_write, a_reorder_window_may_grow_above_a_full_queue)
{
	struct mf_topology t = fabric("paper");
	struct mf_host_options options = {.form = MF_HOST_UDP, .queue_ns = 59000000};
	char text[FILE_MAX];

	mf_host_config_write(&t, 0, &options, text, sizeof(text));
	assert_non_null(strstr(text, "[timers]\nreorder_max_us = 118"));
	assert_null(strstr(text, "reorder_min_us"));
	assert_null(strstr(text, "rto_min_us"));
	assert_null(strstr(text, "tail_probe_us"));
	options.queue_ns = 2000000; /* below what it is anyway */
	mf_host_config_write(&t, 0, &options, text, sizeof(text));
	assert_null(strstr(text, "[timers]"));
}

/* The host may not see the fabric, so both have these. REQ(topo.ev.fields) */
TEST(mw_ev_path_on, is_the_fabrics_layout)
{
	assert_u_eq(MW_EV_UPLINK_SHIFT, MW_EV_UPLINK_SHIFT);
	assert_u_eq(MW_EV_T1_UPLINK_SHIFT, MW_EV_T1_UPLINK_SHIFT);
	assert_u_eq(MW_EV_PLANE_SHIFT, MW_EV_PLANE_SHIFT);
	assert_u_eq(MW_EV_FREE_SHIFT, MW_EV_FREE_SHIFT);
	assert_u_eq(mw_ev_path_on(mf_ev_of(3, 7, 9), 5), mf_ev_of(5, 7, 9));
}
