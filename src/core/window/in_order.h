/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * in_order.h - the ends of messages that wait until all before them is placed.
 *
 * Packets of an MRC QP are placed as they come. Programs made for RC watch memory: one message
 * brings data, and the end of it, or a short message behind it, is the flag. So on QPs that keep
 * this order a LAST or ONLY packet of a WRITE that comes ahead of a hole is buffered, with its
 * bytes, and placed when every PSN below its own is. FIRST and MIDDLE packets need no order among
 * themselves. As many wait as MT_IN_ORDER_MAX; others get a NACK and come again.
 * REQ(ext.order.wait) REQ(ext.order.bound)
 */
#ifndef SOFTMRC_CORE_WINDOW_IN_ORDER_H
#define SOFTMRC_CORE_WINDOW_IN_ORDER_H

#include "base/list.h"
#include "core/types.h"

/* A megabyte of full packets: more than the losses of a busy QP let wait. */
#define MT_IN_ORDER_MAX 256u

/* A packet that waits; its bytes stand behind it. */
struct mt_buffered {
	struct mb_link link;
	uint64_t psn;
	uint64_t msn;
	uint64_t va;
	uint32_t rkey;
	uint32_t len;
	bool bytes; /* false where packets carry no payload */
};

struct mt_in_order {
	struct mb_link entries; /* by PSN, lowest first */
	uint32_t count;
};

static inline size_t mt_buffered_size(uint32_t len)
{
	return sizeof(struct mt_buffered) + len;
}

static inline void *mt_buffered_bytes(struct mt_buffered *w)
{
	return w + 1;
}

void mt_in_order_init(struct mt_in_order *o);
/* mt_in_order_insert adds a packet whose PSN is not there. */
void mt_in_order_insert(struct mt_in_order *o, struct mt_buffered *w);
/*
 * mt_in_order_pop removes the lowest packet if its PSN is below `expected` and its MSN below
 * `below`; else NULL.
 */
struct mt_buffered *mt_in_order_pop(struct mt_in_order *o, uint64_t expected, uint64_t below);

#endif
