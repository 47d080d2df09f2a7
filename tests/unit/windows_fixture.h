/* SPDX-License-Identifier: BSD-2-Clause */
/* windows_fixture.h - a node that asks and is asked, with an MR for windows and a window of each
 * type. */
#ifndef UNIT_WINDOWS_FIXTURE_H
#define UNIT_WINDOWS_FIXTURE_H

#include "core/ext/ext.h"
#include "unit/node_fixture.h"

#define MR_INDEX 2u
#define MR_KEY (MR_INDEX << 8 | 1u)
#define MR_START UINT64_C(0x50000)
#define MR_LENGTH 4096u
#define MW_1 3u
#define MW_2 4u
#define EXTENSIONS (MW_EXT_SEND | MW_EXT_READ | MW_EXT_ATOMIC | MW_EXT_INV | MW_EXT_ATOMIC_WRITE)
#define PEERS ((uint32_t)RD_ACCESS_REMOTE_WRITE | RD_ACCESS_REMOTE_READ | RD_ACCESS_REMOTE_ATOMIC)
#define MR_ACCESS (PEERS | RD_ACCESS_LOCAL_WRITE | RD_ACCESS_MW_BIND)

static int windows(void **state)
{
	defaults(state);
	opts.cap.extensions = EXTENSIONS;
	opts.cap.max_recv_sge = 1;
	opts.attr.access |= RD_ACCESS_REMOTE_READ | RD_ACCESS_REMOTE_ATOMIC;
	opts.attr.max_rd_atomic = opts.attr.max_dest_rd_atomic = 2;
	start();
	mt_engine_add_memory(n.engine, engine_node_block(&n.base, 65536), 65536);
	assert_i_eq(mt_mr_add(n.engine, MR_KEY, NODE_PD, MR_START, MR_LENGTH, MR_ACCESS, &n),
		    MT_OK);
	assert_i_eq(mt_mw_add(n.engine, MW_1 << 8 | 1, NODE_PD, RD_MW_TYPE_1), MT_OK);
	assert_i_eq(mt_mw_add(n.engine, MW_2 << 8 | 1, NODE_PD, RD_MW_TYPE_2), MT_OK);
	return 0;
}

#define FIXTURE_TEST(function, name) TEST_WITH(windows, close_node, function, name)

/* Of the second half of the MR. */
static inline struct mt_local_wr bind_of(uint32_t window, uint8_t tag)
{
	return (struct mt_local_wr){
		.opcode = RD_WR_BIND_MW,
		.addr = MR_START + MR_LENGTH / 2,
		.length = MR_LENGTH / 2,
		.lkey = MR_KEY,
		.rkey = window << 8 | tag,
		.window = window,
		.access = PEERS,
		.flags = RD_SEND_SIGNALED,
	};
}

static inline struct mt_local_wr invalidate_of(uint32_t rkey)
{
	return (struct mt_local_wr){
		.opcode = RD_WR_LOCAL_INV, .rkey = rkey, .flags = RD_SEND_SIGNALED};
}

static inline int post(struct mt_local_wr wr, uint64_t wr_id)
{
	int r;

	wr.wr_id = wr_id;
	ENGINE_NODE_CALL(&n.base, r, mt_qp_post_local(n.qp, &wr));
	return r;
}

static inline void complete(uint64_t wr_id, enum rd_wc_status status)
{
	struct mt_event ev;

	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_SEND);
	assert_u_eq(ev.wr_id, wr_id);
	assert_u_eq(ev.status, status);
}

static inline bool peer_may(uint32_t rkey, uint64_t addr, uint64_t len, uint32_t access)
{
	return mt_mr_check_peer(n.qp, rkey, addr, len, access) != NULL;
}

/* The peer knows all that we do; on packets of ours the answer to the first probe opens the way. */
static inline void agree(void)
{
	struct mw_packet p = node_probe(&n, 1);
	struct mt_tx_desc probe;

	p.peth.ext = MW_EXT_VERSION | EXTENSIONS;
	node_rx(&n, 1000, &p);
	if (!node_tx_opcode(&n, 1000, MW_PROBE, &probe))
		return;
	p = node_sack(&n, &probe, 0);
	p.seth.pr = true;
	p.seth.probe_id = probe.pkt.peth.probe_id;
	p.seth.ext = MW_EXT_VERSION | EXTENSIONS;
	node_rx(&n, 1000, &p);
}

#endif
