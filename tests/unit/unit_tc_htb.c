/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/test.h"
#include "switchq/switchq.h"

static struct mswq_port port_of(uint64_t bits)
{
	const struct mw_dscp_map dscp = mw_dscp_map_default();
	struct mswq_port p;

	mswq_port_default(&p, &dscp, bits, 0, false);
	return p;
}

TEST(mswq_htb_lines, two_classes_of_one_rate)
{
	struct mswq_port p = port_of(100000000);
	char out[2048];
	size_t n = mswq_htb_lines(out, sizeof(out), "d3", 4400, &p, NULL);

	assert_u_eq(strlen(out), n);
	assert_string_equal(
		out,
		"qdisc add dev d3 root handle 1: htb default 20 r2q 1000\n"
		"class add dev d3 parent 1: classid 1:1 htb rate 100000000bit ceil 100000000bit "
		"burst 4414b cburst 4414b quantum 4414\n"
		"class add dev d3 parent 1:1 classid 1:10 htb rate 50000000bit ceil 100000000bit "
		"burst 4414b cburst 4414b quantum 4414 prio 0\n"
		"class add dev d3 parent 1:1 classid 1:20 htb rate 50000000bit ceil 100000000bit "
		"burst 4414b cburst 4414b quantum 4414 prio 1\n"
		"qdisc add dev d3 parent 1:10 handle 10: bfifo limit 360448b\n"
		"qdisc add dev d3 parent 1:20 handle 20: bfifo limit 360448b\n");
}

TEST(mswq_htb_lines, fast_ports_have_larger_bursts)
{
	struct mswq_port p = port_of(10000000000);
	char out[2048];

	mswq_htb_lines(out, sizeof(out), "d3", 9000, &p, NULL);
	assert_non_null(strstr(out, "burst 62500b"));
}

TEST(mswq_htb_lines, no_rate_no_lines)
{
	struct mswq_port p = port_of(0);
	char out[8] = "x";

	assert_u_eq(mswq_htb_lines(out, sizeof(out), "d3", 4400, &p, NULL), 0);
	assert_string_equal(out, "");
}

TEST(mswq_htb_lines, tells_how_long_it_would_be)
{
	struct mswq_port p = port_of(100000000);
	char all[2048], cut[64];
	size_t n = mswq_htb_lines(all, sizeof(all), "d3", 4400, &p, NULL);

	assert_u_eq(mswq_htb_lines(cut, sizeof(cut), "d3", 4400, &p, NULL), n);
	assert_u_eq(strlen(cut), sizeof(cut) - 1);
	assert_memory_equal(cut, all, sizeof(cut) - 1);
	assert_u_eq(mswq_htb_lines(NULL, 0, "d3", 4400, &p, NULL), n);
}

TEST(mswq_htb_change_lines, slow_port)
{
	struct mswq_port p = port_of(100000000);
	struct mswq_faults slow = {.slow_bits = 20000000};
	char out[2048];

	mswq_htb_change_lines(out, sizeof(out), "u0", 4400, &p, &slow);
	assert_non_null(strstr(out, "class change dev u0 parent 1:1 classid 1:20 htb rate "
				    "10000000bit ceil 20000000bit"));
	assert_null(strstr(out, "qdisc"));
}
