/* SPDX-License-Identifier: BSD-2-Clause */
/* asking_fixture.h - a node whose QP has READs and atomics, two at a time each way. */
#ifndef UNIT_ASKING_FIXTURE_H
#define UNIT_ASKING_FIXTURE_H

#include "core/ext/ext.h"
#include "unit/node_fixture.h"

#define FIXTURE_EXT (MW_EXT_SEND | MW_EXT_READ | MW_EXT_ATOMIC)
#define FIXTURE_AT_ONCE 2u

static inline int asking_defaults(void **state)
{
	defaults(state);
	opts.cap.extensions = FIXTURE_EXT;
	opts.attr.access |= RD_ACCESS_REMOTE_READ | RD_ACCESS_REMOTE_ATOMIC;
	opts.attr.max_rd_atomic = opts.attr.max_dest_rd_atomic = FIXTURE_AT_ONCE;
	return 0;
}

static inline int asking(void **state)
{
	asking_defaults(state);
	start();
	return 0;
}

/* Asks at 1000 for `length` bytes, which are to go to 100 of our memory; wr_id is 5. */
static inline int ask(enum rd_wr_opcode opcode, uint32_t length, uint32_t flags)
{
	struct rd_sge sge = {.addr = NODE_MR_START + 100, .length = length, .lkey = NODE_KEY};
	struct rd_send_wr wr = {.wr_id = 5,
				.sge = &sge,
				.n_sge = 1,
				.flags = flags | RD_SEND_SIGNALED,
				.rkey = 0x1234,
				.remote_addr = 64,
				.opcode = opcode,
				.compare_add = 7,
				.swap = 9};

	return mt_qp_post_send(n.qp, 1000, &wr);
}

/* The peer, asked for it, says which extensions it has. */
static inline void peer_has(uint8_t ext)
{
	struct mt_tx_desc probe;
	struct mw_packet p;

	assert_true(node_tx_opcode(&n, 1000, MW_PROBE, &probe));
	p = node_sack(&n, &probe, 0);
	p.seth.pr = true;
	p.seth.probe_id = probe.pkt.peth.probe_id;
	p.seth.ext = MW_EXT_VERSION | ext;
	node_rx(&n, 2000, &p);
}

/*
 * The i-th packet of the peer's answers, of number msn: len bytes, of `whole`, to offset va.
 * Answers' PSNs begin with that of our requests.
 */
static inline void answer_of(uint8_t opcode, uint32_t i, uint16_t msn, uint64_t va, uint32_t len,
			     uint32_t whole)
{
	struct mw_packet p = node_write(&n, opcode, 0, msn, len, whole);

	p.bth.psn = (n.opts.attr.sq_psn + i) & 0xFFFFFF;
	p.data.reth.va = va;
	p.data.reth.rkey = 0xBAD;
	node_rx(&n, 3000, &p);
}

#define FIXTURE_TEST(function, name) TEST_WITH(asking, close_node, function, name)

#endif
