/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_pace.c - the token bucket. */
#include "support/test.h"

#include "host/port/nic_ports.h"

#define MS UINT64_C(1000000)

TEST(mh_pace_frames, without_pacing_there_is_always_room)
{
	struct mh_pace p;

	mh_pace_init(&p, 0, 4224, 5);
	mh_pace_consume(&p, 4224);
	assert_u_eq(mh_pace_frames(&p, 5), UINT32_MAX);
	assert_u_eq(mh_pace_deadline(&p), 5);
}

TEST(mh_pace_frames, slow_port_holds_two_frames)
{
	struct mh_pace p;

	mh_pace_init(&p, 1000000, 1000, 0);
	assert_u_eq(mh_pace_frames(&p, 0), 2);
	mh_pace_consume(&p, 1000);
	assert_u_eq(mh_pace_frames(&p, 0), 1);
	mh_pace_consume(&p, 1000);
	assert_u_eq(mh_pace_frames(&p, 0), 0);
	/* 1000 bytes are 8 ms at 1 Mb/s. */
	assert_u_eq(mh_pace_deadline(&p), 8 * MS);
	assert_u_eq(mh_pace_frames(&p, 8 * MS - 1), 0);
	assert_u_eq(mh_pace_frames(&p, 8 * MS), 1);
}

TEST(mh_pace_frames, fast_port_holds_twelve_milliseconds)
{
	struct mh_pace p;

	mh_pace_init(&p, UINT64_C(8000000000), 1000, 0);
	assert_u_eq(mh_pace_frames(&p, 0), 12000);
	for (int i = 0; i < 12000; i++)
		mh_pace_consume(&p, 1000);
	assert_u_eq(mh_pace_frames(&p, 0), 0);
	/* Worth a wake-up is an eighth of that. */
	assert_u_eq(mh_pace_deadline(&p), 3 * MS / 2);
	assert_u_eq(mh_pace_frames(&p, 3 * MS / 2), 1500);
}

TEST(mh_pace_frames, silence_fills_the_bucket_once)
{
	struct mh_pace p;

	mh_pace_init(&p, MH_PACE_RATE_MAX, 4224, 0);
	mh_pace_consume(&p, 4224);
	assert_u_eq(mh_pace_frames(&p, UINT64_MAX / 2), UINT64_C(12000000000) / 8 / 4224);
	mh_pace_init(&p, 1000000, 1000, 0);
	mh_pace_consume(&p, 2000);
	assert_u_eq(mh_pace_frames(&p, UINT64_MAX), 2);
}

TEST(mh_pace_frames, time_that_runs_backwards_changes_nothing)
{
	struct mh_pace p;

	mh_pace_init(&p, 1000000, 1000, 100 * MS);
	mh_pace_consume(&p, 2000);
	assert_u_eq(mh_pace_frames(&p, 50 * MS), 0);
	assert_u_eq(mh_pace_frames(&p, 108 * MS), 1);
}

TEST(mh_pace_consume, what_is_not_there_is_not_owed)
{
	struct mh_pace p;

	mh_pace_init(&p, 1000000, 1000, 0);
	mh_pace_consume(&p, 60000);
	assert_u_eq(mh_pace_frames(&p, 8 * MS), 1);
}

TEST(mh_pace_forgo, leaves_one_frame)
{
	struct mh_pace p;

	mh_pace_init(&p, UINT64_C(8000000000), 1000, 0);
	mh_pace_forgo(&p, 20 * MS);
	assert_u_eq(mh_pace_frames(&p, 20 * MS), 1);
	assert_u_eq(mh_pace_frames(&p, 21 * MS), 1001);
	for (int i = 0; i < 1001; i++)
		mh_pace_consume(&p, 1000);
	mh_pace_forgo(&p, 21 * MS);
	assert_u_eq(mh_pace_frames(&p, 21 * MS), 0);
}

/* Over a second of random wake-ups all that the rate allows is sent, and a bucketful on top. */
TEST(mh_pace_frames, rate_is_exact)
{
	struct mh_pace p;
	uint64_t now = 0, sent = 0;

	mh_pace_init(&p, 100000000, 4224, 0);
	while (now < 1000 * MS) {
		while (mh_pace_frames(&p, now) > 0) {
			uint32_t bytes = 4224 - (uint32_t)test_rand_below(100);

			mh_pace_consume(&p, bytes);
			sent += bytes;
		}
		now = mh_pace_deadline(&p) + test_rand_below(50000);
	}
	assert_u_between(sent, 12500000, 12500000 + 150000 + 4224);
}
