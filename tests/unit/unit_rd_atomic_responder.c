/* SPDX-License-Identifier: BSD-2-Clause */
/* The peer's READs and atomics, as packets made by hand, and what goes back. */
#include "asking_fixture.h"

static void agree(void)
{
	struct mw_packet p = node_probe(&n, 1);

	p.peth.ext = MW_EXT_VERSION | MW_EXT_SEND | MW_EXT_READ | MW_EXT_ATOMIC;
	node_rx(&n, 1000, &p);
}

/* The i-th packet, which is the i-th request. */
static struct mw_packet request(uint8_t opcode, uint16_t i, uint64_t offset, uint32_t length)
{
	uint32_t payload = opcode == MW_READ_REQUEST ? 0 : MW_ATOMIC_BYTES;
	struct mw_packet p = node_write(&n, opcode, i, i, payload, payload);

	p.data.reth.va = NODE_MR_START + offset;
	p.data.imm = length;
	return p;
}

/* REQ(ext.response.space) REQ(ext.response.place) */
FIXTURE_TEST(mt_rd_atomic_execute, a_read_in_packets_of_its_own)
{
	struct mw_packet p = request(MW_READ_REQUEST, 0, 77, 300);
	struct mt_tx_desc d;

	agree();
	node_rx(&n, 2000, &p);
	assert_true(node_tx_opcode(&n, 2000, MW_READ_RESPONSE_FIRST, &d));
	assert_u_eq(d.pkt.bth.psn, n.opts.attr.rq_psn);
	assert_u_eq(d.pkt.payload_len, 256);
	assert_u_eq(d.pkt.data.reth.va, 0);
	assert_u_eq(d.pkt.data.reth.rkey, 0);
	assert_u_eq(d.pkt.data.reth.dmalen, 300);
	assert_u_eq(d.sge[0].addr, NODE_MR_START + 77);
	assert_u_eq(d.sge[0].lkey, NODE_KEY);
	assert_true(node_tx_opcode(&n, 2000, MW_READ_RESPONSE_LAST, &d));
	assert_u_eq(d.pkt.data.reth.va, 256);
	assert_u_eq(d.pkt.payload_len, 44);
}

/* go_on counts the packets with this opcode that leave until end_ns, and notes one of them. */
static uint32_t go_on(uint64_t end_ns, uint8_t opcode, struct mt_tx_desc *one)
{
	struct mt_tx_desc d;
	uint32_t all = 0;

	for (uint64_t now = 3000; now < end_ns; now = mt_engine_deadline(n.engine)) {
		mt_engine_tick(n.engine, now);
		while (node_tx(&n, now, &d, 1) == 1) {
			if (d.pkt.bth.opcode != opcode)
				continue;
			all++;
			*one = d;
		}
	}
	return all;
}

/*
 * However long the requester is silent it is only asked what it has: the memory of an answer that
 * it has may be gone by then. What it lacks it gets. REQ(ext.response.resend)
 */
FIXTURE_TEST(mt_rd_atomic_execute, an_answer_goes_again_only_when_it_is_missed)
{
	const uint64_t s = 1000000000;
	struct mw_packet p = request(MW_READ_REQUEST, 0, 77, 300), sack;
	struct mt_tx_desc d, probe;
	uint64_t now = 5 * s;

	agree();
	node_rx(&n, 2000, &p);
	while (node_tx(&n, 2000, &d, 1) == 1)
		;
	assert_u_between(go_on(4 * s, MW_RESPONSE_PROBE, &probe), 10, 1000);
	assert_u_eq(node_stats(&n).tx_retransmits, 0);
	assert_u_eq(n.qp->state, RD_QPS_RTS);
	sack = node_sack(&n, &probe, 0);
	sack.bth.opcode = MW_RESPONSE_SACK;
	sack.seth.pr = true;
	sack.seth.probe_id = probe.pkt.peth.probe_id;
	node_rx(&n, now, &sack);
	assert_true(node_tx_opcode(&n, now, MW_READ_RESPONSE_FIRST, &d));
	assert_true(d.pkt.bth.rtx);
}

/* REQ(ext.response.resend) REQ(req.probe.tail) */
FIXTURE_TEST(mt_rd_atomic_execute, each_timeout_asks_what_the_requester_has)
{
	struct mw_packet p = request(MW_READ_REQUEST, 0, 77, 300);

	agree();
	node_rx(&n, 2000, &p);
	node_drain(&n, 2000);
	assert_true(node_until_timeout(&n) > 0);
}

/* REQ(ext.request.order) */
FIXTURE_TEST(mt_rd_atomic_execute, in_order_whatever_comes_first)
{
	struct mw_packet read = request(MW_READ_REQUEST, 1, 0, 10);
	struct mw_packet add = request(MW_FETCH_ADD, 0, 8, 0);
	struct mt_tx_desc d;

	agree();
	node_rx(&n, 2000, &read);
	assert_false(node_tx_opcode(&n, 2000, MW_READ_RESPONSE_ONLY, &d));
	node_rx(&n, 3000, &add);
	assert_true(node_tx_opcode(&n, 3000, MW_ATOMIC_RESPONSE, &d));
	assert_u_eq(d.pkt.data.meth.msn, 0);
	assert_true(node_tx_opcode(&n, 3000, MW_READ_RESPONSE_ONLY, &d));
	assert_u_eq(d.pkt.data.meth.msn, 1);
}

static int in_order(void **state)
{
	asking_defaults(state);
	opts.cap.in_order = true;
	start();
	return 0;
}

/* A request is copied out of its frame: it needs no buffer for packets that wait. */
TEST_WITH(in_order, close_node, mt_rd_atomic_queue_req, keeps_no_memory_of_the_pool)
{
	struct mw_packet write = node_write(&n, MW_WRITE_ONLY, 0, 0, 0, 0);
	struct mw_packet add = request(MW_FETCH_ADD, 1, 8, 0);
	struct mt_tx_desc d;
	size_t before;

	agree();
	node_rx(&n, 2000, &add);
	node_rx(&n, 3000, &write);
	assert_true(node_tx_opcode(&n, 3000, MW_ATOMIC_RESPONSE, &d));
	before = mt_engine_memory_used(n.engine);
	write = node_write(&n, MW_WRITE_ONLY, 2, 2, 0, 0);
	add = request(MW_FETCH_ADD, 3, 8, 0);
	node_rx(&n, 4000, &add);
	assert_u_eq(mt_engine_memory_used(n.engine), before);
	node_rx(&n, 5000, &write);
	assert_true(node_tx_opcode(&n, 5000, MW_ATOMIC_RESPONSE, &d));
	assert_u_eq(mt_engine_memory_used(n.engine), before);
}

/* REQ(ext.atomic.once) */
FIXTURE_TEST(mt_rd_atomic_execute, a_doubled_atomic_happens_once)
{
	struct mw_packet add = request(MW_FETCH_ADD, 0, 8, 0);
	uint64_t once, twice;

	agree();
	node_rx(&n, 2000, &add);
	memcpy(&once, n.memory + 8, 8);
	assert_true(once != 0);
	node_rx(&n, 3000, &add);
	memcpy(&twice, n.memory + 8, 8);
	assert_u_eq(twice, once);
	assert_u_eq(node_stats(&n).rx_requests, 1);
}

static void refused(struct mw_packet p, uint8_t syndrome)
{
	struct mt_tx_desc d;

	agree();
	node_rx(&n, 2000, &p);
	assert_true(node_tx_opcode(&n, 2000, MW_ACK, &d));
	assert_u_eq(d.pkt.aeth.syndrome, syndrome);
	assert_u_eq(n.qp->state, RD_QPS_ERR);
}

/* REQ(ext.read.access) */
FIXTURE_TEST(mt_rd_atomic_execute, a_read_beyond_the_region)
{
	refused(request(MW_READ_REQUEST, 0, NODE_MR_BYTES - 9, 10), MW_NAK_REMOTE_ACCESS);
}

/* REQ(ext.atomic.aligned) */
FIXTURE_TEST(mt_rd_atomic_execute, an_atomic_askew)
{
	refused(request(MW_FETCH_ADD, 0, 4, 0), MW_NAK_INVALID_REQUEST);
}

FIXTURE_TEST(mt_rd_atomic_execute, an_atomic_on_memory_that_is_gone)
{
	n.memory_gone = true;
	refused(request(MW_COMPARE_SWAP, 0, 8, 0), MW_NAK_REMOTE_OP);
}

FIXTURE_TEST(mt_rd_atomic_check_req, payload_that_is_none)
{
	struct mw_packet p = request(MW_READ_REQUEST, 0, 0, 10);

	agree();
	p.payload_len = p.data.reth.dmalen = 4;
	node_rx(&n, 2000, &p);
	p = request(MW_FETCH_ADD, 0, 0, 0);
	p.payload_len = p.data.reth.dmalen = 8;
	node_rx(&n, 2000, &p);
	assert_u_eq(node_stats(&n).drop_malformed, 2);
}

/* An accepted request is not asked for again, so that one without memory is refused first. */
FIXTURE_TEST(mt_rd_atomic_check_req, no_memory_for_the_answer)
{
	struct mw_packet p = request(MW_READ_REQUEST, 0, 0, 10);
	struct mt_tx_desc d;

	agree();
	node_drain(&n, 1000);
	node_exhaust(&n);
	node_rx(&n, 2000, &p);
	assert_u_eq(node_stats(&n).drop_no_memory, 1);
	assert_u_eq(n.qp->rsp.window.expected, node_psn(0));
	assert_true(node_tx_opcode(&n, 2000, MW_NACK, &d));
	assert_u_eq(d.pkt.neth.reason, MW_NACK_NO_RESOURCE);
	mt_engine_add_memory(n.engine, engine_node_block(&n.base, 1 << 16), 1 << 16);
	node_rx(&n, 3000, &p);
	assert_true(node_tx_opcode(&n, 3000, MW_READ_RESPONSE_ONLY, &d));
}

/* REQ(ext.read.access) */
FIXTURE_TEST(mt_rd_atomic_execute, a_read_of_nothing_needs_no_key)
{
	struct mw_packet p = request(MW_READ_REQUEST, 0, 0, 0);
	struct mt_tx_desc d;

	agree();
	p.data.reth.rkey = 0;
	node_rx(&n, 2000, &p);
	assert_true(node_tx_opcode(&n, 2000, MW_READ_RESPONSE_ONLY, &d));
	assert_u_eq(d.n_sge, 0);
	assert_u_eq(d.pkt.payload_len, 0);
}

/* REQ(ext.read.limit) */
FIXTURE_TEST(mt_rd_atomic_queue_req, no_more_wait_than_were_agreed_on)
{
	agree();
	for (uint16_t i = 1; i <= FIXTURE_AT_ONCE + 1; i++) {
		struct mw_packet p = request(MW_READ_REQUEST, i, 0, 10);

		node_rx(&n, 2000, &p);
		assert_u_eq(n.qp->ext->rd_atomic->n_queued,
			    i < FIXTURE_AT_ONCE ? i : FIXTURE_AT_ONCE);
	}
}

/* REQ(ext.request.order) */
FIXTURE_TEST(mt_rd_atomic_next_req, before_a_refused_message_and_none_behind_it)
{
	struct mw_packet before = request(MW_READ_REQUEST, 1, 0, 10);
	struct mw_packet refused = node_write(&n, MW_WRITE_ONLY, 2, 2, 4, 4);
	struct mw_packet behind = request(MW_READ_REQUEST, 3, 0, 10);
	struct mw_packet hole = node_write(&n, MW_WRITE_ONLY, 0, 0, 4, 4);
	struct mt_tx_desc d;

	agree();
	refused.data.reth.rkey ^= 1;
	node_rx(&n, 2000, &behind);
	node_rx(&n, 2000, &before);
	node_rx(&n, 2000, &refused);
	node_rx(&n, 3000, &hole);
	assert_u_eq(n.qp->state, RD_QPS_ERR);
	assert_true(node_tx_opcode(&n, 3000, MW_READ_RESPONSE_ONLY, &d));
	assert_u_eq(d.pkt.data.meth.msn, 0);
	assert_false(node_tx_opcode(&n, 3000, MW_READ_RESPONSE_ONLY, &d));
}
