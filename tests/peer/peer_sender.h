/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_sender.h - one space of PSNs, as its sender: window, SACKs, NACKs, losses, timers, probes.
 *
 * A packet is known by its index: how many PSNs of the space precede it.
 */
#ifndef PEER_SENDER_H
#define PEER_SENDER_H

#include "peer_packet.h"

#define PEER_SENDS_KEPT 8u /* of one packet, the newest */

struct peer;

/* One time that a packet was sent; reflections are compared with it. */
struct peer_sending {
	uint64_t at_ns;
	uint32_t ev;
	uint16_t stamp;
	bool rtx;
};

struct peer_tx_packet {
	struct peer_packet pkt;
	struct peer_sending sendings[PEER_SENDS_KEPT];
	unsigned sent; /* times */
	uint64_t not_before_ns;
	bool acked, lost;
	unsigned delivered, marked, cut, cut_last; /* really, whatever was said */
};

struct peer_probe {
	uint64_t sent_ns;
	uint32_t ev;
	bool answered;
};

#define PEER_PROBES_MAX 65536u

struct peer_sender {
	struct peer *peer;
	bool response;
	uint32_t first_psn;
	struct peer_tx_packet *packets;
	size_t n, room;
	size_t una;  /* all before it are acknowledged */
	size_t next; /* the first that was never sent */
	uint32_t window;
	size_t messages; /* that packets were added for */
	size_t *ends;	 /* index behind the last packet of each */
	size_t ends_room;
	size_t completed; /* messages, by transport ACKs */
	uint64_t heard_ns, nudged_ns, timeout_ns;
	struct peer_probe *probes;
	uint32_t n_probes;
	uint64_t probed_ns;
	uint64_t rnr_until_ns;
	size_t rnr_from;
	uint64_t retransmits;
};

void peer_sender_init(struct peer_sender *s, struct peer *p, bool response, uint32_t first_psn,
		      uint32_t window);
void peer_sender_fini(struct peer_sender *s);
/* peer_sender_add appends a packet; its PSN and MSN are set here, and `ends` its message. */
void peer_sender_add(struct peer_sender *s, const struct peer_packet *pkt, bool ends);
/* peer_sender_next makes the next data packet that may leave now. */
bool peer_sender_next(struct peer_sender *s, struct peer_packet *pkt);
void peer_sender_take_sack(struct peer_sender *s, const struct peer_packet *pkt);
void peer_sender_take_nack(struct peer_sender *s, const struct peer_packet *pkt);
/* peer_sender_take_ack returns false where its MSN says what cannot be. */
bool peer_sender_take_ack(struct peer_sender *s, const struct peer_packet *pkt);
void peer_sender_tick(struct peer_sender *s);
void peer_sender_probe(struct peer_sender *s);
bool peer_sender_is_busy(const struct peer_sender *s);
/* peer_sender_delivered returns whether the packet had arrived whole before. */
bool peer_sender_delivered(struct peer_sender *s, const struct peer_packet *pkt, bool whole);
/* peer_sender_refused is told that the other end did not keep the packet and says so. */
void peer_sender_refused(struct peer_sender *s, uint32_t psn);

#endif
