/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoint requests under way: ids, time-outs, answers that fit and answers that do not. */
#include "support/test.h"

#include "core/state/engine_state.h"
#include "unit/panic.h"

#define SIZE 8u
#define REST 1000u
#define TIMEOUT 50u

static struct mt_ep_slot slots[SIZE];
static struct mt_ep_slot *chains[SIZE];
static struct mt_ep_table table;
static struct rd_gid peer;

static int fresh(void **state)
{
	(void)state;
	peer = (struct rd_gid){{7}};
	mt_ep_init(&table, slots, chains, SIZE);
	return 0;
}

#define CASE(function, name) TEST_WITH(fresh, NULL, function, name)

static int open_at(uint64_t now, bool given, uint16_t id, struct mt_ep_slot **s)
{
	struct mt_ep_request req = {.dst = peer,
				    .op = 1,
				    .id_given = given,
				    .id = id,
				    .timeout_ns = TIMEOUT,
				    .user = now};

	return mt_ep_alloc(&table, now, &req, s);
}

static struct mt_ep_slot *sent_at(uint64_t now, uint16_t stamp)
{
	struct mt_ep_slot *s = NULL;

	assert_i_eq(open_at(now, false, 0, &s), MT_OK);
	mt_ep_sent(s, now, stamp);
	return s;
}

static struct mt_ep_response answer(uint64_t now, uint16_t id, uint16_t stamp)
{
	return (struct mt_ep_response){
		.src = &peer, .now_ns = now, .ts_shift = 2, .id = id, .stamp = stamp, .op = 1};
}

/* REQ(ep.probe.id-reuse) */
CASE(mt_ep_alloc, ids_count_up_and_rest_after_use)
{
	struct mt_ep_slot *s;

	for (unsigned i = 0; i < SIZE; i++) {
		assert_i_eq(open_at(0, false, 0, &s), MT_OK);
		assert_u_eq(s->req.id, i);
	}
	assert_i_eq(open_at(0, false, 0, &s), MT_ERR_FULL);
	mt_ep_quarantine(&table, &slots[3], 10, REST);
	assert_i_eq(open_at(10 + REST - 1, false, 0, &s), MT_ERR_FULL);
	assert_i_eq(open_at(10 + REST, false, 0, &s), MT_OK);
	assert_u_eq(s->req.id, SIZE);
}

/* Slots that are released are free at once. REQ(ep.probe.id-reuse) */
CASE(mt_ep_release, its_id_rests_without_its_slot)
{
	struct mt_ep_slot *s;

	for (unsigned i = 0; i < 65536; i++) {
		assert_i_eq(open_at(i / 4096, false, 0, &s), MT_OK);
		assert_u_eq(s->req.id, i);
		mt_ep_release(&table, s, i / 4096, REST);
	}
	assert_i_eq(open_at(REST - 1, false, 0, &s), MT_ERR_FULL);
	assert_i_eq(open_at(REST - 1, true, 9, &s), MT_OK);
	for (unsigned i = 0; i < 4095; i++) {
		assert_i_eq(open_at(REST, false, 0, &s), MT_OK);
		assert_u_eq(s->req.id, i + (i >= 9));
		mt_ep_release(&table, s, REST, REST);
	}
	assert_i_eq(open_at(REST, false, 0, &s), MT_ERR_FULL); /* the next part has not rested */
	assert_i_eq(open_at(REST + 1, false, 0, &s), MT_OK);
	assert_u_eq(s->req.id, 4096);
}

CASE(mt_ep_release, whatever_it_was_doing)
{
	struct mt_ep_slot *a = sent_at(0, 0), *b;
	struct mt_ep_response late = answer(5, a->req.id, 0);

	assert_i_eq(open_at(0, false, 0, &b), MT_OK);
	mt_ep_release(&table, a, 1, REST);
	mt_ep_release(&table, b, 1, REST);
	expect_assert_failure(mt_ep_release(&table, b, 1, REST));
	assert_u_eq(mb_timers_deadline(&table.timers), MB_NEVER);
	assert_null(mt_ep_match_response(&table, &late));
	for (unsigned i = 0; i < SIZE; i++)
		assert_i_eq(open_at(1, false, 0, &b), MT_OK);
}

CASE(mt_ep_alloc, a_given_id_is_taken_until_it_has_rested)
{
	struct mt_ep_slot *s, *other;

	assert_i_eq(open_at(0, true, 0xFFFF, &s), MT_OK);
	assert_u_eq(s->req.id, 0xFFFF);
	assert_i_eq(open_at(0, true, 0xFFFF, &other), MT_ERR_EXISTS);
	assert_i_eq(open_at(0, true, 0xFFFF - SIZE, &other), MT_OK); /* in the same chain */
	mt_ep_quarantine(&table, s, 5, REST);
	assert_i_eq(open_at(5 + REST - 1, true, 0xFFFF, &other), MT_ERR_EXISTS);
	assert_i_eq(open_at(5 + REST, true, 0xFFFF, &other), MT_OK);
}

CASE(mt_ep_alloc, chosen_ids_pass_over_given_ones)
{
	struct mt_ep_slot *s;

	assert_i_eq(open_at(0, true, 0, &s), MT_OK);
	assert_i_eq(open_at(0, true, 1, &s), MT_OK);
	assert_i_eq(open_at(0, false, 0, &s), MT_OK);
	assert_u_eq(s->req.id, 2);
}

/* REQ(ep.probe.match) REQ(ep.probe.rtt) */
CASE(mt_ep_match_response, only_by_who_was_asked_with_what_was_sent)
{
	struct mt_ep_slot *s = sent_at(100, 0xABCD);
	struct rd_gid unknown = {{8}};
	struct mt_ep_response a = answer(130, s->req.id, 0xABCD);

	a.src = &unknown;
	assert_null(mt_ep_match_response(&table, &a));
	a = answer(130, s->req.id, 0xABCC);
	assert_null(mt_ep_match_response(&table, &a));
	a = answer(130, s->req.id + 1, 0xABCD);
	assert_null(mt_ep_match_response(&table, &a));
	a = answer(130, s->req.id, 0xABCD);
	a.op = 0;
	assert_null(mt_ep_match_response(&table, &a));
	a.op_high = 2;
	assert_null(mt_ep_match_response(&table, &a));
	a.op = 1;
	assert_ptr_equal(mt_ep_match_response(&table, &a), s);
	assert_u_eq(s->rtt_ns, 30);
	assert_false(s->svc_time_subtracted);
	assert_null(mt_ep_match_response(&table, &a)); /* a second time */
	assert_null(mt_ep_expire_next(&table, 100 + TIMEOUT));
	assert_ptr_equal(mt_ep_next_ended(&table), s);
}

/* REQ(wire.eeth.op) */
CASE(mt_ep_match_response, operation_in_either_place)
{
	struct mt_ep_slot *s = sent_at(100, 0xABCD);
	struct mt_ep_response a = answer(130, s->req.id, 0xABCD);

	a.op = 0;
	a.op_high = MW_EP_EV_PROBE;
	assert_ptr_equal(mt_ep_match_response(&table, &a), s);
}

CASE(mt_ep_match_response, not_before_it_was_sent_nor_after_the_end)
{
	struct mt_ep_response a = answer(10, 0, 0);
	struct mt_ep_slot *s;

	assert_i_eq(open_at(0, false, 0, &s), MT_OK);
	assert_null(mt_ep_match_response(&table, &a));
	mt_ep_sent(s, 0, 0);
	assert_null(mt_ep_expire_next(&table, TIMEOUT - 1));
	assert_ptr_equal(mt_ep_expire_next(&table, TIMEOUT), s);
	assert_u_eq(s->status, MT_EP_TIMED_OUT);
	assert_null(mt_ep_match_response(&table, &a));
	mt_ep_quarantine(&table, s, TIMEOUT, REST);
	assert_null(mt_ep_match_response(&table, &a));
	assert_null(mt_ep_next_ended(&table));
}

/*
 * Whatever this end does itself: a stamp that is later, but not than now, tells it.
 * REQ(rsp.svc-time)
 */
CASE(mt_ep_match_response, service_time_is_taken_off_where_the_peer_tells_it)
{
	struct mt_ep_slot *s = sent_at(100, 0xFFFE);
	struct mt_ep_response a = answer(140, s->req.id, 3); /* 5 units of 4 ns later */

	a.now_ns = 119; /* longer than all of it took */
	assert_null(mt_ep_match_response(&table, &a));
	a.now_ns = 140;
	assert_ptr_equal(mt_ep_match_response(&table, &a), s);
	assert_u_eq(s->rtt_ns, 20);
	assert_true(s->svc_time_subtracted);
}

CASE(mt_ep_match_response, all_of_the_time_may_be_service)
{
	struct mt_ep_slot *s = sent_at(100, 7);
	struct mt_ep_response a = answer(120, s->req.id, 12);

	assert_ptr_equal(mt_ep_match_response(&table, &a), s);
	assert_u_eq(s->rtt_ns, 0);
}

CASE(mt_ep_match_response, the_least_service_time_is_some)
{
	struct mt_ep_slot *s = sent_at(100, 7);
	struct mt_ep_response a = answer(120, s->req.id, 8);

	a.ts_shift = 0; /* units of a nanosecond */
	assert_ptr_equal(mt_ep_match_response(&table, &a), s);
	assert_u_eq(s->rtt_ns, 19);
	assert_true(s->svc_time_subtracted);
}

/* Nothing shows whether the peer answered at once or tells no time: what is agreed says so. */
CASE(mt_ep_match_response, no_service_time)
{
	struct mt_ep_slot *s = sent_at(100, 7);
	struct mt_ep_response a = answer(120, s->req.id, 7);

	a.svc_time = true;
	a.port = 3;
	assert_ptr_equal(mt_ep_match_response(&table, &a), s);
	assert_u_eq(s->rtt_ns, 20);
	assert_true(s->svc_time_subtracted);
	assert_u_eq(s->answer_port, 3);
}

CASE(mt_ep_expire_next, in_order_of_time)
{
	struct mt_ep_slot *a = sent_at(0, 0), *b = sent_at(5, 0);

	assert_ptr_equal(mt_ep_expire_next(&table, 500), a);
	assert_ptr_equal(mt_ep_expire_next(&table, 500), b);
	assert_null(mt_ep_expire_next(&table, 500));
	assert_ptr_equal(mt_ep_next_ended(&table), a);
}

CASE(mt_ep_quarantine, whatever_it_was_doing)
{
	struct mt_ep_slot *a = sent_at(0, 0), *b;

	assert_i_eq(open_at(0, false, 0, &b), MT_OK);
	mt_ep_quarantine(&table, a, 1, REST);
	mt_ep_quarantine(&table, b, 1, REST);
	assert_u_eq(mb_timers_deadline(&table.timers), MB_NEVER);
	for (unsigned i = 0; i < SIZE; i++)
		assert_i_eq(open_at(1 + REST, false, 0, &b), MT_OK);
}
