/* SPDX-License-Identifier: BSD-2-Clause */
/* roce_fixture.h - small fabrics and runs for the tests of RoCE. */
#ifndef UNIT_ROCE_FIXTURE_H
#define UNIT_ROCE_FIXTURE_H

#include "support/test.h"

#include "fabric/fabric_node.h"
#include "sim/run/sim_run.h"

#define GBIT UINT64_C(1000000000)
#define US_PS UINT64_C(1000000)

static inline void fixture_topology(struct mf_topology *topology, uint32_t planes, uint32_t t0s,
				    uint32_t hosts_per_t0, uint32_t t1s)
{
	struct mf_topology_cfg t = {
		.dscp = mw_dscp_map_default(),
		.name = "fixture",
		.planes = planes,
		.tiers = 2,
		.pods = 1,
		.hosts_per_t0 = hosts_per_t0,
		.t0s = t0s,
		.t1s = t1s,
		.rails = 1,
		.mtu = 4500,
		.switch_ns = 500,
		.usid.block = 0xfcbbbb00,
		.address_block = 0xfd4d5243,
	};
	struct mf_error error;

	for (unsigned i = 0; i < MF_LINK_KINDS; i++)
		t.links[i] = (struct mf_link_cfg){100 * GBIT, 500};
	assert_true(mf_topology_init(topology, &t, &error));
}

/* RoCE without congestion control; one flow, or what the test makes of it. */
static inline void fixture_run(struct ms_run_cfg *cfg, const struct mf_topology *topology,
			       enum ms_workload_kind kind, uint64_t bytes)
{
	ms_run_defaults(cfg, topology);
	ms_roce_queues(topology, cfg->queue);
	cfg->workload[0].kind = kind;
	cfg->workload[0].bytes = bytes;
	cfg->workload[0].transport = MS_ROCE;
	cfg->roce.congestion_control = 0;
	cfg->end_ps = UINT64_C(100000000) * US_PS;
}

static inline struct ms_run *fixture_start(const struct ms_run_cfg *cfg)
{
	static char why[MS_WHY_BYTES];
	struct ms_run *run = ms_run_create(cfg, why);

	if (!run)
		fail_msg("%s", why);
	return run;
}

/* Runs to the end, and holds what must always hold. */
static inline enum ms_run_state fixture_finish(struct ms_run *run, struct ms_run_result *r)
{
	enum ms_run_state state;

	do
		state = ms_run_step(run, 1000 * US_PS);
	while (state == MS_RUN_RUNNING);
	assert_true(ms_run_result(run, r));
	if (ms_nics_violation(run->nics))
		fail_msg("%s", ms_nics_violation(run->nics));
	assert_u_eq(r->violations, 0);
	assert_true(ms_counters_are_conserved(&r->net));
	return state;
}

#endif
