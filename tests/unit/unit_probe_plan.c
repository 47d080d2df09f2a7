/* SPDX-License-Identifier: BSD-2-Clause */
/* Shares of all hosts together: every link is watched often enough, also when hosts leave. */
#include "fabric_fixture.h"

#include "fabric/usid.h"
#include "map/probe_plan.h"

#define ROUTES_MAX 512u

static const struct mm_plan_cfg cfg = {3, 1000000, 100, 10000000000};

/* How many hosts watch each link. */
static void count_watchers(const struct mf_topology *t, const bool *live, uint32_t *watchers)
{
	static struct mm_route_of route[ROUTES_MAX];

	memset(watchers, 0, t->n_links * sizeof(*watchers));
	for (uint32_t host = 0; host < t->n_hosts; host++) {
		bool *seen = calloc(t->n_links, sizeof(*seen));
		size_t n = live[host] ? mm_plan_routes(t, &cfg, host, live, route, ROUTES_MAX) : 0;

		assert_true(n <= ROUTES_MAX);
		for (size_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < route[i].links; j++)
				seen[route[i].link[j]] = true;
		for (uint32_t link = 0; link < t->n_links; link++)
			watchers[link] += seen[link];
		free(seen);
	}
}

static void check_watchers(const char *preset, uint32_t leave)
{
	struct mf_topology t = fabric(preset);
	uint32_t *watchers = calloc(t.n_links, sizeof(*watchers));
	bool *live = calloc(t.n_hosts, sizeof(*live));

	for (uint32_t host = 0; host < t.n_hosts; host++)
		live[host] = leave == 0 || host % leave != 0;
	count_watchers(&t, live, watchers);
	for (uint32_t link = 0; link < t.n_links; link++) {
		struct mf_link at = mf_link_at(&t, link);

		if (at.kind == MF_HOST_T0 && !live[at.lower])
			continue;
		if (watchers[link] < cfg.watchers)
			fail_msg("link %" PRIu32 " of %s: %" PRIu32 " watchers", link, preset,
				 watchers[link]);
	}
	free(watchers);
	free(live);
}

TEST(mm_plan_routes, watches_every_link_often_enough)
{
	check_watchers("lab", 0);
	check_watchers("lab8", 0);
	check_watchers("small3", 0);
	check_watchers("lab", 4);
	check_watchers("small3", 5);
}

/* Whoever works out shares for a whole T0 has the plan of each of its hosts. */
TEST(mm_plan_shares, are_those_that_each_host_works_out)
{
	static const char *const presets[] = {"tiny", "lab", "lab8"};
	static struct mm_route_of own[ROUTES_MAX], by[ROUTES_MAX];

	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
		struct mf_topology t = fabric(presets[i]);
		uint8_t *shares = malloc(mm_plan_shares_bytes(&t));
		bool *live = calloc(t.n_hosts, sizeof(*live));

		memset(live, 1, t.n_hosts);
		for (uint32_t host = 0; host < t.n_hosts; host++) {
			size_t n = mm_plan_routes(&t, &cfg, host, live, own, ROUTES_MAX);

			mm_plan_shares(&t, &cfg, mf_host_t0(&t, host), shares);
			assert_u_eq(mm_plan_routes_by(&t, &cfg, host, live, shares, by, ROUTES_MAX),
				    n);
			assert_true(n <= ROUTES_MAX);
			assert_memory_equal(own, by, n * sizeof(own[0]));
		}
		free(shares);
		free(live);
	}
}

TEST(mm_plan_routes, changes_nothing_else_when_a_host_leaves)
{
	static struct mm_route_of before[ROUTES_MAX], after[ROUTES_MAX];
	struct mf_topology t = fabric("lab");
	bool live[8];

	for (uint32_t gone = 1; gone < 4; gone++) {
		size_t n, m;

		memset(live, 1, sizeof(live));
		n = mm_plan_routes(&t, &cfg, 0, live, before, ROUTES_MAX);
		live[gone] = false;
		m = mm_plan_routes(&t, &cfg, 0, live, after, ROUTES_MAX);
		for (size_t i = 0; i < n; i++) {
			bool kept = before[i].peer == gone;

			for (size_t j = 0; j < m; j++)
				kept |= memcmp(&before[i], &after[j], sizeof(before[i])) == 0;
			assert_true(kept);
		}
	}
}

TEST(mm_plan_load_of, stretches_the_interval_where_bits_would_be_too_many)
{
	struct mm_plan_load load = mm_plan_load_of(&cfg, 32);
	struct mm_plan_cfg less = cfg;

	assert_u_eq(load.interval_ns, 1000000);
	assert_u_eq(load.probes_s, 32000);
	assert_u_eq(load.bit_s, 25600000);
	less.bit_s_max = 1000000;
	load = mm_plan_load_of(&less, 32);
	assert_u_eq(load.interval_ns, 25600001);
	assert_true(load.bit_s <= less.bit_s_max);
	assert_u_eq(load.probes_s, 1249);
}

TEST(mm_route_usids, name_the_switches_on_the_way_and_the_host_at_its_end)
{
	struct mf_topology t = fabric("lab");
	struct mm_route_of r = {
		0,
		MM_NO_HOST,
		4,
		{mf_link_host_t0(&t, 2, 0, false), mf_link_t0_t1(&t, 2, 0, 1, false),
		 mf_link_t0_t1(&t, 2, 0, 1, true), mf_link_host_t0(&t, 2, 0, true)}};
	uint16_t usids[MM_ROUTE_USIDS];
	uint32_t plane;

	assert_u_eq(mm_route_usids(&t, &r, 0, usids, &plane), 4);
	assert_u_eq(plane, 2);
	assert_u_eq(usids[0], mf_usid_switch(&t, (struct mf_node){MF_T0, 2, 0}));
	assert_u_eq(usids[1], mf_usid_switch(&t, (struct mf_node){MF_T1, 2, 1}));
	assert_u_eq(usids[2], usids[0]);
	assert_u_eq(usids[3], mf_usid_dst(&t, 2, 0));
	/* There on plane 0 to host 1, back on plane 1. */
	r = (struct mm_route_of){0,
				 1,
				 4,
				 {mf_link_host_t0(&t, 0, 0, false), mf_link_host_t0(&t, 0, 1, true),
				  mf_link_host_t0(&t, 1, 1, false),
				  mf_link_host_t0(&t, 1, 0, true)}};
	assert_u_eq(mm_route_usids(&t, &r, 0, usids, &plane), 2);
	assert_u_eq(usids[1], mf_usid_dst(&t, 0, 1));
	assert_u_eq(mm_route_usids(&t, &r, 2, usids, &plane), 2);
	assert_u_eq(plane, 1);
	assert_u_eq(usids[1], mf_usid_dst(&t, 1, 0));
}
