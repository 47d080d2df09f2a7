/* SPDX-License-Identifier: BSD-2-Clause */
/* sack.c - coalesces the triggers of SACKs, and fills in the SETH. */
#include "core/window/window.h"

#include "base/assert.h"
#include "base/serial.h"

#define OOO_COUNT_MAX 0x7FFFu
#define RCVD_BYTES_MASK 0xFFFFFFu

/* REQ(rsp.sack.trigger.bytes) REQ(rsp.sack.trigger.ackreq) REQ(rsp.sack.trigger.rtx) */
bool mt_sacker_packet(struct mt_sacker *s, uint32_t payload, bool asked, uint32_t threshold)
{
	s->bytes += payload < MT_SACK_PACKET_MIN ? MT_SACK_PACKET_MIN : payload;
	s->asked |= asked;
	s->due |= asked || s->bytes > threshold;
	return s->due;
}

bool mt_sacker_is_due(struct mt_sacker *s, uint32_t threshold)
{
	s->due = s->due && (s->asked || s->bytes > threshold);
	return s->due;
}

void mt_sacker_sent(struct mt_sacker *s)
{
	mb_assert(s->due);
	s->bytes = 0;
	s->due = s->asked = false;
}

/* A duplicate from long ago saturates: that names no PSN which the sender still remembers. */
static int16_t offset_of(uint64_t psn, uint64_t cack)
{
	int64_t offset = (int64_t)(psn - cack);

	if (offset < INT16_MIN)
		offset = INT16_MIN;
	return (int16_t)offset;
}

/*
 * REQ(rsp.sack.rcvd-bytes) REQ(rsp.sack.ooo-count) REQ(req.mpr.unit) REQ(wire.seth.entropy)
 * REQ(wire.seth.pr) REQ(wire.seth.cack) REQ(wire.seth.bitmap-order) REQ(wire.ccstate.rcvd-bytes)
 */
void mt_sack_build(struct mt_rx_window *w, const struct mt_trigger *t, uint64_t rcvd_bytes,
		   uint8_t mpr, struct mw_seth *seth)
{
	uint64_t cack = w->expected - 1, base;
	uint64_t map = mt_rx_window_report(w, &base);

	mb_assert(base - cack <= INT16_MAX);
	mb_assert_slow(mpr > 0 && w->expected >= w->first);
	*seth = (struct mw_seth){
		.m = t->mark,
		.pr = t->probe,
		.entropy = t->ev,
		.cack_psn = mb_psn_wire(cack),
		.mpr = mpr,
		.sack_offset = (int16_t)(base - cack),
		.sack_bitmap = map,
		.tx_timestamp = t->tx_timestamp,
		.ooo_count = (uint16_t)(w->ahead > OOO_COUNT_MAX ? OOO_COUNT_MAX : w->ahead),
		.rcvd_bytes = (uint32_t)((rcvd_bytes + 255) >> 8) & RCVD_BYTES_MASK,
	};
	if (t->probe)
		seth->probe_id = t->probe_id;
	else
		seth->ack_psn_offset = offset_of(t->psn, cack);
}
