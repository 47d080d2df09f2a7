/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sack.h - when a responder sends a SACK, and what is in it.
 *
 * Five triggers: enough bytes since the last one, AckReq, an ECN mark, a retransmission, a
 * reliability probe. The first, second and fourth ask for state, so that several become one SACK;
 * the other two must name their packet and go through the control ring. REQ(rsp.sack.coalesce)
 */
#ifndef SOFTMRC_CORE_WINDOW_SACK_H
#define SOFTMRC_CORE_WINDOW_SACK_H

#include "core/window/rx_window.h"
#include "wire/packet.h"

/* A packet counts at least this much towards the byte trigger, so that small ones are not
 * forgotten. */
#define MT_SACK_PACKET_MIN 1024u

/* What a SACK or NACK reflects of the packet that caused it. */
struct mt_trigger {
	uint64_t psn;
	uint32_t ev;
	uint64_t rx_ns; /* when it came, for the service time; 0: it brought no stamp */
	uint16_t tx_timestamp;
	uint16_t probe_id;
	uint8_t port; /* it came in on; the answer leaves on the same plane */
	uint8_t mark; /* enum mw_path_mark */
	bool rtx;
	bool probe;	  /* it was a reliability probe */
	bool answer_lost; /* it suggests that an earlier answer did not arrive */
};

struct mt_sacker {
	struct mt_trigger trigger; /* the newest packet that asked, while due */
	uint32_t bytes;		   /* since the last SACK */
	bool due;
};

/*
 * mt_sacker_packet counts an accepted or repeated data packet, and says whether a SACK is due now;
 * then the caller makes the packet the trigger. `asked`: it wants one by AckReq or as an rtx.
 */
bool mt_sacker_packet(struct mt_sacker *s, uint32_t payload, bool asked, uint32_t threshold);
/* mt_sacker_sent starts counting again. */
void mt_sacker_sent(struct mt_sacker *s);

/*
 * mt_sack_build writes the SETH for a SACK caused by t. rcvd_bytes is the nominal count of new
 * bytes so far, mpr the window in units of 128 PSNs. REQ(wire.seth.layout)
 * REQ(rsp.sack.reflect-ev) REQ(rsp.sack.reflect-time) REQ(rsp.sack.mark)
 */
void mt_sack_build(struct mt_rx_window *w, const struct mt_trigger *t, uint64_t rcvd_bytes,
		   uint8_t mpr, struct mw_seth *seth);

#endif
