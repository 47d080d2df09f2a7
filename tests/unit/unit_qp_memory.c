/* SPDX-License-Identifier: BSD-2-Clause */
/* When windows are taken from the pool, and that they go back. */
#include <stdlib.h>

#include "core/ext/ext.h"
#include "unit/node_fixture.h"

#define IDLE_NS 1000000u
#define MANY 1000u

static struct mt_qp *qps[MANY];

static int idle_soon(void **state)
{
	defaults(state);
	opts.cfg.timing.idle_ns = IDLE_NS;
	opts.cfg.max_qps = 2048;
	opts.cap = (struct mt_qp_cap){.sq_depth = 1, .rq_depth = 1, .max_sge = 1, .pd = NODE_PD};
	return 0;
}

#define CASE(function, name) TEST_WITH(idle_soon, close_node, function, name)

static size_t used(void)
{
	return mt_engine_memory_used(n.engine);
}

/* The whole exchange of one WRITE of one packet that qp sends. */
static void send(struct mt_qp *qp, uint64_t now)
{
	struct mt_tx_desc d;
	struct mt_event ev;
	struct mw_packet sack, ack = node_ack(&n, 0x1F, 1);

	assert_i_eq(mt_qp_post_recv(qp, 1), MT_OK);
	assert_i_eq(node_post(&n, qp, 1, MTU, RD_SEND_SIGNALED), MT_OK);
	assert_u_eq(node_tx(&n, now, &d, 1), 1);
	sack = node_sack(&n, &d, 1);
	sack.bth.dqp = ack.bth.dqp = qp->qpn;
	node_rx(&n, now, &sack);
	node_rx(&n, now, &ack);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.status, RD_WC_SUCCESS);
}

static void receive(struct mt_qp *qp, uint64_t now, uint64_t i, uint8_t opcode)
{
	struct mw_packet pkt = node_write(&n, opcode, i, (uint16_t)i, MTU, MTU);

	pkt.bth.dqp = qp->qpn;
	node_rx(&n, now, &pkt);
	node_drain(&n, now);
}

/* So many rounds of the clock. */
static void idle_for(unsigned rounds)
{
	while (rounds-- > 0)
		mt_memory_tick(n.engine, mt_memory_deadline(n.engine));
}

/* Two rounds of the clock: one takes the marks of use away, one the windows. */
static void idle(void)
{
	for (int i = 0; i < 1000 && mt_engine_deadline(n.engine) != UINT64_MAX; i++)
		mt_engine_tick(n.engine, mt_engine_deadline(n.engine));
	node_drain(&n, 0);
}

/* REQ(mem.idle) */
CASE(mt_qp_ensure_records, at_the_first_post_only)
{
	size_t before;

	start();
	before = used();
	send(n.qp, 1000);
	assert_non_null(n.qp->req.window.recs);
	assert_null(n.qp->rsp.window.received);
	assert_null(n.qp->rsp.stash.slots);
	/* 16 bytes a PSN; the place in the rotation, and counts of each port. REQ(mem.records) */
	assert_u_eq(used() - before, 16u * 128 * opts.attr.mpr + 128);
	idle();
	assert_null(n.qp->req.window.recs);
	assert_u_eq(used(), before);
}

/* REQ(mem.records) */
CASE(mt_qp_ensure_records, both_blocks_or_none)
{
	size_t before, records = sizeof(struct mt_tx_rec) * 128;

	start();
	node_exhaust(&n);
	before = used();
	mt_engine_add_memory(n.engine, engine_node_block(&n.base, records), records);
	assert_false(mt_qp_ensure_records(n.qp, 1000));
	assert_u_eq(used(), before);
	assert_true(mt_engine_memory_wanted(n.engine) < records); /* the second is missing */
	engine_node_grow(&n.base);
	assert_true(mt_qp_ensure_records(n.qp, 1000));
}

/* REQ(mem.idle) */
CASE(mt_qp_ensure_bitmaps, at_the_first_packet_and_the_stash_at_the_first_immediate)
{
	struct mt_event ev;

	start();
	receive(n.qp, 1000, 0, MW_WRITE_ONLY);
	assert_non_null(n.qp->rsp.window.received);
	assert_null(n.qp->rsp.stash.slots);
	assert_null(n.qp->req.window.recs);
	assert_i_eq(mt_qp_post_recv(n.qp, 1), MT_OK);
	receive(n.qp, 1000, 1, MW_WRITE_ONLY_IMM);
	assert_non_null(n.qp->rsp.stash.slots);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_RECV);
}

/* REQ(mem.idle) */
CASE(mt_memory_tick, gives_back_what_a_thousand_qps_used)
{
	size_t before;

	start();
	for (uint32_t i = 0; i < MANY; i++)
		qps[i] = node_add_qp(&n, n.qpn + 1 + i, n.peer_qpn, &n);
	before = used();
	for (uint32_t i = 0; i < MANY; i++) {
		send(qps[i], 1000);
		receive(qps[i], 1000, 0, MW_WRITE_ONLY);
	}
	assert_u_eq(n.engine->receivers, MANY);
	assert_true(used() > before + MANY * 16 * 128);
	idle();
	assert_u_eq(used(), before);
	assert_u_eq(n.engine->receivers, 0);
	assert_u_eq(mt_engine_deadline(n.engine), UINT64_MAX);
}

/* REQ(mem.idle) */
CASE(mt_memory_tick, a_qp_goes_on_where_it_was)
{
	start();
	receive(n.qp, 1000, 0, MW_WRITE_ONLY);
	idle();
	assert_null(n.qp->rsp.window.received);
	receive(n.qp, 5000000, 0, MW_WRITE_ONLY); /* a duplicate needs no window */
	assert_null(n.qp->rsp.window.received);
	assert_u_eq(node_stats(&n).rx_duplicates, 1);
	receive(n.qp, 5000000, 1, MW_WRITE_ONLY);
	assert_u_eq(n.qp->rsp.msn, 2);
	assert_u_eq(n.placed, 2);
}

CASE(mt_memory_tick, not_while_something_is_missing_or_outstanding)
{
	start();
	receive(n.qp, 1000, 1, MW_WRITE_ONLY_IMM); /* 0 is missing */
	assert_i_eq(node_post(&n, n.qp, 1, MTU, 0), MT_OK);
	for (uint64_t t = 1; t < 10; t++)
		mt_memory_tick(n.engine, t * IDLE_NS + 2000);
	assert_non_null(n.qp->req.window.recs);
	assert_non_null(n.qp->rsp.window.received);
	assert_non_null(n.qp->rsp.stash.slots);
}

CASE(mt_memory_tick, not_while_in_use)
{
	start();
	for (uint64_t t = 0; t < 10; t++) {
		receive(n.qp, t * IDLE_NS + 1000, t, MW_WRITE_ONLY);
		mt_memory_tick(n.engine, (t + 1) * IDLE_NS + 1000);
		assert_non_null(n.qp->rsp.window.received);
	}
}

CASE(mt_memory_tick, not_the_records_of_a_qp_that_sends_now_and_then)
{
	start();
	for (uint64_t t = 0; t < 10; t++) {
		assert_true(mt_qp_ensure_records(n.qp, t * IDLE_NS + 1000));
		mt_memory_tick(n.engine, (t + 1) * IDLE_NS + 1000);
		assert_non_null(n.qp->req.window.recs);
	}
}

/* READs of the peer that wait for what is before them have their records. */
CASE(mt_memory_tick, of_a_qp_that_answers_reads)
{
	struct mt_rd_atomic *r;

	opts.cap.extensions = MW_EXT_READ;
	opts.attr.max_dest_rd_atomic = 2;
	start();
	r = n.qp->ext->rd_atomic;
	assert_true(mt_qp_ensure_records(&r->qp, 1000));
	r->n_queued = 1;
	idle_for(3);
	assert_non_null(r->qp.req.window.recs);
	r->n_queued = 0;
	idle_for(3);
	assert_null(r->qp.req.window.recs);
}

CASE(mt_memory_deadline, a_period_after_the_first_that_takes_memory)
{
	struct mt_qp *other;

	start();
	other = node_add_qp(&n, n.qpn + 1, n.peer_qpn, &n);
	assert_u_eq(mt_memory_deadline(n.engine), MB_NEVER);
	assert_true(mt_qp_ensure_records(n.qp, 1000));
	assert_u_eq(mt_memory_deadline(n.engine), 1000 + IDLE_NS);
	assert_true(mt_qp_ensure_records(other, 5000));
	assert_u_eq(mt_memory_deadline(n.engine), 1000 + IDLE_NS);
	mt_memory_tick(n.engine, 1000 + IDLE_NS);
	assert_u_eq(mt_memory_deadline(n.engine), 1000 + 2 * IDLE_NS);
	mt_memory_tick(n.engine, 1000 + 2 * IDLE_NS);
	assert_u_eq(mt_memory_deadline(n.engine), MB_NEVER);
	assert_true(mt_qp_ensure_records(other, 7 * IDLE_NS));
	assert_u_eq(mt_memory_deadline(n.engine), 8 * IDLE_NS);
}

/* Of one tick, however many QPs there are. */
#define VISITS 256u
#define PARTS 16u

/* So many QPs take memory at 1000. */
static void use(uint32_t count)
{
	start();
	for (uint32_t i = 0; i < count; i++) {
		qps[i] = node_add_qp(&n, n.qpn + 1 + i, n.peer_qpn, &n);
		while (!mt_qp_ensure_records(qps[i], 1000))
			engine_node_grow(&n.base);
	}
}

static uint32_t count_used(uint32_t count)
{
	uint32_t marked = 0;

	for (uint32_t i = 0; i < count; i++)
		marked += qps[i]->used;
	return marked;
}

CASE(mt_memory_tick, a_long_round_goes_on_a_sixteenth_of_its_time_later)
{
	uint64_t now = 1000 + IDLE_NS;

	use(VISITS + 50);
	mt_memory_tick(n.engine, now);
	assert_u_eq(count_used(VISITS + 50), 50);
	now += IDLE_NS / PARTS;
	assert_u_eq(mt_memory_deadline(n.engine), now);
	mt_memory_tick(n.engine, now);
	assert_u_eq(count_used(VISITS + 50), 0);
	assert_u_eq(n.engine->n_window_owners, VISITS + 50);
	now += IDLE_NS;
	assert_u_eq(mt_memory_deadline(n.engine), now);
	mt_memory_tick(n.engine, now);
	assert_u_eq(n.engine->n_window_owners, 50);
	assert_u_eq(mt_memory_deadline(n.engine), now + IDLE_NS / PARTS);
}

CASE(mt_memory_tick, a_round_is_no_longer_than_there_are_qps_left)
{
	struct rd_qp_attr reset = {.state = RD_QPS_RESET};
	uint64_t now = 1000 + IDLE_NS;

	use(VISITS + 50);
	mt_memory_tick(n.engine, now);
	for (uint32_t i = 0; i < VISITS + 40; i++)
		assert_i_eq(node_modify(&n, qps[i], &reset, RD_QP_STATE), MT_OK);
	assert_u_eq(n.engine->n_window_owners, 10);
	now = mt_memory_deadline(n.engine);
	mt_memory_tick(n.engine, now);
	assert_u_eq(mt_memory_deadline(n.engine), now + IDLE_NS);
	for (uint32_t i = VISITS + 40; i < VISITS + 50; i++)
		assert_i_eq(node_modify(&n, qps[i], &reset, RD_QP_STATE), MT_OK);
	assert_u_eq(mt_memory_deadline(n.engine), MB_NEVER);
	assert_true(mt_qp_ensure_records(n.qp, now));
	mt_memory_tick(n.engine, now + IDLE_NS);
	assert_u_eq(mt_memory_deadline(n.engine), now + 2 * IDLE_NS);
}

CASE(mt_memory_tick, in_error_everything_goes)
{
	struct rd_qp_attr err = {.state = RD_QPS_ERR};
	size_t before;

	opts.cap.extensions = MW_EXT_SEND;
	opts.cap.in_order = true;
	start();
	before = used();
	receive(n.qp, 1000, 1, MW_WRITE_ONLY);
	receive(n.qp, 1000, 3, MW_WRITE_ONLY_IMM);
	assert_u_eq(n.qp->ext->in_order.count, 2);
	assert_non_null(n.qp->rsp.stash.slots);
	assert_i_eq(node_post(&n, n.qp, 1, MTU, 0), MT_OK);
	node_drain(&n, 1000);
	assert_i_eq(node_modify(&n, n.qp, &err, RD_QP_STATE), MT_OK);
	idle();
	assert_u_eq(used(), before);
}

/* One of everything that a QP takes memory for. */
CASE(mt_qp_free_memory, reset_gives_everything_back)
{
	struct rd_qp_attr reset = {.state = RD_QPS_RESET};
	size_t before;

	opts.cap.extensions = MW_EXT_SEND;
	opts.cap.in_order = true;
	node_open(&n, &opts, 0);
	before = used();
	node_connect(&n);
	receive(n.qp, 1000, 1, MW_WRITE_ONLY);
	receive(n.qp, 1000, 3, MW_WRITE_ONLY_IMM);
	assert_i_eq(node_post(&n, n.qp, 1, MTU, 0), MT_OK);
	assert_u_eq(n.qp->ext->in_order.count, 2);
	assert_true(n.qp->req.window.recs && n.qp->rsp.window.received && n.qp->rsp.stash.slots);
	assert_i_eq(node_modify(&n, n.qp, &reset, RD_QP_STATE), MT_OK);
	assert_u_eq(used(), before);
	assert_u_eq(n.engine->n_window_owners, 0);
	assert_u_eq(n.engine->receivers, 0);
}

/* REQ(ext.order.bound) */
CASE(mt_qp_alloc_buffered, as_many_as_may_wait)
{
	const size_t room = 1 << 20;

	opts.cap.extensions = MW_EXT_SEND;
	opts.cap.in_order = true;
	opts.attr.mpr_dest = 3;
	start();
	mt_engine_add_memory(n.engine, engine_node_block(&n.base, room), room);
	for (uint32_t i = 1; i <= MT_IN_ORDER_MAX; i++)
		receive(n.qp, 1000, i, MW_WRITE_ONLY);
	assert_u_eq(n.qp->ext->in_order.count, MT_IN_ORDER_MAX);
	assert_u_eq(node_stats(&n).drop_no_memory, 0);
	receive(n.qp, 1000, MT_IN_ORDER_MAX + 1, MW_WRITE_ONLY);
	assert_u_eq(n.qp->ext->in_order.count, MT_IN_ORDER_MAX);
	assert_u_eq(node_stats(&n).drop_no_memory, 1);
}

/* REQ(ext.order.bound) */
CASE(mt_qp_alloc_buffered, fewer_than_are_left_for_others)
{
	opts.cap.extensions = MW_EXT_SEND;
	opts.cap.in_order = true;
	opts.cfg.max_buffered = 8;
	start();
	for (uint32_t i = 1; i <= 8; i++)
		receive(n.qp, 1000, i, MW_WRITE_ONLY);
	assert_u_eq(n.qp->ext->in_order.count, 4);
	assert_u_eq(node_stats(&n).drop_no_buffer, 4);
}

/* REQ(mem.qp-size) */
CASE(mt_qp_size, an_idle_connected_qp_takes_less_than_a_kibibyte)
{
	size_t before;

	start();
	before = used();
	node_add_qp(&n, n.qpn + 1, n.peer_qpn, &n); /* to the same destination */
	assert_u_eq(used(), before);
	assert_u_between(mt_qp_size(&opts.cap), 256, 1024);
}
