/* SPDX-License-Identifier: BSD-2-Clause */
/* What a host may send beside its plan: src/prober/probe_spare.h. */
#include "fabric_fixture.h"

#include "map/probe_plan.h"
#include "prober/probe_spare.h"

#include <string.h>

#define PAIR_BITS (UINT64_C(8) * PROBE_PAIR * (PROBE_BYTES_MIN + PROBE_HEADER_BYTES))

static struct mf_topology t;
static struct probe_host_cfg cfg;
static struct probe_spare spare;

static void begin(const char *preset, uint64_t rate_bit_s, uint64_t link_bit_s)
{
	t = fabric(preset);
	cfg = (struct probe_host_cfg){.t = &t,
				      .share = PROBE_SHARE_USUAL,
				      .rate_bit_s = rate_bit_s,
				      .link_bit_s = link_bit_s};
	probe_spare_init(&spare, &cfg);
}

/* Half a second of the rate at once, then what the plan leaves; nothing where it leaves nothing. */
TEST(probe_spare_take, gives_what_is_left_of_the_rate)
{
	begin("tiny", 8000000, 0);
	assert_false(probe_spare_take(&spare, 500001));
	assert_true(probe_spare_take(&spare, 500000));
	assert_false(probe_spare_take(&spare, 1));
	probe_spare_step(&spare, &cfg, 6000000);
	assert_true(probe_spare_take(&spare, 2500));
	assert_false(probe_spare_take(&spare, 1));
	probe_spare_step(&spare, &cfg, 9000000);
	assert_false(probe_spare_take(&spare, 1));
	for (uint32_t i = 0; i < 1000; i++)
		probe_spare_step(&spare, &cfg, 0);
	assert_false(probe_spare_take(&spare, 500001));
	assert_true(probe_spare_take(&spare, 500000));
	/* However low the rate is, a train can go. */
	begin("tiny", PROBE_RATE_MIN, 0);
	assert_true(probe_spare_take(&spare, PROBE_TRAIN * (uint64_t)t.cfg.mtu));
}

static const struct mm_route_of near_one = {.peer = MM_NO_HOST, .links = 2},
				short_one = {.peer = MM_NO_HOST, .links = 4},
				round_one = {.peer = MM_NO_HOST, .links = 6},
				peer = {.peer = 1, .links = 4};

TEST(probe_spare_pairs, favours_what_tells_most)
{
	begin("tiny", PROBE_RATE_USUAL, 0);
	assert_u_eq(probe_spare_pairs(&cfg, &short_one), PROBE_PAIRS_MAX - 1);
	assert_u_eq(probe_spare_pairs(&cfg, &near_one), (PROBE_PAIRS_MAX - 1) / 3);
	assert_u_eq(probe_spare_pairs(&cfg, &round_one), 10);
	assert_u_eq(probe_spare_pairs(&cfg, &peer), 2);
	/* Where there are more T1s to go up and down by, more routes go round over each link. */
	t.cfg.t1s = 4;
	assert_u_eq(probe_spare_pairs(&cfg, &round_one), 4);
	assert_u_eq(probe_spare_pairs(&cfg, &near_one), probe_spare_pairs(&cfg, &short_one));
}

static uint64_t pairs_over[4096]; /* by link, in a step in which all is in doubt */

static void count_pairs_over_links(void)
{
	const struct mm_plan_cfg plan = {.watchers = cfg.share};
	static struct mm_route_of of[PROBE_ROUTES_MAX];
	static bool live[1024];

	assert_true(t.n_links <= sizeof(pairs_over) / sizeof(pairs_over[0]) && t.n_hosts <= 1024);
	memset(live, 1, sizeof(live));
	memset(pairs_over, 0, sizeof(pairs_over));
	for (uint32_t host = 0; host < t.n_hosts; host++) {
		size_t n = mm_plan_routes(&t, &plan, host, live, of, PROBE_ROUTES_MAX);

		assert_true(n > 0 && n <= PROBE_ROUTES_MAX);
		for (size_t i = 0; i < n; i++)
			for (uint32_t k = 0; k < of[i].links; k++)
				pairs_over[of[i].link[k]] += probe_spare_pairs(&cfg, &of[i]);
	}
}

static void begin_in(const struct mf_topology *of, uint64_t link_bit_s)
{
	t = *of;
	cfg = (struct probe_host_cfg){.t = &t,
				      .share = PROBE_SHARE_USUAL,
				      .rate_bit_s = PROBE_RATE_USUAL,
				      .link_bit_s = link_bit_s};
}

static void check_links_of(const struct mf_topology *of)
{
	static const uint64_t rates[] = {1000000, 4000000, 10000000, 30000000, 100000000};

	for (uint32_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		begin_in(of, rates[i]);
		count_pairs_over_links();
		for (uint32_t link = 0; link < t.n_links; link++)
			if (PAIR_BITS * 100 * pairs_over[link] > rates[i] / 4)
				fail_msg("%u hosts, %u T0s, %u T1s, %d bit/s: %d pairs over %s",
					 t.cfg.hosts_per_t0, t.n_t0s, t.cfg.t1s, (int)rates[i],
					 (int)pairs_over[link],
					 mf_link_kind(&t, link) == MF_HOST_T0 ? "a host's cable"
									      : "another cable");
	}
}

/* All that watch a link take a quarter of its rate at most. */
TEST(probe_spare_pairs, leaves_the_link_to_others)
{
	static const char *const presets[] = {"tiny", "lab", "lab8"};

	for (uint32_t p = 0; p < sizeof(presets) / sizeof(presets[0]); p++) {
		const struct mf_topology of = fabric(presets[p]);

		check_links_of(&of);
	}
	assert_true(probe_spare_pairs(&cfg, &short_one) > 0);
}

TEST(probe_spare_pairs, leaves_the_link_to_others_in_fabrics_of_all_sizes)
{
	struct mf_topology_cfg of = mf_preset_cfg("tiny");

	memset(of.radix, 0, sizeof(of.radix));
	for (of.t0s = 2; of.t0s <= 6; of.t0s++)
		for (of.t1s = 1; of.t1s <= 5; of.t1s++)
			for (of.hosts_per_t0 = 1; of.hosts_per_t0 <= 9; of.hosts_per_t0++) {
				const struct mf_topology one = fabric_of(&of);

				check_links_of(&one);
			}
}
