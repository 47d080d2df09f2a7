/* SPDX-License-Identifier: BSD-2-Clause */
/* Likelihoods, and what a few watchers may say about a part. */
#include "fabric_fixture.h"

#include "map/map_state.h"

/* 2^(1/2) and others, times 2^40: log2 is what was put in. */
TEST(mm_log2, is_right_to_a_part_in_65536)
{
	static const struct {
		uint64_t x;
		int64_t log;
	} rows[] = {{1, 0},
		    {2, 1 << 16},
		    {UINT64_C(1) << 63, INT64_C(63) << 16},
		    {3, 103872},	/* 1.5849625 */
		    {1000000, 1306235}, /* 19.9315686 */
		    {UINT64_MAX, (INT64_C(64) << 16) - 1},
		    {UINT64_C(1554944255988), 2654208}}; /* 40.5 */

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t off = mm_log2(rows[i].x) - rows[i].log;

		if (off < -1 || off > 1)
			fail_msg("%" PRIu64 ": %" PRId64 " off", rows[i].x, off);
	}
	for (uint64_t x = 1; x < 5000; x++)
		assert_true(mm_log2(x) <= mm_log2(x + 1));
}

TEST(mm_likelihood, speaks_for_a_part_that_loses_and_against_one_that_does_not)
{
	const struct mm_sum lost = {100, 50}, none = {100, 0};

	assert_true(mm_likelihood(&lost, 500000, 200) > 0);
	assert_true(mm_likelihood(&none, 500000, 200) < -(INT64_C(99) << 16));
	assert_true(mm_likelihood(&none, 500000, 200) > -(INT64_C(101) << 16));
}

/* Entries of what is well again have room for others. */
TEST(mm_map_is_full, of_what_is_sick_and_not_of_what_was)
{
	struct mf_topology t = fabric("tiny");
	struct mm_cfg cfg = mm_cfg_default(&t, 1, 10000000);
	struct mm_map *map = mm_map_init(malloc(mm_map_bytes(&cfg, &t)), &cfg, &t);
	struct mm_sick sick;

	map->n_tracked = MM_TRACKED_MAX;
	assert_u_eq(mm_map_judge(map, UINT64_C(100000000000), &sick, 1), 0);
	assert_false(mm_map_is_full(map));
	for (uint32_t i = 0; i < MM_TRACKED_MAX; i++)
		map->tracked[i] = (struct mm_tracked){
			.active = true, .was_dead = true, .sick.rate_ppm = 500000};
	assert_u_eq(mm_map_judge(map, UINT64_C(100000000000), &sick, 1), 1);
	assert_true(mm_map_is_full(map));
	free(map);
}

/* Hosts 0 to n - 1 of a large fabric watch one cable; the first `sick` lose all that they send. */
static struct mm_fit fit_of_watchers(uint32_t n, uint32_t sick)
{
	struct mf_topology t = fabric("paper");
	struct mm_cfg cfg = mm_cfg_default(&t, n, 10000000);
	struct mm_map *map = mm_map_init(malloc(mm_map_bytes(&cfg, &t)), &cfg, &t);
	uint32_t link = mf_link_t0_t1(&t, 0, 0, 0, false);
	const struct mm_part part = {.kind = MM_CABLE, .id = link >> 1};
	struct mm_fit fit;

	for (uint32_t host = 0; host < n; host++) {
		const struct mm_route_of of = {host, MM_NO_HOST, 1, {link}};
		const struct mm_counts counts = {{100}, {host < sick ? 100 : 0}};

		assert_true(mm_map_add(map, mm_map_route(map, &of, 0), host, &counts, 0));
	}
	fit = mm_part_fit(map, &part, 0, MM_LOST, 0);
	free(map);
	return fit;
}

/* Routes are walked newest first, so host 0 is the one that is not heard. */
TEST(mm_part_fit, a_witness_beyond_the_bound_accuses_nobody)
{
	struct mm_fit fit = fit_of_watchers(MM_WATCHERS_MAX + 1, 1);

	assert_u_eq(fit.watchers, MM_WATCHERS_MAX);
	assert_u_eq(fit.for_it, 0);
	assert_u_eq(fit.rate_ppm, 0);
	assert_false(fit.accused);
	assert_false(fit.open);
}

TEST(mm_part_fit, more_watchers_than_are_heard_accuse_as_those_do)
{
	struct mm_fit fit = fit_of_watchers(2 * MM_WATCHERS_MAX, 2 * MM_WATCHERS_MAX);

	assert_u_eq(fit.watchers, MM_WATCHERS_MAX);
	assert_u_eq(fit.for_it, MM_WATCHERS_MAX);
	assert_true(fit.accused);
	assert_true(fit.all_gone);
	assert_u_eq(fit.rate_ppm, MM_RATE_MAX_PPM);
}

/*
 * Of the routes of a host in eight planes all but `works` lose everything, and a neighbour has none
 * that works. Each route has so many packets.
 */
static struct mm_fit fit_of_host(uint32_t works, uint32_t packets)
{
	struct mf_topology t = fabric("paper");
	struct mm_cfg cfg = mm_cfg_default(&t, 2 * t.cfg.planes, 10000000);
	struct mm_map *map = mm_map_init(malloc(mm_map_bytes(&cfg, &t)), &cfg, &t);
	const struct mm_part part = {.kind = MM_HOST, .id = 1};
	struct mm_fit fit;

	for (uint32_t plane = 0; plane < t.cfg.planes; plane++)
		for (uint32_t by = 0; by < 2; by++) {
			const struct mm_route_of of = {
				by, MM_NO_HOST, 1, {mf_link_host_t0(&t, plane, 1, by == 0)}};
			const struct mm_counts counts = {{packets},
							 {by == 1 && plane < works ? 0 : packets}};

			assert_true(mm_map_add(map, mm_map_route(map, &of, 0), by, &counts, 0));
		}
	fit = mm_part_fit(map, &part, 0, MM_LOST, 0);
	free(map);
	return fit;
}

/* It alone may know that a port of it works: not the host is dead then, but its other cables. */
TEST(mm_part_fit, a_host_that_works_in_part_is_not_accused)
{
	struct mm_fit fit = fit_of_host(0, 20);

	assert_true(fit.accused);
	fit = fit_of_host(1, 20);
	assert_false(fit.accused);
	assert_false(fit.open);
	/*
	 * At seven of eight packets lost three get through one of its eight routes once in 64 times
	 * by chance, which is too often to say so.
	 */
	assert_true(fit_of_host(1, 3).accused);
}

static void add(struct mm_map *map, const struct mm_route_of *of, bool lost)
{
	const struct mm_counts counts = {{20}, {lost ? 20 : 0}};

	assert_true(mm_map_add(map, mm_map_route(map, of, 0), of->witness, &counts, 0));
}

/*
 * All cables of a T1 are dead but that of the first T0, of which so many of three hosts see that
 * it works; hosts of the others come to it through that T0, too, which is lost with their own.
 */
static struct mm_fit fit_of_t1(uint32_t works)
{
	struct mf_topology t = fabric("lab8");
	struct mm_cfg cfg = mm_cfg_default(&t, 64, 10000000);
	struct mm_map *map = mm_map_init(malloc(mm_map_bytes(&cfg, &t)), &cfg, &t);
	const struct mm_part part = {.kind = MM_SWITCH, .id = mf_node_switch(&t, MF_T1, 0, 0)};
	struct mm_fit fit;

	for (uint32_t t0 = 0; t0 < t.cfg.t0s; t0++)
		for (uint32_t i = 0; i < 3; i++) {
			struct mm_route_of of = {t0 * t.cfg.hosts_per_t0 + i,
						 MM_NO_HOST,
						 2,
						 {mf_link_t0_t1(&t, 0, t0, 0, false),
						  mf_link_t0_t1(&t, 0, t0, 0, true)}};

			add(map, &of, t0 > 0 || i >= works);
			of.link[1] = mf_link_t0_t1(&t, 0, 0, 0, true);
			if (t0 > 0)
				add(map, &of, true);
		}
	fit = mm_part_fit(map, &part, 0, MM_LOST, 0);
	free(map);
	return fit;
}

/* Most of those who come by a port say so; fewer hide no switch that is dead. */
TEST(mm_part_fit, a_switch_of_which_a_port_works_is_not_accused)
{
	struct mm_fit fit = fit_of_t1(0);

	assert_true(fit.accused);
	assert_true(fit_of_t1(1).accused);
	fit = fit_of_t1(2);
	assert_false(fit.accused);
	assert_false(fit.open);
}
