/* SPDX-License-Identifier: BSD-2-Clause */
/* sim_graph_fixture.h - a small fabric on which graphs run packet by packet. */
#ifndef SIM_GRAPH_FIXTURE_H
#define SIM_GRAPH_FIXTURE_H

#include "support/test.h"

#include "sim/run/sim_run.h"
#include "sim/workload/graph.h"

#define FIXTURE_HOSTS 32u

static inline void fixture_graph_run(struct ms_run_cfg *cfg, const struct ms_graph *g)
{
	struct mf_topology_cfg t = {
		.dscp = mw_dscp_map_default(),
		.name = "test",
		.planes = 2,
		.tiers = 2,
		.pods = 1,
		.hosts_per_t0 = 8,
		.t0s = FIXTURE_HOSTS / 8,
		.t1s = 8,
		.rails = 1,
		.mtu = 4500,
		.switch_ns = 500,
		.usid.block = 0xfcbbbb00,
		.address_block = 0xfd4d5243,
	};
	struct mf_topology topology;
	struct mf_error error;

	for (unsigned i = 0; i < MF_LINK_KINDS; i++)
		t.links[i] = (struct mf_link_cfg){UINT64_C(100000000000), 500};
	assert_true(mf_topology_init(&topology, &t, &error));
	ms_run_defaults(cfg, &topology);
	cfg->workload[0] = (struct ms_workload_cfg){.kind = MS_GRAPH, .graph = g};
	cfg->end_ps = UINT64_C(1000000000000);
}

/* Runs to the end, where everything must be well; the caller destroys what is returned. */
static inline struct ms_run *fixture_graph_all(const struct ms_run_cfg *cfg,
					       struct ms_run_result *result)
{
	char why[MS_WHY_BYTES];
	struct ms_run *run = ms_run_create(cfg, why);
	enum ms_run_state state = MS_RUN_RUNNING;

	assert_string_equal(why, "");
	assert_non_null(run);
	while (state == MS_RUN_RUNNING)
		state = ms_run_step(run, UINT64_C(1000000000));
	assert_true(ms_run_result(run, result));
	if (ms_nics_violation(run->nics))
		print_error("%s\n", ms_nics_violation(run->nics));
	assert_null(ms_nics_violation(run->nics));
	assert_i_eq(state, MS_RUN_DONE);
	assert_u_eq(result->violations, 0);
	assert_true(result->memory_bytes <= ms_run_memory(cfg));
	return run;
}

/* Runs a graph, which is destroyed; returns when its last node was over. */
static inline uint64_t fixture_graph_took(struct ms_graph *g, struct ms_run_cfg *cfg)
{
	struct ms_run_result result;
	const struct ms_node_times *times;
	struct ms_run *run;
	uint64_t last = 0;

	fixture_graph_run(cfg, g);
	run = fixture_graph_all(cfg, &result);
	times = (ms_nics_graph_exec(run->nics, 0))->times;
	for (uint32_t i = 0; i < g->n; i++)
		last = times[i].end_ns > last ? times[i].end_ns : last;
	ms_run_destroy(run);
	ms_graph_destroy(g);
	return last;
}

static inline void fixture_graph_seal(struct ms_graph *g)
{
	char why[MS_WHY_BYTES];

	if (!ms_graph_seal(g, why, NULL))
		print_error("%s\n", why);
	assert_string_equal(why, "");
}

#endif
