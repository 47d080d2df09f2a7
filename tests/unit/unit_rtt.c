/* SPDX-License-Identifier: BSD-2-Clause */
/* Round-trip statistics and the waits that follow from them. */
#include "support/test.h"

#include "core/cc/cc.h"

static const struct mt_timing timing = {
	.reorder_min_ns = 5000,
	.reorder_max_ns = 100000,
	.tail_probe_min_ns = 20000,
};

static struct mt_rtt sampled(size_t n, const uint64_t *ns)
{
	struct mt_rtt r;

	mt_rtt_init(&r);
	for (size_t i = 0; i < n; i++)
		mt_rtt_sample(&r, ns[i]);
	return r;
}

TEST(mt_rtt_sample, the_first_is_everything)
{
	struct mt_rtt r = sampled(1, (uint64_t[]){12000});

	assert_u_eq(r.smoothed_ns, 12000);
	assert_u_eq(r.deviation_ns, 6000);
	assert_u_eq(r.min_ns, 12000);
}

TEST(mt_rtt_sample, an_eighth_and_a_quarter)
{
	struct mt_rtt r = sampled(2, (uint64_t[]){8000, 16000});

	assert_u_eq(r.smoothed_ns, 9000);
	assert_u_eq(r.deviation_ns, 5000); /* 3/4 of 4000 and 1/4 of 8000 */
	assert_u_eq(r.min_ns, 8000);
	mt_rtt_sample(&r, 1000);
	assert_u_eq(r.smoothed_ns, 8000);
	assert_u_eq(r.deviation_ns, 5750); /* a sample below counts like one above */
	assert_u_eq(r.min_ns, 1000);
}

TEST(mt_rtt_tail_probe, two_rtts_and_four_deviations)
{
	struct mt_rtt none = sampled(0, NULL), r = sampled(1, (uint64_t[]){12000});

	assert_u_eq(mt_rtt_tail_probe(&none, &timing), 20000);
	assert_u_eq(mt_rtt_tail_probe(&r, &timing), 48000);
	r = sampled(1, (uint64_t[]){1000});
	assert_u_eq(mt_rtt_tail_probe(&r, &timing), 20000);
}

TEST(mt_rtt_sample, bounds_enclose_the_mean)
{
	struct mt_rtt r;

	mt_rtt_init(&r);
	for (size_t i = 0; i < test_rounds(20000); i++) {
		mt_rtt_sample(&r, 1 + (test_rand() >> (24 + test_rand_below(40))));
		assert_true(r.min_ns <= r.smoothed_ns);
	}
}

TEST(mt_rtt_silence, no_shorter_than_a_reorder_window_or_an_answer)
{
	struct mt_rtt r;

	mt_rtt_init(&r);
	assert_u_eq(mt_rtt_silence(&r, 100000), 100000);
	r = (struct mt_rtt){.smoothed_ns = 1000, .min_ns = 900};
	assert_u_eq(mt_rtt_silence(&r, 5000), 5000);
	r.smoothed_ns = 10000;
	r.deviation_ns = 500;
	assert_u_eq(mt_rtt_silence(&r, 5000), 22000);
}
