/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer.h - a second implementation of MRC and of the extension of docs/protocol.md: one QP with
 * both halves, and the endpoint around it. It is slow and simple on purpose: every packet of a QP
 * stays in an array for ever, and every question is a scan of it.
 *
 * The parts: peer_sender (one space of PSNs, as its sender), peer_receiver (the same as its
 * receiver), peer_requester (operations become messages, and complete), peer_responder (messages
 * become bytes, receives and answers). A peer also judges: peer_fail is called when the other end
 * sends what it must not.
 */
#ifndef PEER_H
#define PEER_H

#include "peer_op.h"
#include "peer_options.h"
#include "peer_receiver.h"
#include "peer_sender.h"

#define PEER_QUEUE_MAX 4096u
#define PEER_EVS_MAX 64u
#define PEER_EP_PROBES_MAX 64u

/* Bits of the byte of docs/protocol.md, "Agreement". */
enum {
	PEER_EXT_SEND = 1 << 0,
	PEER_EXT_READ = 1 << 1,
	PEER_EXT_ATOMIC = 1 << 2,
	PEER_EXT_INV = 1 << 3,
	PEER_EXT_ATOMIC_WRITE = 1 << 4,
	PEER_EXT_VERSION = 0x40,
	PEER_EXT_VERSION_MASK = 0xC0,
};

/* What both ends were told out of band. */
struct peer_connection {
	uint8_t self[16], other[16];
	uint32_t qpn, other_qpn, first_psn, other_first_psn;
	uint32_t mtu;
	uint16_t p_key;
	uint32_t window;       /* PSNs that we accept */
	uint32_t other_window; /* PSNs that the other end accepts */
	uint32_t max_wimm;     /* WRITEs with immediate that we accept */
	uint32_t other_wimm;   /* ... that the other end accepts */
	uint32_t max_requests; /* READs and atomics that we accept */
	uint32_t other_requests;
	uint8_t extension; /* what we know; 0: plain MRC */
	uint32_t evs[PEER_EVS_MAX];
	uint32_t n_evs;
	uint64_t region_va, other_region_va;
	uint32_t region_bytes, rkey;
	/* Keys of windows over the regions, ours and the other end's, and where they begin. */
	uint32_t window_key, other_window_key;
	uint64_t window_va, other_window_va;
	uint64_t timeout_ns; /* of the first wait for an acknowledgement; 0: a short one */
};

/* What the completion of a receive says. */
struct peer_received {
	bool has_imm, has_inv, send;
	uint32_t word; /* the immediate, or the key that is invalid now */
	uint32_t bytes;
};

/* Why the QP ended, and which end found the fault. */
enum peer_state {
	PEER_RUNS,
	PEER_REFUSED, /* we sent a NAK */
	PEER_FAILED,  /* the other end refused, or failed */
};

struct peer {
	struct peer_options options;
	struct peer_connection c;
	uint64_t random, now_ns;
	bool wrong; /* the other end did what it must not */
	char why[240];
	enum peer_state state;
	/* Of the NAK that ended it, or will when all before the refused message is answered. */
	uint8_t syndrome;
	size_t refused_message;
	uint8_t *memory; /* the region */
	/* As requester: requests out, responses in. As responder: requests in, responses out. */
	struct peer_sender requests, answers;
	struct peer_receiver served, answered;
	bool asked, agreed;	   /* requester: a probe was sent; its answer came */
	uint8_t agreed_extension;  /* requester: what both know */
	uint8_t offered_extension; /* responder: what both know */
	struct peer_op *ops;	   /* ours */
	size_t n_ops, begun, completed;
	uint32_t open_requests, began_requests, began_receives;
	/* Responder. */
	uint64_t *receives; /* offset of each in our memory */
	uint32_t *receive_bytes;
	size_t receives_posted, receives_done;
	uint32_t requests_executed;
	bool window_is_over; /* its key was made invalid */
	void *user;
	/* The program is told: op of ours is complete; the n-th receive is. */
	void (*on_complete)(void *user, struct peer_op *op);
	void (*on_receive)(void *user, size_t n, const struct peer_received *got);
	/* Control packets that wait. */
	struct peer_packet queue[PEER_QUEUE_MAX];
	size_t queue_head, queue_tail;
	/* Endpoint: EV probes that we sent. */
	uint16_t ep_stamps[PEER_EP_PROBES_MAX];
	uint8_t ep_ops[PEER_EP_PROBES_MAX];
	uint32_t ep_sent, ep_answers;
	uint64_t ep_next_ns;
	uint64_t data_received, control_received;
};

/* peer_init connects a QP; memory, ops and receives are the caller's. */
void peer_init(struct peer *p, const struct peer_options *options, const struct peer_connection *c,
	       uint64_t seed);
void peer_fini(struct peer *p);
/* peer_rx takes a frame. */
void peer_rx(struct peer *p, uint64_t now_ns, const struct peer_frame *f);
/* peer_tx makes the next frame that may leave now; false: none. */
bool peer_tx(struct peer *p, uint64_t now_ns, struct peer_frame *f);
/* peer_tick looks at all timers; to be called every PEER_TICK_NS while peer_is_busy. */
#define PEER_TICK_NS 20000u
void peer_tick(struct peer *p, uint64_t now_ns);
/* peer_is_busy says whether anything of ours is unfinished. */
bool peer_is_busy(const struct peer *p);
/*
 * peer_delivered is told what really reached the other end: acknowledgements are held to it. It
 * returns whether the same packet had arrived before.
 */
bool peer_delivered(struct peer *p, const struct peer_packet *pkt, bool whole);

/* peer_watch sees every packet that the other end sends, before anything happens to it. */
void peer_watch(struct peer *p, const struct peer_packet *pkt);

/* ---- for the parts ---- */

void peer_fail(struct peer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t peer_random(struct peer *p);
bool peer_chance(struct peer *p, unsigned one_in);
/* peer_header returns a packet to the other end's QP with the fields that all have. */
struct peer_packet peer_header(struct peer *p, uint8_t opcode, uint32_t psn);
void peer_queue(struct peer *p, const struct peer_packet *pkt);
/* peer_stamp returns what a time stamp says now. */
uint16_t peer_stamp(const struct peer *p);
/* peer_reflected returns an EV as SACKs and NACKs of this peer name it. */
uint32_t peer_reflected(const struct peer *p, uint32_t ev);
/* peer_serial_distance returns to - from, for PSNs less than half of their space apart. */
int64_t peer_serial_distance(uint32_t from, uint32_t to);

/* peer_requester.c */
void peer_requester_begin(struct peer *p);
void peer_requester_take_response(struct peer *p, const struct peer_packet *pkt, bool cut);
void peer_requester_take_ack(struct peer *p, const struct peer_packet *pkt);
void peer_requester_progress(struct peer *p);
void peer_requester_fail(struct peer *p, enum peer_status status);

/* peer_responder.c */
void peer_responder_take(struct peer *p, const struct peer_packet *pkt, bool cut);
/* peer_responder_refuse answers a packet to a QP that has failed. */
void peer_responder_refuse(struct peer *p, const struct peer_packet *pkt);

#endif
