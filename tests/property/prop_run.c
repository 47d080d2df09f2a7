/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole runs of random fabrics, workloads and faults. Whatever goes wrong for a while, in the end
 * every flow is finished, every byte placed once, every packet accounted for, nothing left behind;
 * and two threads do what one does, bit for bit. REQ(sim.check.counts)
 */
#include "support/test.h"

#include "property/random_fabric.h"
#include "property/run_to_end.h"

#define US_PS UINT64_C(1000000)
#define FAULTS_MAX 16u

static struct ms_fault faults[2 * FAULTS_MAX];
static void random_workload(struct ms_workload_cfg *w, uint32_t hosts)
{
	*w = (struct ms_workload_cfg){
		.kind = (enum ms_workload_kind)test_rand_below(MS_LIST),
		.bytes = test_rand_chance(1, 8) ? 0 : test_rand_below(300000),
		.start_ns = test_rand_below(20000),
		.seed = test_rand(),
		.group_size = pick(2, hosts),
		.placement = (enum ms_placement)test_rand_below(MS_PLACEMENTS),
		.parallel = pick(0, 4),
		.chunks = pick(1, 9),
	};
	if (w->kind == MS_ALL_REDUCE_DOUBLING)
		w->group_size = hosts >= 4 && test_rand_chance(1, 2) ? 4 : 2;
	if (w->kind == MS_ALL_REDUCE_HIERARCHICAL && hosts >= 4) {
		w->group_size = 4;
		w->local_size = 2;
	} else if (w->kind == MS_ALL_REDUCE_HIERARCHICAL) {
		w->kind = MS_PERMUTATION;
	}
}

/* Each begins and ends again, so that in the end nothing is broken. */
static uint32_t random_faults(const struct mf_topology *t)
{
	uint32_t n = (uint32_t)test_rand_below(FAULTS_MAX + 1);

	for (uint32_t i = 0; i < n; i++) {
		struct ms_fault f = {.at_ps = test_rand_below(60 * US_PS),
				     .link = (uint32_t)test_rand_below(t->n_links)};
		struct ms_fault end = f;

		f.kind = (uint8_t)test_rand_below(MS_FAULT_KINDS);
		end.at_ps += 1 + test_rand_below(200 * US_PS);
		f.value = f.kind == MS_FAULT_BLACKHOLE ? 1 : 1 + (uint32_t)test_rand_below(300000);
		if (f.kind == MS_FAULT_DOWN || f.kind == MS_FAULT_UP) {
			f.kind = MS_FAULT_DOWN;
			f.value = 0;
		}
		end.kind = f.kind == MS_FAULT_DOWN ? (uint8_t)MS_FAULT_UP : f.kind;
		end.value = f.kind == MS_FAULT_RATE ? 1000000 : 0;
		faults[2 * i] = f;
		faults[2 * i + 1] = end;
	}
	return 2 * n;
}

static void random_run(struct ms_run_cfg *cfg)
{
	struct mf_topology topology;

	random_topology(&topology);
	ms_run_defaults(cfg, &topology);
	cfg->n_workloads = pick(1, 3);
	for (uint32_t i = 0; i < cfg->n_workloads; i++)
		random_workload(&cfg->workload[i], topology.n_hosts);
	cfg->faults = faults;
	cfg->n_faults = random_faults(&topology);
	cfg->seed = test_rand();
	cfg->mrc.path_mtu = 256u << test_rand_below(5);
	cfg->mrc.evs = pick(1, 20);
	cfg->mrc.evs_active = pick(0, cfg->mrc.evs);
	cfg->mrc.depth = (uint16_t)pick(1, 8);
	cfg->mrc.mpr = (uint8_t)pick(1, 8);
	cfg->mrc.cc.kind = test_rand_chance(1, 5) ? MT_CC_NONE : MT_CC_NSCC;
	cfg->mrc.trim_nack = test_rand_chance(4, 5);
	cfg->mrc.retry_exp = RD_RETRY_EXP_FOREVER;
	cfg->end_ps = 2000000 * US_PS;
}

static struct ms_run_result run_with(const struct ms_run_cfg *cfg, uint64_t step_ps)
{
	struct ms_nic_sums sums;
	struct ms_run_result r = run_to_end(cfg, step_ps, &sums);

	assert_u_eq(sums.connections, 0);
	return r;
}

TEST(ms_run, whatever_goes_wrong_for_a_while)
{
	for (uint64_t n = test_long_rounds(25); n > 0; n--) {
		struct ms_run_result one, two;
		struct ms_run_cfg cfg;

		random_run(&cfg);
		one = run_with(&cfg, 1000 * US_PS);
		cfg.threads = 2;
		two = run_with(&cfg, 37 * US_PS);
		assert_u_eq(two.net.hash, one.net.hash);
		assert_u_eq(two.end_ps, one.end_ps);
		assert_bytes_eq((const uint8_t *)&two.core, (const uint8_t *)&one.core,
				sizeof(one.core));
	}
}
