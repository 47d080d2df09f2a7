/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_receiver.h - one space of PSNs, as its receiver: window, what has arrived, SACKs, NACKs and
 * transport ACKs. What packets mean is the business of requester and responder.
 */
#ifndef PEER_RECEIVER_H
#define PEER_RECEIVER_H

#include "peer_packet.h"

struct peer;

struct peer_rx_packet {
	bool have;
	uint8_t refused; /* syndrome of the NAK that it gets in its turn */
	bool seen;	 /* came at least once, if only to be refused for the time being */
	struct peer_packet pkt;
	uint8_t operands[16]; /* payload of atomics */
	uint32_t sum;	      /* of headers and payload that copies must repeat */
};

enum peer_arrival {
	PEER_NEW,
	PEER_DUPLICATE, /* answered already */
	PEER_OUTSIDE,
};

struct peer_receiver {
	struct peer *peer;
	bool response;
	uint32_t first_psn;
	struct peer_rx_packet *packets;
	size_t room;
	size_t expected; /* all before it have arrived */
	size_t highest;	 /* behind the newest that has */
	size_t executed; /* in order, by requester or responder */
	uint32_t window;
	uint32_t offered, most_offered; /* dynamic MPR */
	size_t messages;		/* complete */
	uint64_t rcvd_bytes;
	uint32_t since_sack;
	size_t walk;
	bool ack_due;
	bool asked; /* by AckReq, since the last transport ACK */
	uint64_t ack_at_ns;
	bool started; /* a data packet or probe came */
	size_t sent;  /* by the other end: the first index that it did not send */
};

void peer_receiver_init(struct peer_receiver *r, struct peer *p, bool response, uint32_t first_psn,
			uint32_t window);
void peer_receiver_fini(struct peer_receiver *r);
/*
 * peer_receiver_arrive looks where a data packet lies. Copies, and what is outside of the window,
 * are answered here; *index is set for what is new.
 */
enum peer_arrival peer_receiver_arrive(struct peer_receiver *r, const struct peer_packet *pkt,
				       size_t *index);
/* peer_receiver_watch sees what the other end sends, before anything happens to it. */
void peer_receiver_watch(struct peer_receiver *r, const struct peer_packet *pkt);
/* peer_receiver_keep marks a new packet as received. */
void peer_receiver_keep(struct peer_receiver *r, size_t index, const struct peer_packet *pkt,
			uint8_t refused);
/* peer_receiver_acknowledge sends the SACK that is due, if one is. */
void peer_receiver_acknowledge(struct peer_receiver *r, const struct peer_packet *trigger);
void peer_receiver_nack(struct peer_receiver *r, const struct peer_packet *pkt, uint8_t reason,
			uint8_t vendor);
/* peer_receiver_trimmed answers what a switch has cut. */
void peer_receiver_trimmed(struct peer_receiver *r, const struct peer_packet *pkt);
void peer_receiver_take_probe(struct peer_receiver *r, const struct peer_packet *pkt);
/* peer_receiver_ack sends a transport ACK or NAK now. */
void peer_receiver_ack(struct peer_receiver *r, uint8_t syndrome);
/* peer_receiver_owes_ack says whether one is due that waits for no request. */
bool peer_receiver_owes_ack(const struct peer_receiver *r);
/* peer_receiver_ack_later makes one due, as the options say. */
void peer_receiver_ack_later(struct peer_receiver *r);
void peer_receiver_tick(struct peer_receiver *r);

#endif
