/* SPDX-License-Identifier: BSD-2-Clause */
/* What of a port is refused, and in which words; what it is by default. Needs no kernel. */
#include "support/test.h"
#include "switchq/switchq_handle.h"
#include "wire/dscp.h"

/* A handle of nothing: what is refused never comes to the maps. */
static struct mswq nothing = {.prog = -1, .map = {-1, -1, -1}};
static struct mswq_error error;

static struct mswq_port good(void)
{
	const struct mw_dscp_map dscp = mw_dscp_map_default();
	struct mswq_port p;

	mswq_port_default(&p, &dscp, 100000000, 100000, false);
	return p;
}

static void refused(const struct mswq_port *p, const char *text)
{
	error.text[0] = '\0';
	assert_int_not_equal(mswq_port_set(&nothing, 7, p, &error), 0);
	assert_string_equal(error.text, text);
}

/* Only the maps are missing. */
TEST(mswq_port_set, accepts_the_defaults)
{
	const struct mw_dscp_map dscp = mw_dscp_map_default();
	struct mswq_port p = good();

	refused(&p, "port 7: Bad file descriptor");
	mswq_port_default(&p, &dscp, MSWQ_RATE_MAX, 1000000000, true);
	refused(&p, "port 7: Bad file descriptor");
	mswq_port_default(&p, &dscp, 0, 0, false);
	refused(&p, "port 7: Bad file descriptor");
}

TEST(mswq_port_set, names_a_bad_rate_or_limit)
{
	struct mswq_port p = good();

	p.rate_bits = 799;
	refused(&p, "rate_bits = 799: allowed is 0 (none) or 800 to 1000000000000");
	p = good();
	p.limit_bytes = MSWQ_LIMIT_MAX + 1;
	refused(&p, "limit_bytes = 268435457: allowed is 0 to 268435456");
	p = good();
	p.control_limit_bytes = UINT32_MAX;
	refused(&p, "control_limit_bytes = 4294967295: allowed is 0 to 268435456");
}

TEST(mswq_port_set, names_bad_thresholds)
{
	struct mswq_port p = good();

	p.ecn_max_bytes = p.ecn_min_bytes = 500;
	refused(&p, "ecn_max_bytes = 500: allowed is more than ecn_min_bytes, 500");
	p.ecn = false;
	refused(&p, "port 7: Bad file descriptor");
	p = good();
	p.ecn_max_ppm = MSWQ_PPM_MAX + 1;
	refused(&p, "ecn_max_ppm = 1000001: allowed is 0 to 1000000");
}

TEST(mswq_port_set, names_bad_trimming)
{
	struct mswq_port p = good();

	p.trim_bytes = 63;
	refused(&p, "trim_bytes = 63: allowed is 64 to 4084");
	p.trim_bytes = 4085;
	refused(&p, "trim_bytes = 4085: allowed is 64 to 4084");
	p.trim_bytes = 128;
	p.trim_dscp = 64;
	refused(&p, "trim_dscp = 64: allowed is 0 to 63");
	p.trim_dscp = 4;
	refused(&p, "trim_dscp = 4: allowed is a DSCP of the control class");
	p.trim_bytes = 0;
	refused(&p, "port 7: Bad file descriptor");
	p = good();
	p.trimmable_dscp |= UINT64_C(1) << 46;
	refused(&p, "trimmable_dscp = 0x400000000110: allowed is none of control_dscp, "
		    "0x400000011000");
}

TEST(mswq_fault_set, names_bad_faults)
{
	struct mswq_faults f = {.reorder_ppm = MSWQ_PPM_MAX + 1};

	assert_int_not_equal(mswq_fault_set(&nothing, 7, &f, &error), 0);
	assert_string_equal(error.text, "reorder_ppm = 1000001: allowed is 0 to 1000000");
	f = (struct mswq_faults){.slow_bits = 1};
	assert_int_not_equal(mswq_fault_set(&nothing, 7, &f, &error), 0);
	assert_string_equal(error.text,
			    "slow_bits = 1: allowed is 0 (none) or 800 to 1000000000000");
}

/* 100 Gb/s and 12 us: a BDP of 150 kB. REQ(switch.ecn.not-last-hop) REQ(switch.trim.last-hop) */
TEST(mswq_port_default, follows_the_bandwidth_delay_product)
{
	const struct mw_dscp_map dscp = mw_dscp_map_default();
	struct mswq_port p;

	mswq_port_default(&p, &dscp, 100000000000, 12000, false);
	assert_u_eq(p.limit_bytes, 150000);
	assert_u_eq(p.ecn_min_bytes, 30000);
	assert_u_eq(p.ecn_max_bytes, 120000);
	assert_true(p.ecn);
	assert_u_eq(p.trim_dscp, 12);
	mswq_port_default(&p, &dscp, 100000000000, 12000, true);
	assert_u_eq(p.limit_bytes, 225000);
	assert_false(p.ecn);
	assert_u_eq(p.trim_dscp, 16);
	mswq_port_default(&p, &dscp, 1000000, 1, false);
	assert_u_eq(p.limit_bytes, 96 << 10);
}

static uint64_t bits(const struct mw_dscp_map *map, enum mw_dscp_class first, uint32_t n)
{
	uint64_t set = 0;

	for (uint32_t i = 0; i < n; i++)
		set |= UINT64_C(1) << map->code[first + i];
	return set;
}

/* REQ(switch.dscp.class) REQ(wire.dscp.values) */
TEST(mswq_port_default, has_the_code_points_of_the_map)
{
	static const char *const maps[] = {"0,4,8,12,16,46", "63,1,2,3,5,0", "10,20,20,30,30,40"};
	char why[MW_DSCP_ERROR_BYTES];

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		struct mw_dscp_map map;
		struct mswq_port p;

		assert_true(mw_dscp_map_read(maps[i], &map, why));
		for (int last_hop = 0; last_hop < 2; last_hop++) {
			mswq_port_default(&p, &map, 100000000, 100000, last_hop);
			assert_u_eq(p.trimmable_dscp, bits(&map, MW_DSCP_TRIMMABLE, 2));
			assert_u_eq(p.control_dscp, bits(&map, MW_DSCP_TRIMMED, 3));
			assert_u_eq(p.trim_dscp, map.code[MW_DSCP_TRIMMED + last_hop]);
			refused(&p, "port 7: Bad file descriptor");
		}
	}
}

/* TRIMMABLE has the number of packets that must not be trimmed: only RETX is trimmed. */
TEST(mswq_port_default, trims_nothing_that_may_be_no_trim)
{
	struct mw_dscp_map map = mw_dscp_map_default();
	struct mswq_port p;

	map.code[MW_DSCP_TRIMMABLE] = map.code[MW_DSCP_NO_TRIM];
	mswq_port_default(&p, &map, 100000000, 100000, false);
	assert_u_eq(p.trimmable_dscp, UINT64_C(1) << map.code[MW_DSCP_TRIMMABLE_RETX]);
}
