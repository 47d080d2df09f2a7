/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control.h - control packets that must go out one by one.
 *
 * An ordinary SACK is state and is made when there is room to send it; several triggers become
 * one. What names a particular packet cannot be merged: a NACK, the SACK that echoes an ECN mark
 * or answers a probe, a probe, an endpoint response. Those wait in this ring. When it is full they
 * are dropped and counted: each is a hint whose loss costs time, never data.
 */
#ifndef SOFTMRC_CORE_STATE_CONTROL_H
#define SOFTMRC_CORE_STATE_CONTROL_H

#include "core/types.h"
#include "core/window/sack.h"

enum mt_control_kind {
	MT_CONTROL_SACK,
	MT_CONTROL_NACK,
	MT_CONTROL_PROBE,
	/* These belong to no QP. */
	MT_CONTROL_EP_RESPONSE,
	MT_CONTROL_EP_REQUEST,
};

struct mt_control {
	struct mt_qp *qp;	 /* NULL for endpoint packets, or when the QP is gone */
	struct mt_trigger cause; /* SACK, NACK, EP_RESPONSE; PROBE: probe_id */
	struct rd_gid dst;	 /* EP_RESPONSE */
	uint16_t index;		 /* PROBE: to be sent on it; EP_REQUEST: its slot */
	uint16_t endpoint;	 /* EP_RESPONSE: of dst */
	uint8_t kind;		 /* enum mt_control_kind */
	uint8_t reason;		 /* NACK: enum mw_nack_reason */
	uint8_t op;		 /* EP_RESPONSE: enum mw_ep_op */
};

struct mt_control_ring {
	struct mt_control *entries;
	uint32_t mask;
	uint32_t head, tail;
};

void mt_control_init(struct mt_control_ring *r, struct mt_control *entries, uint32_t size);
/* mt_control_push says whether there was room. */
bool mt_control_push(struct mt_control_ring *r, const struct mt_control *c);
bool mt_control_pop(struct mt_control_ring *r, struct mt_control *c);
/* mt_control_drop_qp makes the ring forget a QP that goes away or starts again. */
void mt_control_drop_qp(struct mt_control_ring *r, const struct mt_qp *qp);

#endif
