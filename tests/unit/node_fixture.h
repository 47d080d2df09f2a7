/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node_fixture.h - the node of a test file, `n`, made with `opts`. Both are reset before each case:
 * the options with their defaults, which a case or a setup of the file's own may change.
 */
#ifndef UNIT_NODE_FIXTURE_H
#define UNIT_NODE_FIXTURE_H

#include "support/node.h"
#include "support/test.h"

#define MTU NODE_MTU

#define SENT_MAX 512u

static struct node_opts opts;
static struct node n;

static inline int defaults(void **state)
{
	(void)state;
	node_opts_default(&opts);
	return 0;
}

static inline void start(void)
{
	node_open(&n, &opts, 0);
	node_connect(&n);
}

static inline int connected(void **state)
{
	defaults(state);
	start();
	return 0;
}

static inline int close_node(void **state)
{
	(void)state;
	node_close(&n);
	return 0;
}

/* Connects and sends a message of so many packets at 1000; sent has SENT_MAX elements. */
static inline void start_message(struct mt_tx_desc *sent, uint32_t packets)
{
	start();
	assert_i_eq(node_post(&n, n.qp, 70, packets * MTU, RD_SEND_SIGNALED), MT_OK);
	assert_u_eq(node_tx(&n, 1000, sent, SENT_MAX), packets);
}

/* A message of one full packet from the peer: the i-th PSN, message i. */
static inline struct mw_packet only(uint64_t i)
{
	return node_write(&n, MW_WRITE_ONLY, i, (uint16_t)i, MTU, MTU);
}

static inline void rx_at(uint64_t now, struct mw_packet pkt)
{
	node_rx(&n, now, &pkt);
}

static inline void rx(struct mw_packet pkt)
{
	rx_at(1000, pkt);
}

/* The next packet that leaves is a SACK; its SETH. */
static inline struct mw_seth next_sack(void)
{
	struct mt_tx_desc d;

	assert_u_eq(node_tx(&n, 2000, &d, 1), 1);
	assert_u_eq(d.pkt.bth.opcode, MW_SACK);
	return d.pkt.seth;
}

#endif
