/* SPDX-License-Identifier: BSD-2-Clause */
/* When a host denies itself what is sick, what it leaves, and when it takes it up again. */
#include "fabric_fixture.h"

#include "fabric/fabric_path.h"
#include "map/map_policy.h"

#include <stdlib.h>

#define S_NS UINT64_C(1000000000)
#define AFTER_S 2u
#define BACK_S 60u

static struct mf_topology t;
static struct mm_policy p;
static uint8_t *out;
static uint64_t now_s;
static bool cut; /* of what the map says: there may be more */

static void begin(const char *name, uint32_t host, uint32_t share)
{
	const struct mm_policy_cfg cfg = {host, AFTER_S * S_NS, BACK_S * S_NS, share};

	t = fabric(name);
	mm_policy_init(&p, &t, &cfg);
	free(out);
	out = calloc(mf_ev_count(&t), 1);
	now_s = 100;
	cut = false;
}

static struct mm_sick sick_of(const char *name, enum mm_kind kind)
{
	struct mm_sick s = {.kind = kind};
	struct mf_error e;

	if (!mm_part_find(&t, name, &s.part, &e))
		fail_msg("%s: %s", name, e.what);
	return s;
}

/* A second of a world in which these are sick; what the policy does is done. */
static uint32_t second(const struct mm_sick *sick, size_t n)
{
	struct mm_policy_part *part;
	uint32_t changes = 0;

	now_s++;
	mm_policy_see(&p, sick, n, cut, now_s * S_NS);
	while ((part = mm_policy_due(&p, out, now_s * S_NS))) {
		bool denies = part->state != MM_POLICY_DENIED;

		for (uint32_t i = 0; i < mf_ev_count(&t); i++)
			if (mm_policy_touches(&p, &part->sick.part, mf_ev_nth(&t, i)))
				out[i] = denies;
		mm_policy_done(&p, part, true, now_s * S_NS);
		changes++;
	}
	return changes;
}

static uint32_t seconds(uint32_t n, const struct mm_sick *sick, size_t n_sick)
{
	uint32_t changes = 0;

	while (n--)
		changes += second(sick, n_sick);
	return changes;
}

static uint32_t count_out(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < mf_ev_count(&t); i++)
		n += out[i];
	return n;
}

TEST(mm_policy_touches, what_is_on_the_way_up_alone)
{
	static const struct {
		const char *part;
		uint32_t choices;
	} rows[] = {
		{"plane0.t0-0.t1-1", 1}, {"plane0.t0-1.t1-1", 0},
		{"plane0.t1-1", 1},	 {"host0.plane1", 2},
		{"host1.plane1", 0},	 {"plane1.t0-0", 2},
		{"plane1.t0-1", 0},	 {"host0", 0},
		{"plane1", 2},
	};

	begin("tiny", 0, 50);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mm_sick s = sick_of(rows[i].part, MM_DEAD);
		uint32_t n = 0;

		for (uint32_t c = 0; c < mf_ev_count(&t); c++)
			n += mm_policy_touches(&p, &s.part, mf_ev_nth(&t, c));
		if (n != rows[i].choices)
			fail_msg("%s: %u choices", rows[i].part, n);
	}
}

/* What comes back by a cable is not sent by its host. */
TEST(mm_policy_touches, directions)
{
	struct mm_sick s;

	begin("tiny", 0, 50);
	s = sick_of("plane0.t0-0.t1-1", MM_DEAD);
	s.part.direction = MF_DIRECTION_OUT;
	assert_true(mm_policy_touches(&p, &s.part, mf_ev_of(0, 1, 0)));
	s.part.direction = MF_DIRECTION_IN;
	assert_false(mm_policy_touches(&p, &s.part, mf_ev_of(0, 1, 0)));
}

/* In three tiers an EV chooses an uplink of the T1, too. */
TEST(mm_policy_touches, three_tiers)
{
	struct mm_part part = {.kind = MM_CABLE};

	begin("small3", 0, 50);
	part.id = mf_link_t1_t2(&t, 1, 2, 5, false) >> 1;
	for (uint32_t c = 0; c < mf_ev_count(&t); c++) {
		uint32_t ev = mf_ev_nth(&t, c);

		assert_int_equal(mm_policy_touches(&p, &part, ev), ev == mf_ev_of(1, 2, 5));
	}
	assert_false(mm_policy_takes_plane(&p, &part, 1));
	part = (struct mm_part){.kind = MM_CABLE, .id = mf_link_host_t0(&t, 1, 0, false) >> 1};
	assert_true(mm_policy_takes_plane(&p, &part, 1));
	assert_false(mm_policy_takes_plane(&p, &part, 0));
	/* Another pod's T1. */
	part = (struct mm_part){.kind = MM_SWITCH, .id = mf_node_switch(&t, MF_T1, 1, 3)};
	seconds(10, &(struct mm_sick){.part = part, .kind = MM_DEAD}, 1);
	assert_u_eq(p.n_parts, 0);
}

TEST(mm_policy_due, denies_after_a_while_and_returns_after_longer)
{
	struct mm_sick s;

	begin("tiny", 0, 50);
	s = sick_of("plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(seconds(AFTER_S, &s, 1), 0);
	assert_u_eq(second(&s, 1), 1);
	assert_u_eq(count_out(), 1);
	assert_u_eq(p.part[0].state, MM_POLICY_DENIED);
	assert_u_eq(seconds(500, &s, 1), 0);
	assert_u_eq(seconds(BACK_S, NULL, 0), 0);
	assert_u_eq(second(NULL, 0), 1);
	assert_u_eq(count_out(), 0);
	assert_u_eq(p.part[0].state, MM_POLICY_WATCHED);
}

/* What is sick now and then, and never for long, is not denied; nor given back while it is so. */
TEST(mm_policy_due, breaks_begin_the_wait_again)
{
	struct mm_sick s;

	begin("tiny", 0, 50);
	s = sick_of("plane0.t0-0.t1-1", MM_LOSSY);
	for (uint32_t i = 0; i < 20; i++) {
		assert_u_eq(seconds(AFTER_S, &s, 1), 0);
		assert_u_eq(second(NULL, 0), 0);
	}
	assert_u_eq(seconds(AFTER_S + 1, &s, 1), 1);
	for (uint32_t i = 0; i < 20; i++) {
		assert_u_eq(seconds(BACK_S - 1, NULL, 0), 0);
		assert_u_eq(second(&s, 1), 0);
	}
	assert_u_eq(count_out(), 1);
}

/* A return that does not last doubles the wait, up to 16 times; a long peace forgets it. */
TEST(mm_policy_due, waits_longer_for_what_comes_again)
{
	static const uint32_t times[] = {1, 2, 4, 8, 16, 16};
	struct mm_sick s;

	begin("tiny", 0, 50);
	s = sick_of("plane0.t0-0.t1-1", MM_DEAD);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		assert_u_eq(seconds(AFTER_S + 1, &s, 1), 1);
		assert_u_eq(seconds(BACK_S * times[i], NULL, 0), 0);
		assert_u_eq(second(NULL, 0), 1);
	}
	seconds(BACK_S * 16 + 1, NULL, 0);
	assert_u_eq(p.n_parts, 0);
}

TEST(mm_policy_due, leaves_alone_what_the_transport_bears)
{
	struct mm_sick s[2];

	begin("tiny", 0, 50);
	s[0] = sick_of("plane0.t0-0.t1-1", MM_DUPLICATING);
	s[1] = sick_of("plane0.t0-0.t1-0", MM_REORDERING);
	assert_u_eq(seconds(10, s, 2), 0);
	assert_u_eq(p.n_parts, 0);
}

/* Of two uplinks one, of two planes one, and the worst first. */
TEST(mm_policy_due, has_a_cap)
{
	struct mm_sick s[3];

	begin("tiny", 0, 25);
	s[0] = sick_of("plane0.t0-0.t1-1", MM_LOSSY);
	s[1] = sick_of("plane0.t0-0.t1-0", MM_DEAD);
	assert_u_eq(seconds(AFTER_S + 1, s, 2), 1);
	assert_true(out[0] && count_out() == 1);
	assert_u_eq(p.part[0].state, MM_POLICY_HELD);
	s[2] = sick_of("plane1", MM_DEAD);
	assert_u_eq(seconds(AFTER_S + 1, s, 3), 1);
	assert_u_eq(count_out(), 3);
	/* Nothing would be left of plane 0, and no plane. */
	s[0] = sick_of("plane0.t0-0", MM_DEAD);
	assert_u_eq(seconds(100, s, 3), 0);
	assert_u_eq(count_out(), 3);
	/* There is room when plane 1 is well; the uplink is a part of the T0, and stays out. */
	assert_u_eq(seconds(BACK_S + 1, s, 1), 2);
	assert_true(out[0] && out[2] && count_out() == 2);
}

/* A quarter of eight uplinks is two. */
TEST(mm_policy_due, has_a_share_of_a_tier)
{
	struct mm_sick s[MF_UPLINKS_MAX];
	uint32_t uplinks;

	begin("paper", 0, 25);
	uplinks = t.cfg.t1s;
	assert_true(uplinks >= 8);
	for (uint32_t up = 0; up < uplinks; up++)
		s[up] = (struct mm_sick){
			.part = {.kind = MM_CABLE, .id = mf_link_t0_t1(&t, 1, 0, up, false) >> 1}};
	seconds(AFTER_S + 1, s, uplinks);
	assert_u_eq(count_out(), uplinks / 4);
}

/* What an operator took out is not left over for more. */
TEST(mm_policy_due, counts_what_others_took_out)
{
	struct mm_sick s;

	begin("tiny", 0, 50);
	out[0] = 1; /* plane 0, uplink 0 */
	s = sick_of("plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(seconds(10, &s, 1), 0);
	assert_u_eq(p.part[0].state, MM_POLICY_HELD);
	out[0] = 0;
	assert_u_eq(second(&s, 1), 1);
}

/* What is found to be the switch later was the cable before, and is out already. */
TEST(mm_policy_due, another_name_for_the_same_is_no_return)
{
	struct mm_sick s;

	begin("tiny", 0, 50);
	s = sick_of("plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(seconds(AFTER_S + 1, &s, 1), 1);
	s = sick_of("plane0.t1-1", MM_DEAD);
	assert_u_eq(seconds(10 * BACK_S, &s, 1), 0);
	assert_u_eq(seconds(BACK_S + 1, NULL, 0), 1);
	assert_u_eq(count_out(), 0);
}

TEST(mm_policy_overrule, holds_until_it_is_well)
{
	struct mm_sick s;

	begin("tiny", 0, 50);
	s = sick_of("plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(seconds(AFTER_S + 1, &s, 1), 1);
	mm_policy_overrule(&p.part[0]);
	out[2] = 0;
	assert_u_eq(seconds(10 * BACK_S, &s, 1), 0);
	assert_u_eq(seconds(BACK_S + 1, NULL, 0), 0);
	assert_u_eq(seconds(AFTER_S + 1, &s, 1), 1);
}

/* Killed and begun again it knows what it denied, and gives that back alone. */
TEST(mm_policy_restore, returns_what_was_denied_before)
{
	struct mm_sick s, far;

	begin("tiny", 0, 50);
	s = sick_of("plane0.t0-0.t1-1", MM_DEAD);
	far = sick_of("host3.plane0", MM_DEAD);
	out[2] = 1;
	assert_true(mm_policy_restore(&p, &s.part, now_s * S_NS));
	assert_true(mm_policy_restore(&p, &s.part, now_s * S_NS));
	assert_false(mm_policy_restore(&p, &far.part, now_s * S_NS));
	assert_u_eq(p.n_parts, 1);
	assert_u_eq(seconds(BACK_S / 2, NULL, 0), 0);
	assert_u_eq(seconds(BACK_S, &s, 1), 0);
	assert_u_eq(count_out(), 1);
	assert_u_eq(seconds(BACK_S + 1, NULL, 0), 1);
	assert_u_eq(count_out(), 0);
}

TEST(mm_policy_done, what_cannot_be_done_is_tried_again)
{
	struct mm_policy_part *part;
	struct mm_sick s;

	begin("tiny", 0, 50);
	s = sick_of("plane0.t0-0.t1-1", MM_DEAD);
	for (uint32_t i = 0; i < 3; i++) {
		now_s += AFTER_S;
		mm_policy_see(&p, &s, 1, false, now_s * S_NS);
		part = mm_policy_due(&p, out, now_s * S_NS);
		assert_int_equal(part != NULL, i > 0);
		if (!part)
			continue;
		mm_policy_done(&p, part, false, now_s * S_NS);
		assert_string_equal(mm_policy_state_name(part->state), "held");
		assert_null(mm_policy_due(&p, out, now_s * S_NS));
	}
}

/* What fell out of a full list is not well for that, and has not been sick without a break. */
TEST(mm_policy_see, what_the_list_had_no_room_for)
{
	struct mm_sick s, other;

	begin("tiny", 0, 50);
	s = sick_of("plane0.t0-0.t1-1", MM_LOSSY);
	other = sick_of("host3.plane0", MM_DEAD);
	assert_u_eq(seconds(AFTER_S, &s, 1), 0);
	cut = true;
	assert_u_eq(seconds(10 * AFTER_S, &other, 1), 0);
	cut = false;
	assert_u_eq(seconds(AFTER_S - 1, &s, 1), 0);
	assert_u_eq(second(&s, 1), 1);
	cut = true;
	assert_u_eq(seconds(10 * BACK_S, &other, 1), 0);
	assert_u_eq(p.part[0].state, MM_POLICY_DENIED);
	assert_u_eq(count_out(), 1);
	cut = false;
	assert_u_eq(seconds(BACK_S, &other, 1), 0);
	assert_u_eq(second(&other, 1), 1);
	/* One that was denied by a daemon before this one, likewise. */
	out[2] = 1;
	assert_true(mm_policy_restore(&p, &s.part, now_s * S_NS));
	cut = true;
	assert_u_eq(seconds(10 * BACK_S, &other, 1), 0);
	assert_u_eq(count_out(), 1);
}
