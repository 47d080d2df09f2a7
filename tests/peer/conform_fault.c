/* SPDX-License-Identifier: BSD-2-Clause */
/* conform_fault.c - the faults of conform_world.h, each where an implementation could have it. */
#include "conform_world.h"

#include <string.h>

#define ICRC_BYTES 4u
#define CE 3u

static uint64_t index_of(const struct conform_world *w, uint32_t psn)
{
	return (psn - w->peer.c.other_first_psn) & PEER_PSN_MASK;
}

static int highest(uint64_t map)
{
	int i = 63;

	while (i >= 0 && !(map >> i & 1))
		i--;
	return i;
}

/* ---- SACKs ---- */

/* cack_psn is the highest PSN that came, whatever is missing below it. */
static void fault_cack(struct peer_packet *p)
{
	int beyond;

	if (p->bitmap == 0)
		return;
	beyond = p->sack_offset + highest(p->bitmap);
	p->cack_psn = (p->cack_psn + (uint32_t)beyond) & PEER_PSN_MASK;
	p->psn = p->cack_psn;
	p->ack_psn_offset = (int16_t)(p->ack_psn_offset - beyond);
	p->bitmap = 0;
}

static void fault_sack(const struct conform_world *w, struct peer_packet *p)
{
	switch (w->fault) {
	case FAULT_SACK_MAP_BIT: /* one bit of the map is never set */
		p->bitmap &= ~(UINT64_C(1) << 8);
		break;
	case FAULT_SACK_EV:
		p->entropy = p->pr ? p->entropy : 0;
		break;
	case FAULT_SACK_CACK:
		fault_cack(p);
		break;
	case FAULT_SACK_TIME:
		p->stamp = p->pr ? p->stamp : (uint16_t)(p->stamp + 1);
		break;
	case FAULT_SACK_RTX:
		p->rtx = false;
		break;
	case FAULT_SACK_MARK:
		p->m = 0;
		break;
	case FAULT_SACK_OOO:
		p->ooo++;
		break;
	case FAULT_SACK_PSN:
		p->psn = 0;
		break;
	case FAULT_SACK_CLASS:
		p->dscp = PEER_DSCP_NO_TRIM;
		break;
	case FAULT_SACK_TRIGGER: /* two bits of the offset are kept */
		p->ack_psn_offset = p->ack_psn_offset == 4 ? 0 : p->ack_psn_offset;
		break;
	case FAULT_SACK_FUTURE: /* reports what was never sent */
		p->bitmap |= UINT64_C(1) << 63;
		break;
	case FAULT_RCVD_COPIES:
		p->rcvd += p->rtx;
		break;
	case FAULT_RCVD_UNIT: /* of 128 bytes */
		p->rcvd *= 2;
		break;
	case FAULT_PROBE_ID:
		p->probe_id = p->pr ? 7 : p->probe_id;
		break;
	case FAULT_PROBE_EV:
		p->entropy = p->pr ? 0 : p->entropy;
		break;
	case FAULT_PROBE_TIME:
		p->stamp = p->pr ? 0 : p->stamp;
		break;
	default:
		break;
	}
}

static void fault_nack(const struct conform_world *w, struct peer_packet *p)
{
	switch (w->fault) {
	case FAULT_NACK_REASON:
		p->reason = p->reason == PEER_TRIMMED ? PEER_NO_PKT_BUFFER : p->reason;
		break;
	case FAULT_NACK_LAST_HOP:
		p->reason = p->reason == PEER_TRIMMED_LASTHOP ? PEER_TRIMMED : p->reason;
		break;
	case FAULT_NACK_EV:
		p->entropy = 0;
		break;
	case FAULT_NACK_TIME:
		p->stamp = 0;
		break;
	case FAULT_NACK_PSN:
		p->psn = 0;
		break;
	default:
		break;
	}
}

/* ---- what a requester sends ---- */

static void fault_data(struct conform_world *w, struct peer_packet *p)
{
	uint32_t i = (p->psn - w->peer.c.first_psn) & 4095;

	switch (w->fault) {
	case FAULT_SENT_RTX:
		p->rtx = false;
		break;
	case FAULT_SENT_CLASS:
		p->dscp = PEER_DSCP_TRIMMABLE;
		break;
	case FAULT_SENT_SAME_EV:
		p->ev = w->has_left[i] ? w->left_by[i] : p->ev;
		break;
	case FAULT_SENT_LENGTH: /* of what is left */
		p->dmalen -= (uint32_t)(p->va - 0x10000);
		break;
	case FAULT_SENT_RQMSN:
		p->rqmsn = 0;
		break;
	case FAULT_MSN_ZERO:
		p->msn = 0;
		break;
	default:
		break;
	}
	w->has_left[i] = true;
	w->left_by[i] = p->ev;
}

bool conform_fault_out(struct conform_world *w, struct peer_packet *p)
{
	if (peer_opcode_is_data(p->opcode))
		fault_data(w, p);
	else if (p->opcode == PEER_SACK)
		fault_sack(w, p);
	else if (p->opcode == PEER_NACK)
		fault_nack(w, p);
	else if (p->opcode == PEER_ACK && p->syndrome == PEER_ACK_POSITIVE) {
		p->syndrome = w->fault == FAULT_ACK_CREDITS ? 0 : p->syndrome;
	} else if (p->opcode == PEER_EP_RESPONSE) {
		p->stamp = w->fault == FAULT_EP_TIME ? 0 : p->stamp;
		p->dscp = w->fault == FAULT_EP_CLASS ? PEER_DSCP_NO_TRIM : p->dscp;
	}
	p->p_key = w->fault == FAULT_P_KEY_SENT ? 0x7FFF : p->p_key;
	return !(w->fault == FAULT_TRIM_SILENT && p->opcode == PEER_NACK) &&
	       !(w->fault == FAULT_PROBE_SILENT && p->opcode == PEER_SACK && p->pr) &&
	       !(w->fault == FAULT_EP_SILENT && p->opcode == PEER_EP_RESPONSE) &&
	       !(w->fault == FAULT_SENT_NO_PROBES && p->opcode == PEER_PROBE);
}

void conform_fault_frame(const struct conform_world *w, const struct peer_packet *p,
			 struct peer_frame *f)
{
	if (w->fault == FAULT_SACK_ICRC && p->opcode == PEER_SACK)
		f->bytes[f->len - 1] ^= 1;
}

/* ---- what a responder takes ---- */

/* Encodes a frame again after a change; of one that was cut only the rest of it is left. */
static void again(struct peer_frame *f, struct peer_packet *p, const uint8_t *payload, size_t len)
{
	static uint8_t copy[PEER_FRAME_MAX];

	if (len > 0)
		memcpy(copy, payload, len);
	p->payload = copy;
	p->payload_len = (uint32_t)len;
	p->pad = (uint8_t)(-len & 3);
	peer_packet_encode(p, f);
}

/* A cut packet is told by its length, or not at all. */
static void fault_trim(struct conform_world *w, struct peer_frame *f, struct peer_packet *p)
{
	size_t head = PEER_CARRIER_BYTES + 12 + 4 + (p->has_stamp ? 4u : 0) + 16;
	size_t len = f->len - head - ICRC_BYTES;

	if (w->fault == FAULT_TRIM_BY_LENGTH && p->dmalen != len)
		return;
	p->dscp = PEER_DSCP_TRIMMABLE;
	again(f, p, f->bytes + head, len);
}

/* So many bytes from the payload on go to memory, whatever they are. */
static void place(struct conform_world *w, const struct peer_packet *p, uint32_t len)
{
	uint64_t at = p->va - w->peer.c.region_va;

	if (at <= CONFORM_MEMORY - len)
		memcpy(w->memory + at, p->payload, len);
}

static bool fault_in_data(struct conform_world *w, const struct peer_packet *p)
{
	uint64_t i = index_of(w, p->psn);
	bool copy = i < 4096 && w->came[i];

	if (i < 4096)
		w->came[i] = true;
	if (w->fault == FAULT_COPY_PLACED && copy)
		place(w, p, p->payload_len);
	if (w->fault == FAULT_PAD_PLACED && p->pad)
		place(w, p, p->payload_len + p->pad);
	if (w->fault == FAULT_IMM_TWICE && copy && peer_opcode_has_imm(p->opcode))
		conform_result(&w->recvs, 0, p->word);
	if (w->fault == FAULT_WRITE_TELLS && p->opcode == PEER_WRITE_ONLY && !copy && i == 0)
		conform_result(&w->recvs, 0, 0);
	/* PSNs are compared as plain numbers. */
	return !(w->fault == FAULT_PSN_WRAP && p->psn < w->peer.c.other_first_psn &&
		 w->peer.c.other_first_psn > 0xF00000);
}

/* The same for answers; completions come from SACKs, not from ACKs. */
static bool fault_in_control(struct conform_world *w, struct peer_frame *f, struct peer_packet *p)
{
	if (w->fault == FAULT_SACK_COMPLETES &&
	    (p->opcode == PEER_SACK ||
	     (p->opcode == PEER_ACK && p->syndrome != PEER_ACK_POSITIVE)) &&
	    w->sends.n < w->peer.n_ops && !p->pr)
		conform_result(&w->sends, p->opcode == PEER_ACK, 0);
	if (w->fault == FAULT_HOLE_IGNORED && p->opcode == PEER_SACK && p->bitmap) {
		p->bitmap = 0;
		again(f, p, NULL, 0);
	}
	return !(w->fault == FAULT_NAK_IGNORED && p->opcode == PEER_ACK &&
		 p->syndrome != PEER_ACK_POSITIVE) &&
	       !(w->fault == FAULT_FATAL_IGNORED && p->opcode == PEER_NACK &&
		 p->reason == PEER_UNEXP_EVENT) &&
	       !(w->fault == FAULT_NACK_IGNORED && p->opcode == PEER_NACK &&
		 p->reason == PEER_TRIMMED);
}

/* Fields that are not looked at, as if they were right. */
static bool mends(const struct conform_world *w, struct peer_packet *p)
{
	switch (w->fault) {
	case FAULT_OTHER_QP:
		if (p->dqp != w->peer.c.qpn + 1 || p->opcode != PEER_WRITE_ONLY ||
		    p->psn != w->peer.c.other_first_psn || p->reserved || !p->ack_request)
			return false;
		p->dqp = w->peer.c.qpn;
		return true;
	case FAULT_OTHER_P_KEY:
		p->p_key = w->peer.c.p_key;
		return true;
	case FAULT_OTHER_VERSION:
		p->reserved = false;
		return p->dqp == w->peer.c.qpn;
	case FAULT_KEY_IGNORED:
		if (!peer_opcode_is_data(p->opcode))
			return false;
		p->rkey = w->peer.c.rkey;
		return true;
	default:
		return false;
	}
}

bool conform_fault_in(struct conform_world *w, struct peer_frame *f)
{
	struct peer_frame was = *f;
	struct peer_packet p;
	const char *why;
	enum peer_verdict verdict = peer_packet_decode(&was, false, &p, &why);

	if (verdict == PEER_BAD_ICRC && w->fault == FAULT_BAD_ICRC) {
		/* The kit spoils the last byte of the ICRC, by these bits. */
		f->bytes[f->len - 1] ^= 0x5A;
		return true;
	}
	if (verdict == PEER_CUT &&
	    (w->fault == FAULT_TRIM_BY_LENGTH || w->fault == FAULT_TRIM_IGNORED)) {
		fault_trim(w, f, &p);
		return true;
	}
	/* A pad that is longer than what there is ends the QP. */
	if (verdict == PEER_MALFORMED && w->fault == FAULT_PAD_TRUSTED && p.pad)
		w->ended = p.dqp == w->peer.c.qpn;
	if (w->ended)
		return false;
	if (verdict != PEER_OK)
		return true;
	if (mends(w, &p))
		again(f, &p, p.payload, p.payload_len);
	if (p.dqp != w->peer.c.qpn || p.reserved)
		return true;
	return peer_opcode_is_data(p.opcode) ? fault_in_data(w, &p) : fault_in_control(w, f, &p);
}
