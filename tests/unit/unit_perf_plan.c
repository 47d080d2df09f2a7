/* SPDX-License-Identifier: BSD-2-Clause */
/* The plan on the network: src/cli/perf/perf.h. */
#include "cli/perf/perf.h"

#include "support/test.h"

static const struct perf_plan good = {.min = 1,
				      .max = 4096,
				      .duration_ns = 1000000,
				      .qps = 3,
				      .depth = 64,
				      .imm = true,
				      .latency = true};

TEST(perf_plan_read, gives_back_what_was_written)
{
	struct perf_plan plan;
	char error[200];
	json_t *json = perf_plan_json(&good);

	assert_i_eq(perf_plan_read(json, &plan, error, sizeof(error)), 0);
	assert_u_eq(plan.max, 4096);
	assert_u_eq(plan.qps, 3);
	assert_true(plan.imm && plan.latency && !plan.bandwidth && !plan.bidirectional);
	json_decref(json);
}

static void refuse(const char *key, json_t *value, const char *part)
{
	json_t *json = perf_plan_json(&good);
	struct perf_plan plan;
	char error[200] = "";

	json_object_set_new(json, key, value);
	assert_i_eq(perf_plan_read(json, &plan, error, sizeof(error)), -1);
	assert_non_null(strstr(error, part));
	json_decref(json);
}

TEST(perf_plan_read, refuses_what_it_could_not_serve)
{
	refuse("min", json_integer(0), "min is 0, want 1 to");
	refuse("max", json_integer(INT64_C(1) << 40), "max is");
	refuse("max", json_integer(-1), "max is -1");
	refuse("qps", json_integer(65), "qps is 65, want 1 to 64");
	refuse("depth", json_integer(1 << 20), "depth is");
	refuse("duration_ns", json_integer(1), "duration_ns is 1");
	refuse("imm", json_string("yes"), "plan");
}

TEST(perf_plan_read, refuses_what_is_no_plan)
{
	struct perf_plan plan;
	char error[200] = "";

	assert_i_eq(perf_plan_read(NULL, &plan, error, sizeof(error)), -1);
	assert_true(error[0] != '\0');
}
