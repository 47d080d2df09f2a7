/* SPDX-License-Identifier: BSD-2-Clause */
/* What a host may send beside its plan: src/prober/probe_spare.h. */
#include "fabric_fixture.h"

#include "prober/probe_spare.h"

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

static const struct mm_route_of short_one = {.peer = MM_NO_HOST, .links = 4},
				round_one = {.peer = MM_NO_HOST, .links = 6},
				peer = {.peer = 1, .links = 4};

TEST(probe_spare_pairs, favours_what_tells_most)
{
	begin("tiny", PROBE_RATE_USUAL, 0);
	assert_u_eq(probe_spare_pairs(&cfg, &short_one), PROBE_PAIRS_MAX - 1);
	assert_u_eq(probe_spare_pairs(&cfg, &round_one), 4);
	assert_u_eq(probe_spare_pairs(&cfg, &peer), 2);
}

/* All that watch a link take a quarter of its rate at most. */
TEST(probe_spare_pairs, leaves_the_link_to_others)
{
	static const uint64_t rates[] = {1000000, 4000000, 10000000, 30000000, 100000000};

	for (uint32_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		uint64_t bits;

		begin("lab", PROBE_RATE_USUAL, rates[i]);
		bits = PAIR_BITS * 100 * PROBE_SHARE_USUAL *
		       (probe_spare_pairs(&cfg, &short_one) +
			4 * (uint64_t)probe_spare_pairs(&cfg, &round_one));
		assert_true(t.cfg.hosts_per_t0 >= PROBE_SHARE_USUAL && bits <= rates[i] / 4);
	}
	assert_true(probe_spare_pairs(&cfg, &short_one) > 0);
}
