/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ACKs and NAKs that are written by hand complete or fail, and how messages that wait for
 * answers hold up those behind them.
 */
#include "asking_fixture.h"
#include "core/qp/halves.h"

static struct mt_tx_desc sent[SENT_MAX];

#define CASE(function, name) TEST_WITH(defaults, close_node, function, name)

static void post_more(unsigned count, uint32_t flags)
{
	for (unsigned i = 1; i <= count; i++)
		assert_i_eq(node_post(&n, n.qp, 70 + i, MTU, flags), MT_OK);
	assert_u_eq(node_tx(&n, 1000, sent, SENT_MAX), count);
}

/* REQ(req.complete.acked) REQ(req.complete.order) */
CASE(mt_completer_ack, completes_all_messages_below)
{
	start_message(sent, 3);
	post_more(2, RD_SEND_SIGNALED);
	rx_at(2000, node_ack(&n, 0x1F, 2));
	assert_u_eq(n.qp->req.window.una, node_psn(4)); /* their packets have then arrived */
	node_check_completion(&n, 70, RD_WC_SUCCESS);
	node_check_completion(&n, 71, RD_WC_SUCCESS);
	node_check_no_event(&n);
	rx_at(2000, node_ack(&n, 0x1F, 1));
	rx_at(2000, node_ack(&n, 0x1F, 2));
	node_check_no_event(&n);
	rx_at(2000, node_ack(&n, 0x1F, 3));
	node_check_completion(&n, 72, RD_WC_SUCCESS);
	assert_u_eq(node_stats(&n).rx_acks, 4);
}

CASE(mt_completer_ack, of_what_was_never_sent)
{
	opts.attr.mpr = 1;
	start_message(sent, 1);
	assert_i_eq(node_post(&n, n.qp, 71, 200 * MTU, 0), MT_OK);
	assert_u_eq(node_tx(&n, 1000, sent, SENT_MAX), 127); /* not all of it */
	rx_at(2000, node_ack(&n, 0x1F, 2));
	rx_at(2000, node_ack(&n, 0x1F, 0x7FFFFF));
	rx_at(2000, node_ack(&n, 0x20, 1)); /* there is no receiver-not-ready */
	rx_at(2000, node_ack(&n, 0x41, 1));
	assert_u_eq(node_stats(&n).drop_bogus_ack, 4);
	node_check_no_event(&n);
	rx_at(2000, node_ack(&n, 0x1F, 1));
	node_check_completion(&n, 70, RD_WC_SUCCESS);
}

CASE(mt_completer_ack, nak_of_nothing)
{
	start_message(sent, 1);
	rx_at(2000, node_ack(&n, 0x1F, 1));
	rx_at(2000, node_ack(&n, 0x62, 1));
	assert_u_eq(node_stats(&n).drop_bogus_ack, 1);
	assert_i_eq(node_post(&n, n.qp, 71, 2 * MTU, 0), MT_OK);
	rx_at(2000, node_ack(&n, 0x62, 1)); /* nothing of it has been sent yet */
	assert_u_eq(node_stats(&n).drop_bogus_ack, 2);
	rx_at(2000, node_ack(&n, 0x62, 0)); /* of what is complete: too late */
	assert_u_eq(n.qp->state, RD_QPS_RTS);
}

/* REQ(req.error.nak) REQ(req.error.flush) */
CASE(mt_completer_ack, nak_blames_its_request)
{
	static const struct {
		uint8_t syndrome;
		enum rd_wc_status status;
	} rows[] = {{0x61, RD_WC_REM_INV_REQ_ERR},
		    {0x62, RD_WC_REM_ACCESS_ERR},
		    {0x63, RD_WC_REM_OP_ERR},
		    {0x60, RD_WC_FATAL_ERR},
		    {0x64, RD_WC_FATAL_ERR}};
	struct mt_event ev;

	for (int i = 0; i < 5; i++) {
		start_message(sent, 3);
		post_more(2, 0);
		rx_at(2000, node_ack(&n, rows[i].syndrome, 1));
		assert_u_eq(n.qp->state, RD_QPS_ERR);
		node_check_completion(&n, 70, RD_WC_SUCCESS);
		node_check_completion(&n, 71, rows[i].status);
		node_check_completion(&n, 72, RD_WC_WR_FLUSH_ERR);
		assert_true(node_poll(&n, &ev));
		assert_u_eq(ev.type, MT_EVENT_QP);
		assert_u_eq(ev.status, rows[i].status);
		assert_false(ev.responder);
		node_close(&n);
	}
}

CASE(mt_completer_ack, nak_of_a_message_that_is_still_being_sent)
{
	start_message(sent, 1);
	assert_i_eq(node_post(&n, n.qp, 71, 2 * MTU, 0), MT_OK);
	assert_u_eq(node_tx(&n, 1000, sent, 1), 1);
	rx_at(2000, node_ack(&n, 0x62, 1));
	node_check_completion(&n, 70, RD_WC_SUCCESS);
	node_check_completion(&n, 71, RD_WC_REM_ACCESS_ERR);
}

CASE(mt_completer_ack, gives_places_for_immediates_back)
{
	opts.attr.max_wimm = 3;
	start_message(sent, 1);
	post_more(3, RD_SEND_IMM);
	assert_u_eq(n.qp->req.wimm_inflight, 3);
	rx_at(2000, node_ack(&n, 0x1F, 3));
	assert_u_eq(n.qp->req.wimm_inflight, 1);
}

/* ---- the PSN of an ACK ---- */

/* Says that `messages` are complete, and names the i-th PSN. */
static struct mw_packet ack_naming(uint8_t syndrome, uint32_t messages, uint64_t i)
{
	struct mw_packet pkt = node_ack(&n, syndrome, messages);

	pkt.bth.psn = node_wire_psn(i);
	return pkt;
}

static void three_messages(void)
{
	start_message(sent, 1);
	post_more(2, RD_SEND_SIGNALED);
}

/* REQ(req.ack.psn) */
CASE(mt_completer_ack, completes_no_message_that_its_psn_does_not_cover)
{
	three_messages();
	rx_at(2000, ack_naming(MW_ACK_NO_CREDIT, 3, 0));
	node_check_completion(&n, 70, RD_WC_SUCCESS);
	node_check_no_event(&n);
	assert_u_eq(n.qp->req.window.una, node_psn(1));
	rx_at(3000, node_sack(&n, &sent[1], 3)); /* now all of them are there */
	node_check_completion(&n, 71, RD_WC_SUCCESS);
	node_check_completion(&n, 72, RD_WC_SUCCESS);
}

CASE(mt_completer_ack, whose_psn_is_of_another_time)
{
	three_messages();
	rx_at(2000, ack_naming(MW_ACK_NO_CREDIT, 3, 3)); /* not sent yet */
	rx_at(2000, ack_naming(MW_ACK_NO_CREDIT, 3, UINT64_C(1) << 22));
	rx_at(2000, ack_naming(MW_ACK_NO_CREDIT, 3, UINT64_C(3) << 22));
	rx_at(2000, ack_naming(MW_ACK_NO_CREDIT, 3, 0 - (uint64_t)n.qp->attr.mpr * 128 - 2));
	assert_u_eq(node_stats(&n).drop_bogus_ack, 2);
	assert_u_eq(node_stats(&n).acks_stale, 2);
	node_check_no_event(&n);
	assert_u_eq(n.qp->req.acked, 0);
	rx_at(2000, ack_naming(MW_ACK_NO_CREDIT, 3, 0 - (uint64_t)n.qp->attr.mpr * 128 - 1));
	assert_u_eq(n.qp->req.acked, 3); /* what it says waits for SACKs */
	node_check_no_event(&n);
}

/* REQ(req.retry.progress) */
CASE(mt_completer_ack, what_it_says_for_the_first_time_is_progress)
{
	const uint64_t old = 0 - (uint64_t)NODE_PSNS_TO_WRAP;

	three_messages();
	for (uint32_t i = 0; i < 2; i++) {
		n.qp->req.rto.timeouts = 2;
		rx_at(2000, ack_naming(MW_ACK_NO_CREDIT, 3, old)); /* what arrived SACKs will say */
		assert_u_eq(n.qp->req.rto.timeouts, i == 0 ? 0 : 2);
	}
	node_check_no_event(&n);
}

static struct mw_packet ack_without_psn(uint8_t syndrome, uint32_t messages)
{
	struct mw_packet pkt = node_ack(&n, syndrome, messages);

	pkt.bth.psn = 0;
	return pkt;
}

/* Some responders leave the PSN 0: what SACKs say has arrived is then all that completes. */
CASE(mt_completer_ack, without_a_psn_waits_for_sacks)
{
	three_messages();
	rx_at(2000, ack_without_psn(MW_ACK_NO_CREDIT, 2));
	node_check_no_event(&n);
	rx_at(2000, node_sack(&n, &sent[0], 1));
	node_check_completion(&n, 70, RD_WC_SUCCESS);
	node_check_no_event(&n);
	rx_at(2000, node_sack(&n, &sent[0], 3));
	node_check_completion(&n, 71, RD_WC_SUCCESS);
	node_check_no_event(&n); /* of the third nothing was said but that it arrived */
	rx_at(2000, ack_without_psn(MW_ACK_NO_CREDIT, 3));
	node_check_completion(&n, 72, RD_WC_SUCCESS);
	assert_u_eq(node_stats(&n).drop_bogus_ack, 0);
}

CASE(mt_completer_ack, without_a_psn_of_a_peer_that_has_filled_it)
{
	three_messages();
	rx_at(2000, ack_naming(MW_ACK_NO_CREDIT, 1, 0));
	rx_at(2000, ack_without_psn(MW_ACK_NO_CREDIT, 3));
	assert_u_eq(node_stats(&n).drop_bogus_ack, 1);
}

/* REQ(req.ack.psn) */
CASE(mt_completer_ack, nak_before_its_message)
{
	three_messages();
	rx_at(2000, ack_naming(0x62, 2, 0)); /* the message before it has not arrived */
	assert_u_eq(n.qp->state, RD_QPS_RTS);
	assert_u_eq(node_stats(&n).drop_bogus_ack, 1);
	node_check_no_event(&n);
	rx_at(2000, ack_naming(0x62, 2, 1));
	assert_u_eq(n.qp->state, RD_QPS_ERR);
	node_check_completion(&n, 70, RD_WC_SUCCESS);
	node_check_completion(&n, 71, RD_WC_SUCCESS);
	node_check_completion(&n, 72, RD_WC_REM_ACCESS_ERR);
}

/* REQ(req.ack.psn) */
CASE(mt_completer_ack, nak_of_the_oldest_message_from_before_it)
{
	three_messages();
	rx_at(2000, ack_naming(0x62, 0, 0 - UINT64_C(2)));
	assert_u_eq(n.qp->state, RD_QPS_RTS);
	assert_u_eq(node_stats(&n).drop_bogus_ack, 1);
	rx_at(2000, ack_naming(0x62, 0, 0 - UINT64_C(1)));
	assert_u_eq(n.qp->state, RD_QPS_ERR);
}

CASE(mt_completer_ack, nak_without_a_psn)
{
	three_messages();
	rx_at(2000, ack_without_psn(0x62, 1));
	assert_u_eq(n.qp->state, RD_QPS_RTS); /* nobody said that message 0 has arrived */
	rx_at(2000, node_sack(&n, &sent[0], 1));
	rx_at(2000, ack_without_psn(0x62, 1));
	assert_u_eq(n.qp->state, RD_QPS_RTS); /* the peer may be well */
	assert_u_eq(node_stats(&n).drop_bogus_ack, 2);
	node_until_timeout(&n);
	rx_at(mt_engine_deadline(n.engine), ack_without_psn(0x62, 1));
	assert_u_eq(n.qp->state, RD_QPS_ERR);
}

/* Of a peer that sends no SACKs, and whose first answer names PSN 0. */
CASE(mt_completer_ack, nak_that_names_psn_0)
{
	opts.attr.sq_psn = 0xFFFFFF;
	three_messages();
	rx_at(2000, ack_without_psn(0x62, 2));
	assert_u_eq(n.qp->state, RD_QPS_ERR);
	node_check_completion(&n, 70, RD_WC_SUCCESS);
	node_check_completion(&n, 71, RD_WC_SUCCESS);
	node_check_completion(&n, 72, RD_WC_REM_ACCESS_ERR);
}

/* The same of the newest packet, at once and after a timeout. */
static void nak_of_the_last(bool late)
{
	uint64_t now = 2000;

	opts.attr.sq_psn = 0xFFFFFF;
	start();
	for (uint64_t i = 0; i < 2; i++)
		assert_i_eq(node_post(&n, n.qp, 70 + i, 8, RD_SEND_SIGNALED), MT_OK);
	assert_u_eq(node_tx(&n, 1000, sent, 8), 2);
	if (late) {
		node_until_timeout(&n);
		now = 1000000000;
	}
	rx_at(now, ack_without_psn(0x62, 1));
	assert_u_eq(n.qp->state, RD_QPS_ERR);
	node_check_completion(&n, 70, RD_WC_SUCCESS);
	node_check_completion(&n, 71, RD_WC_REM_ACCESS_ERR);
}

CASE(mt_completer_ack, nak_that_names_psn_0_as_the_last)
{
	nak_of_the_last(false);
}

CASE(mt_completer_ack, nak_that_names_psn_0_as_the_last_after_a_timeout)
{
	nak_of_the_last(true);
}

/* ---- with answers to come ---- */

/* A WRITE, a READ and a WRITE have been sent; their wr_ids are 4, 5 and 6. */
static void write_read_write(void)
{
	assert_i_eq(node_post(&n, n.qp, 4, 8, RD_SEND_SIGNALED), MT_OK);
	assert_i_eq(ask(RD_WR_READ, 8, 0), MT_OK);
	assert_i_eq(node_post(&n, n.qp, 6, 8, RD_SEND_SIGNALED), MT_OK);
	peer_has(FIXTURE_EXT);
	assert_u_eq(node_drain(&n, 2000), 3);
}

static void answer_the_read(void)
{
	answer_of(MW_READ_RESPONSE_ONLY, 0, 0, 0, 8, 8);
}

/* REQ(ext.response.complete) */
FIXTURE_TEST(mt_completer_ack, a_read_without_its_answer_holds_up_what_is_behind_it)
{
	write_read_write();
	rx_at(2500, node_ack(&n, 0x1F, 3));
	node_check_completion(&n, 4, RD_WC_SUCCESS);
	node_check_no_event(&n);
	assert_u_eq(n.qp->req.window.una, node_psn(3));
	answer_the_read();
	node_check_completion(&n, 5, RD_WC_SUCCESS);
	node_check_completion(&n, 6, RD_WC_SUCCESS);
	node_check_no_event(&n);
}

/* REQ(ext.response.complete) */
FIXTURE_TEST(mt_completer_ack, an_overtaken_one_does_not_take_back_what_was_said)
{
	write_read_write();
	rx_at(2500, node_ack(&n, 0x1F, 3));
	rx_at(2600, node_ack(&n, 0x1F, 2));
	answer_the_read();
	node_check_completion(&n, 4, RD_WC_SUCCESS);
	node_check_completion(&n, 5, RD_WC_SUCCESS);
	node_check_completion(&n, 6, RD_WC_SUCCESS);
}

FIXTURE_TEST(mt_completer_ack, what_is_held_up_is_progress_once)
{
	write_read_write();
	rx_at(2500, node_ack(&n, 0x1F, 1));
	n.qp->req.rto.timeouts = 2;
	rx_at(2600, node_ack(&n, 0x1F, 2)); /* the peer has the READ */
	assert_u_eq(n.qp->req.rto.timeouts, 0);
	n.qp->req.rto.timeouts = 2;
	rx_at(2700, node_ack(&n, 0x1F, 2));
	assert_u_eq(n.qp->req.rto.timeouts, 2);
	assert_true(n.qp->req.rto.armed); /* its answer is missing */
}

/* REQ(ext.response.nak) */
FIXTURE_TEST(mt_completer_ack, a_nak_waits_for_answers_to_what_was_asked_before)
{
	write_read_write();
	rx_at(2500, node_ack(&n, 0x62, 2)); /* the second WRITE is refused */
	node_check_completion(&n, 4, RD_WC_SUCCESS);
	node_check_no_event(&n);
	assert_u_eq(n.qp->state, RD_QPS_RTS);
	answer_the_read();
	assert_u_eq(n.qp->state, RD_QPS_ERR);
	node_check_completion(&n, 5, RD_WC_SUCCESS);
	node_check_completion(&n, 6, RD_WC_REM_ACCESS_ERR);
}

/* REQ(ext.response.nak) */
FIXTURE_TEST(mt_completer_ack, a_nak_of_the_read_itself_waits_for_nothing)
{
	write_read_write();
	rx_at(2500, node_ack(&n, 0x62, 1));
	node_check_completion(&n, 4, RD_WC_SUCCESS);
	node_check_completion(&n, 5, RD_WC_REM_ACCESS_ERR);
	node_check_completion(&n, 6, RD_WC_WR_FLUSH_ERR);
}

/* REQ(ext.response.complete) */
FIXTURE_TEST(mt_completer_response, an_answer_proves_what_was_before_it)
{
	write_read_write();
	answer_the_read();
	node_check_completion(&n, 4, RD_WC_SUCCESS);
	node_check_completion(&n, 5, RD_WC_SUCCESS);
	node_check_no_event(&n); /* of the second WRITE nothing is known */
	assert_u_eq(n.qp->req.window.una, node_psn(2));
	assert_true(n.qp->req.rto.armed);
	rx_at(4000, node_ack(&n, 0x1F, 3));
	node_check_completion(&n, 6, RD_WC_SUCCESS);
	assert_false(n.qp->req.rto.armed);
}

FIXTURE_TEST(mt_completer_response, starts_the_timeouts_again)
{
	write_read_write();
	n.qp->req.rto.timeouts = 2;
	answer_the_read();
	assert_u_eq(n.qp->req.rto.timeouts, 0);
}

/* REQ(ext.read.limit) */
FIXTURE_TEST(mt_completer_implied_ack, a_peer_that_asks_beyond_its_limit_has_the_oldest_answer)
{
	struct mt_rd_atomic *r = n.qp->ext->rd_atomic;
	struct mt_tx_desc d;
	struct mw_packet p = node_probe(&n, 1);

	p.peth.ext = MW_EXT_VERSION | FIXTURE_EXT;
	rx_at(1000, p);
	for (uint16_t i = 0; i < FIXTURE_AT_ONCE + 1; i++) {
		assert_u_eq(r->qp.req.sq.done, i < FIXTURE_AT_ONCE ? 0 : i - FIXTURE_AT_ONCE);
		p = node_write(&n, MW_READ_REQUEST, i, i, 0, 0);
		p.data.imm = 8;
		rx_at(2000, p);
		assert_true(node_tx_opcode(&n, 2000, MW_READ_RESPONSE_ONLY, &d));
	}
	assert_u_eq(r->qp.req.sq.done, 1); /* no ACK of it came */
	assert_u_eq(r->qp.req.sq.tail, FIXTURE_AT_ONCE + 1);
}

/* REQ(req.retry.progress) */
FIXTURE_TEST(mt_completer_implied_ack, is_progress_only_when_something_completes)
{
	opts.cap.sq_depth = 4;
	node_close(&n);
	start();
	for (uint64_t i = 0; i < 4; i++)
		assert_i_eq(node_post(&n, n.qp, 70 + i, MTU, RD_SEND_SIGNALED), MT_OK);
	peer_has(FIXTURE_EXT);
	assert_u_eq(node_tx(&n, 2000, sent, 2), 2); /* the rest of a full queue waits */
	n.qp->req.rto.timeouts = 2;
	mt_completer_implied_ack(n.qp, 0, 2500);
	assert_u_eq(n.qp->req.rto.timeouts, 2);
	node_check_no_event(&n);
	mt_completer_implied_ack(n.qp, 1, 2500);
	assert_u_eq(n.qp->req.rto.timeouts, 0);
	node_check_completion(&n, 70, RD_WC_SUCCESS);
	node_check_no_event(&n);
}

/* REQ(ext.agreement) REQ(req.retry.progress) */
FIXTURE_TEST(mt_completer_sack, the_answer_to_the_first_probe_is_progress)
{
	assert_i_eq(ask(RD_WR_READ, 8, 0), MT_OK);
	n.qp->req.rto.timeouts = 2;
	peer_has(FIXTURE_EXT);
	assert_u_eq(n.qp->req.rto.timeouts, 0);
}

/* REQ(ext.rnr.wait) */
/* REQ(ext.agreement) REQ(req.probe.tail) */
FIXTURE_TEST(mt_qp_negotiate, timers_watch_and_each_timeout_asks_again)
{
	assert_i_eq(ask(RD_WR_SEND, 8, 0), MT_OK);
	assert_true(mb_timer_is_armed(&n.qp->timer));
	assert_true(node_until_timeout(&n) > 0);
}

FIXTURE_TEST(mt_completer_nack, while_a_peer_without_a_receive_is_waited_for_timers_watch)
{
	struct mw_packet nack;

	n.qp->attr.rnr_retry = MT_RNR_FOREVER;
	assert_i_eq(ask(RD_WR_SEND, 8, 0), MT_OK);
	peer_has(FIXTURE_EXT);
	assert_u_eq(node_tx(&n, 2000, sent, SENT_MAX), 1);
	nack = node_nack(&n, &sent[0], MW_NACK_RNR);
	nack.neth.vendor_info = 1; /* 10 us */
	rx_at(3000, nack);
	assert_true(n.qp->req.rto.armed);
	assert_u_eq(node_tx(&n, 3000, sent, SENT_MAX), 0);
	mt_engine_tick(n.engine, 3000 + 10000 - 1);
	assert_u_eq(node_tx(&n, 3000 + 10000 - 1, sent, SENT_MAX), 0);
	mt_engine_tick(n.engine, 3000 + 10000);
	assert_u_eq(n.qp->req.rto.step_ns, 3000 + 10000); /* the wait was no silence */
	assert_u_eq(node_tx(&n, 3000 + 10000, sent, SENT_MAX), 1);
	assert_true(sent[0].pkt.bth.rtx);
}
