/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers to our READs and atomics, as packets made by hand. */
#include "asking_bed.h"

static struct mt_sge sge;

static int ask(enum mt_wr_opcode opcode, uint32_t length, uint32_t flags)
{
	struct mt_send_wr wr = {.wr_id = 5,
				.sge = &sge,
				.n_sge = 1,
				.flags = flags | MT_WR_SIGNALED,
				.rkey = 0x1234,
				.remote_addr = 64,
				.opcode = opcode,
				.compare_add = 7};

	sge = (struct mt_sge){.addr = NODE_MR_START + 100, .length = length, .lkey = NODE_KEY};
	return mt_qp_post_send(n.qp, 1000, &wr);
}

/* The peer says that it has all that we have. */
static void agree(void)
{
	struct mt_tx_desc probe;
	struct mw_packet p;

	assert_true(node_tx_opcode(&n, 1000, MW_PROBE, &probe));
	p = node_sack(&n, &probe, 0);
	p.seth.pr = true;
	p.seth.probe_id = probe.pkt.peth.probe_id;
	p.seth.ext = MW_EXT_VERSION | MW_EXT_SEND | MW_EXT_READ | MW_EXT_ATOMIC;
	node_rx(&n, 2000, &p);
}

/* Answers' PSNs begin with that of our requests. */
static void answer(uint8_t opcode, uint32_t i, uint64_t va, uint32_t len, uint32_t whole)
{
	struct mw_packet p = node_write(&n, opcode, 0, 0, len, whole);

	p.bth.psn = (n.opts.attr.sq_psn + i) & 0xFFFFFF;
	p.data.reth.va = va;
	p.data.reth.rkey = 0xBAD;
	node_rx(&n, 3000, &p);
}

/* REQ(ext.response.place) REQ(ext.response.complete) */
BED_TEST(mt_response_place, a_read_whose_packets_change_places)
{
	struct mt_tx_desc d;
	struct mt_event ev;

	assert_i_eq(ask(MT_WR_READ, 300, 0), MT_OK);
	agree();
	assert_true(node_tx_opcode(&n, 2000, MW_READ_REQUEST, &d));
	assert_u_eq(d.pkt.data.imm, 300);
	assert_u_eq(d.pkt.data.reth.va, 64);
	assert_u_eq(d.pkt.data.reth.rkey, 0x1234);
	answer(MW_READ_RESPONSE_LAST, 1, 256, 44, 300);
	assert_false(node_poll(&n, &ev));
	assert_u_eq(n.last_at, 100 + 256);
	answer(MW_READ_RESPONSE_FIRST, 0, 0, 256, 300);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.status, MT_WC_SUCCESS);
	assert_u_eq(ev.opcode, MT_WR_READ);
	assert_u_eq(ev.byte_len, 300);
	assert_u_eq(n.last_at, 100);
}

/* REQ(ext.atomic.local) */
BED_TEST(mt_response_place, what_an_atomic_found)
{
	uint64_t found;
	struct mt_event ev;
	struct mt_tx_desc d;

	assert_i_eq(ask(MT_WR_FETCH_ADD, 8, 0), MT_OK);
	agree();
	assert_true(node_tx_opcode(&n, 2000, MW_FETCH_ADD, &d));
	answer(MW_ATOMIC_RESPONSE, 0, UINT64_C(0x0102030405060708), 0, 0);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.byte_len, 8);
	memcpy(&found, n.memory + 100, 8);
	assert_u_eq(found, UINT64_C(0x0102030405060708));
}

BED_TEST(mt_response_place, an_answer_of_another_kind)
{
	struct mt_tx_desc d;

	assert_i_eq(ask(MT_WR_READ, 8, 0), MT_OK);
	agree();
	assert_true(node_tx_opcode(&n, 2000, MW_READ_REQUEST, &d));
	answer(MW_ATOMIC_RESPONSE, 0, 1, 0, 0);
	assert_u_eq(node_stats(&n).drop_malformed, 1);
	assert_u_eq(n.placed, 0);
}

BED_TEST(mt_response_place, memory_that_is_gone)
{
	struct mt_tx_desc d;
	struct mt_event ev;

	assert_i_eq(ask(MT_WR_READ, 8, 0), MT_OK);
	agree();
	assert_true(node_tx_opcode(&n, 2000, MW_READ_REQUEST, &d));
	n.memory_gone = true;
	answer(MW_READ_RESPONSE_ONLY, 0, 0, 8, 8);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.status, MT_WC_LOC_PROT_ERR);
}

/* REQ(ext.atomic.local) */
BED_TEST(mt_wr_known, requests_that_are_none)
{
	assert_i_eq(ask(MT_WR_FETCH_ADD, 7, 0), MT_ERR_INVALID);
	assert_i_eq(ask(MT_WR_READ, 8, MT_WR_IMM), MT_ERR_INVALID);
	assert_i_eq(ask(MT_WR_OPCODES, 8, 0), MT_ERR_INVALID);
}

/* REQ(ext.free) */
BED_TEST(mt_responses_free, with_a_reset)
{
	struct mt_qp_attr reset = {.state = MT_QPS_RESET};
	size_t used = mt_engine_memory_used(n.engine);

	assert_non_null(n.qp->ext->responses);
	assert_i_eq(node_modify(&n, n.qp, &reset, MT_QP_STATE), MT_OK);
	assert_null(n.qp->ext->responses);
	assert_true(mt_engine_memory_used(n.engine) + sizeof(struct mt_responses) <= used);
}
