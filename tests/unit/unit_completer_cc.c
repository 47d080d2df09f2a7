/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What congestion control is told: of lost packets each once, of which kind, and how large; of
 * round trips those that count.
 */
#include "core/qp/halves.h"
#include "unit/node_fixture.h"

#define MAX 64u
#define NOMINAL (MTU + MT_NOMINAL_HEADER)

static struct mt_tx_desc sent[MAX];
static const struct mt_cc_ops *real;
static struct {
	unsigned losses;
	enum mt_cc_loss_kind kind;
	uint64_t now_ns;
	uint32_t bytes;
	uint64_t rtt_ns; /* with the last SACK */
} told;

static void note_loss(struct mt_cc *cc, uint64_t now_ns, enum mt_cc_loss_kind kind, uint32_t bytes)
{
	told.losses++;
	told.kind = kind;
	told.now_ns = now_ns;
	told.bytes = bytes;
	real->loss(cc, now_ns, kind, bytes);
}

static void note_ack(struct mt_cc *cc, const struct mt_cc_ack *ack)
{
	told.rtt_ns = ack->rtt_ns;
	real->ack(cc, ack);
}

/* The QP's algorithm, with a listener before it. */
static void listen(void)
{
	static struct mt_cc_ops ops;

	memset(&told, 0, sizeof(told));
	real = n.qp->req.cc.ops;
	ops = *real;
	ops.loss = note_loss;
	ops.ack = note_ack;
	n.qp->req.cc.ops = &ops;
}

static void check_told(unsigned losses, enum mt_cc_loss_kind kind, uint64_t now_ns)
{
	assert_u_eq(told.losses, losses);
	assert_u_eq(told.kind, kind);
	assert_u_eq(told.now_ns, now_ns);
	assert_u_eq(told.bytes, NOMINAL);
}

static int short_window(void **state)
{
	defaults(state);
	opts.cfg.timing.reorder_min_ns = opts.cfg.timing.reorder_max_ns = 5000;
	return 0;
}

#define CASE(function, name) TEST_WITH(short_window, close_node, function, name)

CASE(mt_completer_sack, tells_of_each_hole_once)
{
	struct mt_tx_desc late[8];
	struct mw_packet sack;

	start();
	listen();
	assert_i_eq(node_post(&n, n.qp, 70, 16 * MTU, RD_SEND_SIGNALED), MT_OK);
	assert_u_eq(node_tx(&n, 1000, sent, 8), 8);
	assert_u_eq(node_tx(&n, 7000, late, 8), 8);
	sack = node_sack(&n, &late[0], 0);
	sack.seth.sack_bitmap = 0x1FF & ~0x5Cu;
	rx_at(8000, sack);
	check_told(4, MT_CC_INFERRED, 8000);
	rx_at(8100, sack);
	assert_u_eq(told.losses, 4);
}

CASE(mt_completer_nack, tells_of_a_trimmed_packet)
{
	start_message(sent, 4);
	listen();
	rx_at(2000, node_nack(&n, &sent[1], MW_NACK_TRIMMED));
	check_told(1, MT_CC_TRIMMED, 2000);
	rx_at(2100, node_nack(&n, &sent[1], MW_NACK_TRIMMED)); /* is not outstanding any more */
	assert_u_eq(told.losses, 1);
}

CASE(mt_completer_nack, tells_of_a_packet_without_room)
{
	start_message(sent, 4);
	listen();
	rx_at(2000, node_nack(&n, &sent[2], MW_NACK_NO_PKT_BUFFER));
	check_told(1, MT_CC_NACKED, 2000);
}

CASE(mt_qp_tick, tells_of_what_a_timeout_gives_up)
{
	uint64_t now = 1000;

	start_message(sent, 2);
	listen();
	while (node_stats(&n).timeouts == 0) {
		now = mt_engine_deadline(n.engine);
		mt_engine_tick(n.engine, now);
		node_drain(&n, now);
	}
	check_told(1, MT_CC_INFERRED, now);
}

/* REQ(req.ev.late) */
CASE(mt_completer_sack, tells_of_no_round_trip_of_an_ev_that_is_left_behind)
{
	start_message(sent, 8);
	listen();
	mt_rtt_sample(&n.qp->req.rtt, 2000);
	for (unsigned i = 0; i < 2; i++) {
		mt_qp_retire_ev_group(n.qp, mt_tx_rec(&n.qp->req.window, node_psn(i))->ev, 1000,
				      MT_EV_BY_LOSS);
		rx_at(1000 + 7000 + i, node_sack(&n, &sent[i], i + 1));
		n.qp->req.rtt.smoothed_ns = 2000;
		assert_u_eq(told.rtt_ns, i == 0 ? 7000 : 0);
	}
}
