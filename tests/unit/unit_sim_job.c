/* SPDX-License-Identifier: BSD-2-Clause */
/* Training jobs: what is refused, what closed forms say of their steps, and steps in packets. */
#include "sim_graph_done.h"
#include "sim_graph_fixture.h"

#include "sim/workload/graph.h"
#include "sim/workload/training_job.h"

#define US UINT64_C(1000)
#define WAY_NS 700u

static char why[MS_WHY_BYTES];
static struct ms_job_result steps;

static struct ms_job_cfg plain(uint32_t tp, uint32_t pp, uint32_t dp)
{
	return (struct ms_job_cfg){
		.hosts = FIXTURE_HOSTS,
		.tp = tp,
		.pp = pp,
		.dp = dp,
		.ep = 1,
		.stride = 1,
		.placement_seed = 3,
		.steps = 4,
		.microbatches = 1,
		.forward_ns = 100 * US,
		.backward_ns = 200 * US,
		.optimizer_ns = 10 * US,
		.dp_bytes = 1 << 20,
		.buckets = 1,
		.ep_rounds = 1,
		.tp_bit_s = UINT64_C(1000000000000),
		.seed = 5,
	};
}

/* A byte takes a nanosecond. */
static struct ms_ideal_cost net(void *ctx, uint32_t src, uint32_t dst, uint64_t bytes)
{
	(void)ctx;
	(void)src;
	(void)dst;
	return (struct ms_ideal_cost){bytes, WAY_NS};
}

static struct ms_job *make(const struct ms_job_cfg *cfg)
{
	struct ms_job *job = ms_job_create(cfg, why);

	assert_string_equal(why, "");
	assert_non_null(job);
	return job;
}

/* Measures a job on a network of arithmetic; leaves `steps`. */
static void measure(const struct ms_job_cfg *cfg, ms_ideal_cost_fn cost)
{
	struct ms_job *job = make(cfg);
	struct ms_graph_exec *p = ms_ideal_run(job->graph, 0, cost, NULL);

	assert_non_null(p);
	assert_graph_done(p);
	assert_true(ms_job_measure(job, p->times, 0, &steps));
	assert_u_eq(steps.steps, cfg->steps);
	ms_graph_exec_destroy(p);
	ms_job_destroy(job);
}

static uint64_t ring_ns(uint32_t n, uint64_t bytes, uint32_t rounds)
{
	return (uint64_t)rounds * (n - 1) * ((bytes + n - 1) / n + WAY_NS);
}

/* ---- what is refused ---- */

static void refused(const struct ms_job_cfg *cfg, const char *says)
{
	assert_false(ms_job_check(cfg, why));
	if (!strstr(why, says))
		fail_msg("\"%s\" says nothing of \"%s\"", why, says);
	why[0] = '\0';
}

TEST(ms_job_check, names_what_is_wrong)
{
	struct ms_job_cfg c = plain(2, 4, 4);

	assert_true(ms_job_check(&c, why));
	c.dp = 5;
	refused(&c, "2 x 4 x 5 = 40 ranks from first = 0 on, stride 1: the last is on host 39");
	c = plain(1, 1, 4);
	c.ep = 3;
	refused(&c, "ep = 3: a divisor of dp = 4");
	c.ep = 0;
	refused(&c, "ep = 0: each is 1 or more");
	c = plain(1 << 16, 1 << 16, 1);
	refused(&c, "at most 131072 ranks in all");
	c = plain(1, 1, 4);
	c.steps = 0;
	refused(&c, "steps = 0: 1 to 10000");
	c = plain(1, 1, 4);
	c.buckets = 0;
	refused(&c, "buckets = 0");
	c = plain(2, 1, 4);
	c.tp_bytes = 1;
	c.tp_bit_s = 0;
	refused(&c, "tp_rate = 0");
}

TEST(ms_job_hosts, each_rank_has_a_host_of_its_own)
{
	struct ms_job_cfg c = plain(2, 2, 4);

	for (int placement = 0; placement < MS_JOB_PLACEMENTS; placement++) {
		bool used[FIXTURE_HOSTS] = {false};
		struct ms_job *job;

		c.placement = (enum ms_job_placement)placement;
		c.stride = 2;
		c.first = placement == MS_JOB_STRIDED ? 1 : 5;
		job = make(&c);
		for (uint32_t r = 0; r < 16; r++) {
			uint32_t host = job->host[r];

			assert_true(host < FIXTURE_HOSTS && !used[host]);
			used[host] = true;
			if (placement == MS_JOB_STRIDED)
				assert_u_eq(host, 1 + 2 * r);
		}
		ms_job_destroy(job);
	}
}

/* ---- closed forms ---- */

/* REQ(sim.job.theory) */
TEST(ms_job_measure, data_parallel_steps_are_compute_and_a_ring)
{
	struct ms_job_cfg c = plain(1, 1, 8);
	uint64_t compute = 310 * US, ring = ring_ns(8, 1 << 20, 2);

	measure(&c, net);
	assert_u_eq(steps.p50_ns, compute + ring);
	assert_u_eq(steps.p100_ns, compute + ring);
	assert_u_eq(steps.compute_ns, compute);
	assert_u_eq(steps.busy_ns, compute);
	assert_u_eq(steps.exposed_ns, ring);
	assert_u_between(steps.goodput, compute * MS_JOB_ONE / (compute + ring),
			 compute * MS_JOB_ONE / (compute + ring) + 1);
}

TEST(ms_job_measure, a_sharded_job_takes_as_long_without_overlap)
{
	struct ms_job_cfg c = plain(1, 1, 8);

	c.dp_mode = MS_DP_SHARDED;
	measure(&c, net);
	assert_u_eq(steps.p50_ns, 310 * US + ring_ns(8, 1 << 20, 2));
	assert_u_eq(steps.p100_ns, steps.p50_ns);
}

/* Of 1F1B: the first microbatch goes through all stages and back, the others follow. */
TEST(ms_job_measure, a_pipeline_takes_its_microbatches_and_its_stages)
{
	struct ms_job_cfg c = plain(1, 4, 2);

	c.microbatches = 6;
	c.dp_bytes = 0;
	measure(&c, ms_ideal_free);
	assert_u_eq(steps.p50_ns, (6 + 4 - 1) * 300 * US + 10 * US);
	assert_u_eq(steps.busy_ns, 6 * 300 * US + 10 * US);
	assert_u_eq(steps.exposed_ns, 0);
}

/* Only what comes behind the last part of the backward pass is left over. */
TEST(ms_job_measure, overlap_hides_all_buckets_but_the_last)
{
	struct ms_job_cfg c = plain(1, 1, 4);

	c.buckets = 8;
	c.dp_bytes = 80000;
	c.overlap = true;
	measure(&c, net);
	assert_true(ring_ns(4, 10000, 2) > 200 * US / 8 / 2 && ring_ns(4, 10000, 2) < 200 * US / 8);
	assert_u_eq(steps.exposed_ns, ring_ns(4, 10000, 2));
	c.overlap = false;
	measure(&c, net);
	assert_u_eq(steps.exposed_ns, 8 * ring_ns(4, 10000, 2));
}

TEST(ms_job_measure, experts_exchange_twice_a_round_in_each_pass)
{
	struct ms_job_cfg c = plain(1, 1, 8);

	c.ep = 4;
	c.ep_bytes = 5000;
	c.ep_rounds = 3;
	c.dp_bytes = 0;
	measure(&c, net);
	/* And a ring of empty messages. */
	assert_u_eq(steps.exposed_ns, 2 * 2 * 3 * (3 * 5000 + WAY_NS) + 2 * 7 * WAY_NS);
}

TEST(ms_job_measure, tensors_inside_a_domain_are_compute_and_outside_a_ring)
{
	struct ms_job_cfg c = plain(4, 1, 2);
	uint64_t inside;

	c.dp_bytes = 0;
	c.tp_bytes = 1 << 20;
	measure(&c, net);
	inside = steps.compute_ns - 310 * US;
	/* 2 passes of 2 * 3/4 MiB at 125 bytes a ns. */
	assert_u_between(inside, 2 * (3 << 19) / 125 * 99 / 100, 2 * (3 << 19) / 125 * 101 / 100);
	c.tp_network = true;
	measure(&c, net);
	assert_u_eq(steps.compute_ns, 310 * US);
	assert_u_eq(steps.exposed_ns, 2 * ring_ns(4, 1 << 20, 2) + 2 * WAY_NS);
}

TEST(ms_job_measure, a_checkpoint_is_between_steps_and_costs_goodput)
{
	struct ms_job_cfg c = plain(1, 1, 8);
	uint64_t step, end;

	measure(&c, net);
	step = steps.p50_ns;
	end = steps.end_ns;
	c.checkpoint_every = 2;
	c.checkpoint_ns = 77 * US;
	measure(&c, net);
	assert_u_eq(steps.p100_ns, step);
	assert_u_eq(steps.end_ns, end + 77 * US);
	assert_u_eq(steps.busy_ns, 310 * US);
}

TEST(ms_job_measure, jitter_is_what_its_mean_says_and_the_slowest_decides)
{
	struct ms_job_cfg c = plain(1, 1, 2);
	uint64_t alone;

	c.dp_bytes = 0;
	c.jitter = MS_JOB_ONE / 10;
	c.steps = 2000;
	c.dp = 1;
	measure(&c, ms_ideal_free);
	alone = steps.mean_ns;
	/* 310 us and a tenth on top, of three computes: a sigma of 22 us, over 2000 steps 0.5
	 * us. */
	assert_u_between(alone, 339 * US, 343 * US);
	c.dp = 32;
	c.steps = 40;
	measure(&c, ms_ideal_free);
	assert_true(steps.mean_ns > alone + 40 * US);
	c.jitter = 0;
	c.stragglers = MS_JOB_ONE;
	c.slowdown = MS_JOB_ONE / 2;
	measure(&c, ms_ideal_free);
	assert_u_eq(steps.p50_ns, 465 * US);
}

/* ---- any job comes to its end ---- */

TEST(ms_job_create, random_jobs_come_to_their_end)
{
	for (unsigned i = 0; i < test_long_rounds(60); i++) {
		struct ms_job_cfg c =
			plain(1u << test_rand_below(3), 1 + (uint32_t)test_rand_below(3),
			      1u << test_rand_below(2));

		c.ep = test_rand_below(2) ? c.dp : 1;
		c.ep_bytes = test_rand_below(2) * 3000;
		c.ep_rounds = 1 + (uint32_t)test_rand_below(2);
		c.microbatches = 1 + (uint32_t)test_rand_below(6);
		c.buckets = 1 + (uint32_t)test_rand_below(5);
		c.overlap = test_rand_below(2);
		c.dp_mode = (enum ms_job_dp)test_rand_below(MS_DP_MODES);
		c.tp_network = test_rand_below(2);
		c.tp_bytes = test_rand_below(3) * 10000;
		c.pp_bytes = test_rand_below(3) * 10000;
		c.checkpoint_every = (uint32_t)test_rand_below(3);
		c.checkpoint_ns = 5 * US;
		c.jitter = (uint32_t)test_rand_below(300000);
		measure(&c, net);
		assert_true(steps.p50_ns >= 310 * US && steps.exposed_ns <= steps.mean_ns);
		assert_true(steps.p100_ns >= steps.p99_ns && steps.p99_ns >= steps.p50_ns);
	}
}

/* ---- in packets ---- */

/* One T0, where no paths meet: arithmetic and packets agree. REQ(sim.job.theory) */
TEST(ms_job_run, packets_take_what_the_ring_formula_says)
{
	struct ms_job_cfg c = plain(1, 1, 8);
	struct ms_run_result r;
	struct ms_run_cfg cfg;
	struct ms_job *job;
	struct ms_run *run;

	c.dp_bytes = 8 << 20;
	c.steps = 2;
	job = make(&c);
	fixture_graph_run(&cfg, job->graph);
	run = fixture_graph_all(&cfg, &r);
	assert_true(ms_job_measure(job, (ms_nics_graph_exec(run->nics, 0))->times, 0, &steps));
	assert_u_eq(steps.compute_ns, 310 * US);
	assert_u_between(r.end_ps / 1000, r.ideal_ns, r.ideal_ns * 103 / 100);
	/* 14 steps of a MiB over 2 x 100G, 96.1 % of which is payload; and latencies. */
	assert_u_between(steps.exposed_ns, 14 * 43640, 14 * 43640 * 108 / 100);
	ms_run_destroy(run);
	ms_job_destroy(job);
}

TEST(ms_job_run, is_the_same_with_any_threads)
{
	struct ms_job_cfg c = plain(2, 2, 4);
	struct ms_run_result one, three;
	struct ms_run_cfg cfg;
	struct ms_job *job;

	c.jitter = MS_JOB_ONE / 5;
	c.microbatches = 3;
	c.pp_bytes = 100000;
	c.ep = 2;
	c.ep_bytes = 20000;
	c.placement = MS_JOB_RANDOM;
	job = make(&c);
	fixture_graph_run(&cfg, job->graph);
	ms_run_destroy(fixture_graph_all(&cfg, &one));
	cfg.threads = 3;
	ms_run_destroy(fixture_graph_all(&cfg, &three));
	assert_u_eq(one.net.hash, three.net.hash);
	assert_u_eq(one.end_ps, three.end_ps);
	ms_job_destroy(job);
}
