/* SPDX-License-Identifier: BSD-2-Clause */
/* `mrc top --json`: src/cli/top/top.h. */
#include "cli/top/top.h"

#include "support/test.h"
#include "unit/top_fixture.h"

TEST(top_json_make, holds_everything)
{
	const char *command, *ev_state, *address;
	int pid, qpn, good;
	double rate;
	json_t *json;

	fixture_readings();
	json = top_json_make(&fixture_stats, NULL);
	assert_non_null(json);
	assert_i_eq(json_unpack(json, "{s:[{s:i,s:s,s:[{s:s,s:f,s:{s:i}}],s:[{s:i,s:[{s:s}]}]}]}",
				"processes", "pid", &pid, "command", &command, "planes", "address",
				&address, "tx_bits_per_s", &rate, "evs", "good", &good, "qps",
				"qpn", &qpn, "evs", "state", &ev_state),
		    0);
	assert_i_eq(pid, 77);
	assert_string_equal(command, "train");
	assert_string_equal(address, "10.0.0.1");
	assert_true(rate == 5e9);
	assert_i_eq(good, 1);
	assert_i_eq(qpn, 16);
	assert_string_equal(ev_state, "good");
	json_decref(json);
}

TEST(top_json_make, no_congestion_control_is_null)
{
	json_t *json, *cwnd;

	fixture_readings();
	fixture_stats.process[0].now->qp[0].cwnd_bytes = UINT64_MAX;
	json = top_json_make(&fixture_stats, NULL);
	assert_i_eq(json_unpack(json, "{s:[{s:[{s:o}]}]}", "processes", "qps", "cwnd_bytes", &cwnd),
		    0);
	assert_true(json_is_null(cwnd));
	json_decref(json);
}
