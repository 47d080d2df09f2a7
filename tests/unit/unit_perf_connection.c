/* SPDX-License-Identifier: BSD-2-Clause */
/* What the peer of mrc perf says of itself: src/cli/perf/perf.h. */
#include "cli/perf/perf.h"

#include "support/test.h"

static json_t *describe_peer(const char *form)
{
	return json_pack("{s:s,s:s,s:i,s:i,s:i,s:i,s:[i],s:[i]}", "gid",
			 "00000000000000000000ffff0a000001", "form", form, "mtu", IBV_MTU_1024,
			 "address", 4096, "bytes", 4096, "rkey", 7, "qpns", 9, "psns", 1);
}

static void connect_fails(const char *form, const char *error)
{
	static const struct perf_plan plan = {.max = 4096, .qps = 1};
	struct perf_connection r = {.plan = &plan, .form = "udp", .mtu = IBV_MTU_4096};
	json_t *peer = describe_peer(form);

	assert_non_null(peer);
	assert_i_eq(perf_connection_connect(&r, peer), -1);
	assert_non_null(strstr(r.error, error));
	json_decref(peer);
}

/* The message is for a terminal, and the peer chose a part of it. */
TEST(perf_connection_connect, form_of_the_peer_is_told_without_control_characters)
{
	connect_fails("raw41", "are carried by raw41, those here by udp");
	connect_fails("\033[2J\r\n\302\233x", "are carried by ?[2J????x, those here by udp");
}
