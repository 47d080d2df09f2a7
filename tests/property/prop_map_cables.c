/* SPDX-License-Identifier: BSD-2-Clause */
/* Cables that lead to the wrong place, and what a report of that changes where they do not. */
#include "map_world.h"
#include "random_fabric.h"

#include "fabric/topology_toml.h"

static void world_of_rack(struct map_world *w, uint32_t t0s, uint32_t t1s)
{
	struct mf_topology t;
	struct mf_topology_cfg cfg;
	struct mf_error e;

	random_topology(&t);
	cfg = t.cfg;
	cfg.planes = 2;
	cfg.tiers = 2;
	cfg.pods = 1;
	cfg.t1_uplinks = 0;
	cfg.hosts_per_t0 = 4;
	cfg.t0s = t0s;
	cfg.t1s = t1s;
	memset(cfg.radix, 0, sizeof(cfg.radix));
	assert_true(mf_topology_init(&t, &cfg, &e));
	world_init(w, &t, 3);
}

/* T0's downlinks to two hosts are exchanged: each host sees what was to come to the other. */
TEST(mm_map_stray, makes_exchanged_cables_of_two_that_seem_dead)
{
	const struct mm_sick *s;
	struct map_world w;
	char name[MM_PART_NAME_BYTES];

	world_of_rack(&w, 3, 2);
	world_fault(&w, "host1.plane0", MM_LOST, MF_DIRECTION_IN, 1000000);
	world_fault(&w, "host2.plane0", MM_LOST, MF_DIRECTION_IN, 1000000);
	for (uint32_t step = 0; step < 20; step++) {
		assert_true(mm_map_stray(w.map, 1, 0, 2, w.now_ns));
		assert_true(mm_map_stray(w.map, 2, 0, 1, w.now_ns));
		world_step(&w, 2);
	}
	s = world_find(&w, "host1.plane0");
	if (w.n_sick != 2 || !s || s->kind != MM_WRONG_CABLE)
		world_fail(&w, "two cables were exchanged");
	assert_string_equal(mm_part_name(&w.t, &s->other, name), "host2.plane0");
	world_fini(&w);
}

/* A host that only says so, of cables that work, changes nothing. */
TEST(mm_map_stray, is_not_believed_of_cables_that_work)
{
	struct map_world w;

	world_of_rack(&w, 3, 2);
	for (uint32_t step = 0; step < 20; step++) {
		assert_true(mm_map_stray(w.map, 1, 0, 2, w.now_ns));
		world_step(&w, 2);
	}
	if (w.n_sick)
		world_fail(&w, "nothing was wrong");
	world_fini(&w);
}

/* Two uplinks of a T0 are exchanged: by uSIDs nothing passes, by plain routes everything does. */
TEST(mm_map_plain, makes_exchanged_cables_of_uplinks_that_seem_dead)
{
	for (uint32_t lost = 0; lost < 2; lost++) {
		const struct mm_sick *s;
		struct map_world w;

		world_of_rack(&w, 3, 4);
		world_fault(&w, "plane0.t0-0.t1-1", MM_LOST, MF_DIRECTION_BOTH, 1000000);
		world_fault(&w, "plane0.t0-0.t1-2", MM_LOST, MF_DIRECTION_BOTH, 1000000);
		for (uint32_t step = 0; step < 20; step++) {
			/* Half of them, were the cables dead. */
			assert_true(mm_map_plain(w.map, 0, 0, 8, 4 * lost, w.now_ns));
			world_step(&w, 2);
		}
		s = world_find(&w, "plane0.t0-0.t1-1");
		if (w.n_sick != 2 || !s || s->kind != (lost ? MM_DEAD : MM_WRONG_CABLE))
			world_fail(&w, lost ? "two cables were dead" : "they were exchanged");
		world_fini(&w);
	}
}

/* Which of three leads where another should is not known, and none of them is told so. */
TEST(mm_map_plain, names_no_partner_of_three)
{
	/* Two of them share a transceiver, whose other two work. */
	static const char *const names[] = {"plane0.t0-0.t1-0", "plane0.t0-0.t1-1",
					    "plane0.t0-0.t1-4"};
	struct map_world w;

	world_of_rack(&w, 3, 6);
	for (uint32_t i = 0; i < 3; i++)
		world_fault(&w, names[i], MM_LOST, MF_DIRECTION_BOTH, 1000000);
	for (uint32_t step = 0; step < 20; step++) {
		assert_true(mm_map_plain(w.map, 0, 0, 8, 0, w.now_ns));
		world_step(&w, 2);
		/* Nor while only two of them are named yet. */
		for (size_t i = 0; i < w.n_sick; i++)
			if (mm_sick_has_other(&w.sick[i]))
				world_fail(&w, "three cables were exchanged");
	}
	if (w.n_sick != 3)
		world_fail(&w, "three cables were exchanged");
	for (uint32_t i = 0; i < 3; i++) {
		const struct mm_sick *s = world_find(&w, names[i]);
		char text[MM_SICK_TEXT_BYTES];

		if (!s || s->kind != MM_WRONG_CABLE ||
		    memcmp(&s->other, &s->part, sizeof(s->part)) != 0)
			world_fail(&w, names[i]);
		assert_null(strstr(mm_sick_text(&w.t, s, w.now_ns, text), "exchanged with"));
	}
	world_fini(&w);
}

/*
 * Two cables to one T1 are exchanged at its end: what comes down goes to the other T0. With a third
 * T0 the way up is seen to work; with two the T1 seems dead.
 */
static void exchange_at_t1(struct map_world *w, uint32_t t0s, bool loops)
{
	world_of_rack(w, t0s, 2);
	world_fault(w, "plane0.t0-0.t1-1", MM_LOST, t0s > 2 ? MF_DIRECTION_IN : MF_DIRECTION_BOTH,
		    1000000);
	world_fault(w, "plane0.t0-1.t1-1", MM_LOST, t0s > 2 ? MF_DIRECTION_IN : MF_DIRECTION_BOTH,
		    1000000);
	for (uint32_t step = 0; step < 20; step++) {
		if (loops) {
			assert_true(mm_map_loop(w->map, 1, 0, 5, w->now_ns));
			assert_true(mm_map_loop(w->map, 6, 0, 0, w->now_ns));
		}
		world_step(w, 2);
	}
}

TEST(mm_map_loop, makes_exchanged_cables_of_two_at_one_t1)
{
	for (uint32_t t0s = 2; t0s < 5; t0s++) {
		const struct mm_sick *s;
		struct map_world w;
		char name[MM_PART_NAME_BYTES];

		exchange_at_t1(&w, t0s, true);
		s = world_find(&w, "plane0.t0-0.t1-1");
		if (w.n_sick != 2 || !s || s->kind != MM_WRONG_CABLE || !s->direction_known ||
		    s->part.direction != MF_DIRECTION_BOTH)
			world_fail(&w, "two cables were exchanged at a T1");
		assert_string_equal(mm_part_name(&w.t, &s->other, name), "plane0.t0-1.t1-1");
		s = world_find(&w, "plane0.t0-1.t1-1");
		if (!s || s->kind != MM_WRONG_CABLE)
			world_fail(&w, "one of them is missing");
		world_fini(&w);
		exchange_at_t1(&w, t0s, false);
		s = &w.sick[0];
		if (w.n_sick == 0 || s->kind != MM_DEAD)
			world_fail(&w, "nothing went round");
		world_fini(&w);
	}
}

/* Where two T1s are dead for both, nobody knows at which of them it went round. */
TEST(mm_map_loop, says_nothing_where_it_could_be_either_of_two)
{
	struct map_world w;

	world_of_rack(&w, 3, 4);
	for (uint32_t i = 0; i < 10; i++)
		world_step(&w, 2);
	world_fault(&w, "plane0.t1-1", MM_LOST, MF_DIRECTION_BOTH, 1000000);
	world_fault(&w, "plane0.t1-2", MM_LOST, MF_DIRECTION_BOTH, 1000000);
	for (uint32_t step = 0; step < 20; step++) {
		assert_true(mm_map_loop(w.map, 1, 0, 5, w.now_ns));
		world_step(&w, 2);
	}
	if (w.n_sick != 2 || w.sick[0].kind != MM_DEAD || w.sick[1].kind != MM_DEAD)
		world_fail(&w, "two T1s were dead");
	world_fini(&w);
}

/* A host that only says so, of a fabric that works or has a dead T1, changes no name. */
TEST(mm_map_loop, is_not_believed_of_cables_that_work)
{
	struct map_world w;

	world_of_rack(&w, 3, 2);
	for (uint32_t step = 0; step < 40; step++) {
		assert_true(mm_map_loop(w.map, 1, 0, 5, w.now_ns));
		if (step == 20)
			world_fault(&w, "plane0.t1-1", MM_LOST, MF_DIRECTION_BOTH, 1000000);
		world_step(&w, 2);
		if (step < 20 && w.n_sick)
			world_fail(&w, "nothing was wrong");
	}
	if (w.n_sick != 1 || !world_find(&w, "plane0.t1-1") || w.sick[0].kind != MM_DEAD)
		world_fail(&w, "a T1 was dead");
	world_fini(&w);
}

/*
 * Of a T0's hosts two are dead at once: while what was good before still counts, and with most of
 * those that watch its uplinks among them, it is never the T0 that loses some.
 */
TEST(mm_map_judge, names_two_dead_cables_of_a_t0_at_once)
{
	for (uint32_t i = 0; i < test_long_rounds(40); i++) {
		struct mf_topology_cfg cfg = mf_preset_cfg("tiny");
		char one[MM_PART_NAME_BYTES], two[MM_PART_NAME_BYTES];
		struct mf_topology t;
		struct map_world w;
		struct mf_error e;
		uint32_t first;

		cfg.hosts_per_t0 = 5;
		cfg.t0s = pick(2, 4);
		memset(cfg.radix, 0, sizeof(cfg.radix));
		assert_true(mf_topology_init(&t, &cfg, &e));
		world_init(&w, &t, 3);
		first = pick(0, 4);
		mf_cable_name(&t, mf_link_host_t0(&t, 0, first, false), one);
		mf_cable_name(&t, mf_link_host_t0(&t, 0, (first + pick(1, 4)) % 5, false), two);
		for (uint32_t step = 0; step < 10; step++)
			world_step(&w, 2);
		world_fault(&w, one, MM_LOST, MF_DIRECTION_BOTH, 1000000);
		world_fault(&w, two, MM_LOST, MF_DIRECTION_BOTH, 1000000);
		for (uint32_t step = 0; step < 12; step++) {
			world_step(&w, 2);
			for (size_t k = 0; k < w.n_sick; k++)
				if (w.sick[k].kind != MM_DEAD || w.sick[k].part.kind != MM_CABLE)
					world_fail(&w, "two cables were dead");
		}
		if (!world_find(&w, one) || !world_find(&w, two))
			world_fail(&w, "two cables are dead");
		world_fini(&w);
	}
}
