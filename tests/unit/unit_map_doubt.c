/* SPDX-License-Identifier: BSD-2-Clause */
/* Which cables are in doubt: src/map/map_doubt.h. */
#include "fabric_fixture.h"

#include "map/map_doubt.h"
#include "support/test.h"

/* Host cables 0 and 9, switches' 4 to 7; each way of a cable is a link of its own. */
static const struct mm_route_of round_trip = {.peer = MM_NO_HOST, .links = 4, .link = {0, 8, 9, 1}},
				other = {.peer = MM_NO_HOST, .links = 4, .link = {0, 10, 11, 1}},
				crossing = {.peer = MM_NO_HOST,
					    .links = 6,
					    .link = {18, 12, 14, 8, 10, 19}},
				to_t0 = {.peer = MM_NO_HOST, .links = 2, .link = {0, 1}},
				neighbours = {.peer = 3, .links = 4, .link = {18, 1, 20, 22}};

static struct mm_doubts d;

static bool has(const struct mm_route_of *of, uint64_t step)
{
	return mm_doubts_has(&d, of, MM_DOUBT_BAD, step);
}

TEST(mm_doubts_has, names_the_routes_that_tell)
{
	d = (struct mm_doubts){0};
	assert_false(has(&round_trip, 0));
	mm_doubts_add(&d, &round_trip, MM_DOUBT_BAD, 5, 10);
	assert_true(has(&round_trip, 9) && has(&crossing, 9));
	/* Of a host's cable the short ones: all others of the host cross it, too. */
	assert_true(has(&to_t0, 9) && has(&neighbours, 9));
	assert_false(has(&other, 9));
	assert_true(mm_doubts_touches(&d, &other, MM_DOUBT_BAD, 9));
	assert_false(mm_doubts_touches(&d, &other, MM_DOUBT_BAD, 10) ||
		     mm_doubts_touches(&d, &other, MM_DOUBT_SLOW, 9));
	assert_false(has(&round_trip, 10) || has(&to_t0, 10));
	assert_false(mm_doubts_has(&d, &round_trip, MM_DOUBT_SLOW, 9));
}

/* It lasts as long as anybody says, each kind for itself. */
TEST(mm_doubts_add, is_never_shortened)
{
	d = (struct mm_doubts){0};
	mm_doubts_add(&d, &round_trip, MM_DOUBT_SLOW, 0, 50);
	mm_doubts_add(&d, &round_trip, MM_DOUBT_BAD, 5, 10);
	mm_doubts_add(&d, &crossing, MM_DOUBT_SLOW, 5, 10);
	assert_true(mm_doubts_has(&d, &round_trip, MM_DOUBT_SLOW, 49));
	assert_false(mm_doubts_has(&d, &other, MM_DOUBT_SLOW, 10));
	assert_false(has(&round_trip, 10));
	mm_doubts_add(&d, &other, MM_DOUBT_BAD, 60, 70);
	assert_false(has(&round_trip, 60) || mm_doubts_has(&d, &round_trip, MM_DOUBT_SLOW, 60));
}

static bool slow(const struct mm_route_of *of, uint64_t step)
{
	return mm_doubts_has(&d, of, MM_DOUBT_SLOW, step);
}

/* What may be slow is a direction of a cable. One that a train got through is not. */
TEST(mm_doubts_not_slow, clears_the_directions_that_a_train_came_over)
{
	static const struct mm_route_of out = {.peer = 3, .links = 2, .link = {0, 19}},
					in = {.peer = 3, .links = 2, .link = {18, 1}};

	d = (struct mm_doubts){0};
	mm_doubts_not_slow(&d, &to_t0, 0, 50); /* while nothing is in doubt */
	mm_doubts_add(&d, &out, MM_DOUBT_SLOW, 0, 50);
	assert_true(slow(&out, 49) && slow(&to_t0, 49));
	assert_false(slow(&in, 49));
	mm_doubts_add(&d, &to_t0, MM_DOUBT_BAD, 0, 50);
	mm_doubts_add(&d, &to_t0, MM_DOUBT_SLOW, 1, 51);
	assert_true(slow(&in, 50));
	mm_doubts_not_slow(&d, &in, 1, 51);
	assert_true(!slow(&in, 50) && slow(&out, 50) && slow(&to_t0, 50));
	/* Of what is lost a train that came says nothing. */
	assert_true(has(&in, 49) && has(&out, 49));
	mm_doubts_not_slow(&d, &out, 1, 51);
	assert_false(slow(&to_t0, 50));
	assert_true(has(&to_t0, 49));
}

/* What was fast is not blamed for another, and again where it is that or nothing. */
TEST(mm_doubts_not_slow, is_remembered)
{
	static const struct mm_route_of up = {.peer = MM_NO_HOST, .links = 4, .link = {0, 8, 9, 1}},
					beside = {.peer = MM_NO_HOST,
						  .links = 4,
						  .link = {0, 10, 11, 1}};

	d = (struct mm_doubts){0};
	mm_doubts_add(&d, &up, MM_DOUBT_SLOW, 0, 50);
	mm_doubts_not_slow(&d, &beside, 1, 51);
	assert_true(slow(&up, 49) && !slow(&to_t0, 49));
	mm_doubts_add(&d, &up, MM_DOUBT_SLOW, 2, 52);
	assert_true(slow(&up, 51) && !slow(&to_t0, 2));
	/* That the way there is fast does not mean that the whole cable is. */
	mm_doubts_not_slow(&d, &(struct mm_route_of){.peer = 3, .links = 1, .link = {8}}, 3, 53);
	mm_doubts_add(&d, &up, MM_DOUBT_SLOW, 4, 54);
	assert_true(slow(&(struct mm_route_of){.peer = 3, .links = 1, .link = {8}}, 53));
	mm_doubts_not_slow(&d, &up, 5, 55);
	assert_false(slow(&up, 5));
	mm_doubts_add(&d, &up, MM_DOUBT_SLOW, 6, 56);
	assert_true(slow(&up, 55) && slow(&to_t0, 55));
	/* It does not last for ever. */
	mm_doubts_not_slow(&d, &to_t0, 7, 57);
	mm_doubts_add(&d, &up, MM_DOUBT_SLOW, 57, 100);
	assert_true(slow(&to_t0, 99));
}

/* Who answers over a cable is asked while one of a host may be slow. */
TEST(mm_doubts_any_slow, tells_cables_of_hosts_from_others)
{
	struct mf_topology t = fabric("tiny");
	const struct mm_route_of host = {.peer = MM_NO_HOST, .links = 2, .link = {0, 1}};
	const uint32_t up = mf_link_t0_t1(&t, 0, 0, 0, false);
	const struct mm_route_of switches = {.peer = MM_NO_HOST, .links = 1, .link = {up}};

	d = (struct mm_doubts){0};
	mm_doubts_add(&d, &host, MM_DOUBT_BAD, 0, 50);
	assert_false(mm_doubts_any_slow(&d, &t, true, 1) || mm_doubts_any_slow(&d, &t, false, 1));
	mm_doubts_add(&d, &host, MM_DOUBT_SLOW, 0, 50);
	assert_true(mm_doubts_any_slow(&d, &t, true, 49) && !mm_doubts_any_slow(&d, &t, false, 1));
	mm_doubts_add(&d, &switches, MM_DOUBT_SLOW, 0, 60);
	assert_true(!mm_doubts_any_slow(&d, &t, true, 50) && mm_doubts_any_slow(&d, &t, false, 59));
	assert_false(mm_doubts_any_slow(&d, &t, false, 60));
}

/* Where everything is in doubt it has room for some, and for others when those are over. */
TEST(mm_doubts_add, has_room_for_some)
{
	uint32_t held = 0;

	d = (struct mm_doubts){0};
	for (uint32_t round = 0; round < 2; round++) {
		uint64_t step = 100 * round;

		held = 0;
		for (uint32_t i = 0; i < 4 * MM_DOUBTS_MAX; i++)
			mm_doubts_add(&d,
				      &(struct mm_route_of){.peer = MM_NO_HOST,
							    .links = 2,
							    .link = {2 * i, 2 * i + 1}},
				      MM_DOUBT_BAD, step, step + 100);
		for (uint32_t i = 0; i < 4 * MM_DOUBTS_MAX; i++)
			held += has(&(struct mm_route_of){.peer = MM_NO_HOST,
							  .links = 2,
							  .link = {2 * i, 2 * i + 1}},
				    step + 99);
		assert_true(held > MM_DOUBTS_MAX / 2 && held <= MM_DOUBTS_MAX);
	}
}
