/* SPDX-License-Identifier: BSD-2-Clause */
/* An hour of faults before the map, small, and what a job gains by it: src/study/map_hour.h. */
#include "fabric_fixture.h"

#include "sim/run/step_model.h"
#include "study/map_hour.h"

#include <errno.h>

#define S_NS UINT64_C(1000000000)

static struct mf_topology t;
static struct study_map_class class;
static struct study_map_cfg cfg;
static struct study_map_result r;

static void begin(uint32_t of, uint32_t loss_ppm)
{
	t = fabric("lab8");
	class = (struct study_map_class){.name = "some",
					 .of = of,
					 .loss_ppm = loss_ppm,
					 .mtbf_ns = 3600e9,
					 .repair_ns = 5 * S_NS,
					 .slow = MS_STEPS_ONE,
					 .denied_slow = MS_STEPS_ONE};
	cfg = (struct study_map_cfg){.t = &t,
				     .watchers = 4,
				     .horizon_ns = 60 * S_NS,
				     .seed = 7,
				     .background_ppb = 100,
				     .classes = &class,
				     .n_classes = 1};
}

/* Whatever is dead is named by its own name, within a few steps; nobody else is. */
static void check_named(uint32_t of)
{
	uint32_t looked_at = 0;

	begin(of, MS_STEPS_ONE);
	/* About five in the minute, however many there are. */
	class.mtbf_ns = 12e9 * (of == MS_CLASS_T0_T1 ? t.n_t0s * t.cfg.t1s * t.cfg.planes
				: of == MS_CLASS_T1  ? t.n_t1s * t.cfg.planes
						     : t.n_hosts * t.cfg.planes);
	assert_int_equal(study_map_hour(&cfg, &r), 0);
	for (uint32_t i = 0; i < r.n_faults; i++) {
		const struct study_map_fault *f = &r.fault[i];

		if (f->until_ns - f->at_ns < S_NS || f->until_ns > r.passed_ns)
			continue;
		looked_at++;
		assert_true(f->named_ns > f->at_ns + STUDY_MAP_WAIT_NS);
		assert_true(f->named_ns < f->at_ns + S_NS / 4);
	}
	assert_true(looked_at > 0);
	assert_u_eq(r.false_accusations, 0);
	study_map_fini(&r);
}

TEST(study_map_hour, names_what_is_dead)
{
	check_named(MS_CLASS_HOST_T0);
	check_named(MS_CLASS_T0_T1);
	check_named(MS_CLASS_T1);
}

/* Without faults a background of lost probes accuses nobody, and the same seed draws the same. */
TEST(study_map_hour, accuses_nobody_without_faults)
{
	uint64_t judgements;

	begin(MS_CLASS_T1, MS_STEPS_ONE);
	cfg.n_classes = 0;
	cfg.background_ppb = 20000;
	assert_int_equal(study_map_hour(&cfg, &r), 0);
	assert_u_eq(r.n_faults + r.false_accusations + r.misnamed, 0);
	judgements = r.judgements;
	study_map_fini(&r);
	assert_int_equal(study_map_hour(&cfg, &r), 0);
	assert_u_eq(r.judgements, judgements);
	study_map_fini(&r);
}

static void assert_near(double got, double want)
{
	if (got < want - 1e-9 || got > want + 1e-9)
		fail_msg("got %.12f, want %.12f", got, want);
}

static bool stop(void)
{
	return true;
}

TEST(study_map_hour, ends_when_it_is_to)
{
	begin(MS_CLASS_T1, MS_STEPS_ONE);
	cfg.stop = stop;
	assert_int_equal(study_map_hour(&cfg, &r), EINTR);
	assert_true(r.passed_ns > 0 && r.passed_ns < cfg.horizon_ns);
	study_map_fini(&r);
}

/* The same routes as hosts plan each for itself, each in the list of each of its links. */
TEST(study_map_fabric_init, has_every_route_of_every_host)
{
	static struct mm_route_of own[4096];
	const struct mm_plan_cfg plan = {.watchers = 4};
	struct study_map_fabric f;
	uint32_t route = 0, crossings = 0;
	bool live[64];

	t = fabric("lab8");
	assert_true(t.n_hosts <= 64);
	memset(live, 1, sizeof(live));
	assert_int_equal(study_map_fabric_init(&f, &t, 4), 0);
	for (uint32_t host = 0; host < t.n_hosts; host++) {
		size_t n = mm_plan_routes(&t, &plan, host, live, own, 4096);

		for (size_t i = 0; i < n; i++, route++) {
			crossings += own[i].links;
			assert_memory_equal(&own[i], &f.route[route], sizeof(own[i]));
		}
	}
	assert_u_eq(route, f.routes);
	assert_u_eq(crossings, f.first[t.n_links]);
	for (uint32_t link = 0; link < t.n_links; link++)
		for (uint32_t i = f.first[link]; i < f.first[link + 1]; i++) {
			const struct mm_route_of *of = &f.route[f.over[i]];
			bool crosses = false;

			for (uint32_t k = 0; k < of->links; k++)
				crosses |= of->link[k] == link;
			assert_true(crosses);
		}
	study_map_fabric_fini(&f);
}

/* Hosts that are alone on their T0s and watch all of its uplinks. */
TEST(study_map_fabric_init, has_room_for_the_largest_share)
{
	struct mf_topology_cfg c = mf_preset_cfg("lab8");
	struct study_map_fabric f;

	c.hosts_per_t0 = 1;
	c.t0s = 2;
	c.t1s = 256;
	c.planes = 16;
	t = fabric_of(&c);
	assert_int_equal(study_map_fabric_init(&f, &t, 4), 0);
	assert_true(f.most > 8192);
	for (uint32_t i = 0; i < f.routes; i++) {
		assert_true(f.route[i].witness < t.n_hosts && f.route[i].links > 0);
		for (uint32_t k = 0; k < f.route[i].links; k++)
			assert_true(f.route[i].link[k] < t.n_links);
	}
	study_map_fabric_fini(&f);
}

/* Twice the same part: what was named before does not take the name of what comes later. */
TEST(study_map_hour, names_each_fault_of_a_part)
{
	uint32_t again = 0;

	begin(MS_CLASS_T1, MS_STEPS_ONE);
	class.mtbf_ns = 5e9 * t.n_t1s * t.cfg.planes;
	class.repair_ns = 2 * S_NS;
	cfg.horizon_ns = 300 * S_NS;
	assert_int_equal(study_map_hour(&cfg, &r), 0);
	for (uint32_t i = 0; i < r.n_faults; i++) {
		const struct study_map_fault *f = &r.fault[i];
		bool before = false;

		for (uint32_t k = 0; k < i; k++)
			before |= r.fault[k].part.id == f->part.id &&
				  r.fault[k].until_ns < f->at_ns &&
				  r.fault[k].until_ns + 30 * S_NS > f->at_ns;
		if (!before || f->until_ns - f->at_ns < S_NS || f->until_ns > r.passed_ns)
			continue;
		again++;
		assert_true(f->named_ns > f->at_ns && f->named_ns < f->until_ns);
	}
	assert_true(again > 0);
	study_map_fini(&r);
}

/* A mean of more than 64 bits is never, and of a mean of nothing there are too many. */
TEST(study_map_faults, takes_any_rate)
{
	begin(MS_CLASS_T1, MS_STEPS_ONE);
	class.mtbf_ns = 1e300;
	r = (struct study_map_result){0};
	assert_int_equal(study_map_faults(&cfg, &r), 0);
	assert_u_eq(r.n_faults, 0);
	class.mtbf_ns = 1e-300;
	assert_int_equal(study_map_faults(&cfg, &r), E2BIG);
	study_map_fini(&r);
}

/* Denials of the policy of mrcd, of what is dead or lossy, of its own part, and given back. */
TEST(study_map_hour, has_hosts_deny_what_is_named)
{
	begin(MS_CLASS_HOST_T0, 200000);
	class.mtbf_ns = 60e9 * t.n_hosts * t.cfg.planes;
	class.repair_ns = 30 * S_NS;
	cfg.horizon_ns = 300 * S_NS;
	assert_int_equal(study_map_hour(&cfg, &r), 0);
	assert_true(r.n_denials > 0);
	for (uint32_t i = 0; i < r.n_denials; i++) {
		const struct study_map_denial *d = &r.denial[i];
		const struct study_map_fault *f = &r.fault[d->fault];

		assert_true(d->fault < r.n_faults);
		assert_u_eq(d->part.id, f->part.id);
		assert_u_eq(d->host, mf_link_at(&t, d->part.id << 1).lower);
		assert_true(d->from_ns >=
			    f->named_ns + (d->policy == STUDY_MAP_ACT ? 1 : 61) * S_NS);
		assert_true(d->from_ns < f->until_ns + S_NS);
		assert_true(d->to_ns > f->until_ns + 60 * S_NS);
	}
	study_map_fini(&r);
}

static void check_paces(double none, double advice, double act)
{
	assert_near(study_map_pace(&cfg, &r, STUDY_MAP_NONE, 0, 100 * S_NS), none / 100);
	assert_near(study_map_pace(&cfg, &r, STUDY_MAP_ADVICE, 0, 100 * S_NS), advice / 100);
	assert_near(study_map_pace(&cfg, &r, STUDY_MAP_ACT, 0, 100 * S_NS), act / 100);
}

/* One lossy cable from 10 s to 90 s, twice as slow, and with it denied a quarter slower. */
TEST(study_map_pace, is_that_of_the_worst_fault)
{
	struct study_map_fault fault = {
		.at_ns = 10 * S_NS, .until_ns = 90 * S_NS, .named_ns = 10 * S_NS + S_NS / 2};
	struct study_map_fault fault2[2];
	struct study_map_denial denial[2] = {
		{.policy = STUDY_MAP_ACT, .from_ns = 12 * S_NS, .to_ns = 95 * S_NS},
		{.policy = STUDY_MAP_ADVICE, .from_ns = 70 * S_NS, .to_ns = UINT64_MAX}};

	begin(MS_CLASS_HOST_T0, 10000);
	class.slow = 2 * MS_STEPS_ONE;
	class.denied_slow = MS_STEPS_ONE * 5 / 4;
	r = (struct study_map_result){
		.fault = &fault, .n_faults = 1, .denial = denial, .n_denials = 2};
	/* 20 good seconds and 80 at a half; denied until it is given back, well or not. */
	check_paces(20 + 80 / 2.0, 10 + 60 / 2.0 + 30 * 0.8, 15 + 2 / 2.0 + 83 * 0.8);
	/* Also where it is denied for an earlier fault of the same part. */
	fault2[0] = fault2[1] = fault;
	fault2[0].at_ns = fault2[0].until_ns = S_NS;
	r.fault = fault2;
	r.n_faults = 2;
	check_paces(20 + 80 / 2.0, 10 + 60 / 2.0 + 30 * 0.8, 15 + 2 / 2.0 + 83 * 0.8);
	r.fault = &fault;
	r.n_faults = 1;
	/* What it costs once is lost too; a part that was not at fault makes none well. */
	class.once_ns = S_NS;
	denial[0].fault = UINT32_MAX;
	denial[1].fault = UINT32_MAX;
	check_paces(59, 59, 59);
}
