/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * checker.h - what must hold, whatever the network does.
 *
 * A flow is one direction of a connection: the messages posted, in order. From them alone follows
 * every packet that may ever be sent: which PSN carries which bytes of which message under which
 * headers. Each message has its own place in the receiver's memory, which is never real: payload is
 * a pattern of sender and source address, and the receiver keeps a bit for each byte.
 *
 * Checked: each packet sent is the one that its PSN stands for; new PSNs go out in order, flagged
 * and classed as new, repeated ones as repeated; no PSN leaves the window, no immediate exceeds its
 * limit; a SEND's bytes go to the receive that has its number; each byte is placed once, at its
 * place, with the right value; completions come once, in order, with the right status, and not
 * before the bytes that they vouch for; immediates likewise. Answers to READs and atomics are a
 * flow of their own, whose messages follow from what was asked. What belongs to a former life of
 * the receiving QP is not placed any more.
 */
#ifndef SIM_CHECKER_H
#define SIM_CHECKER_H

#include "core/engine.h"

#define SIM_SGE_MAX 4u

struct sim_srq;
struct sim_key;
struct sim_msg;

/* Where all checks of a world report; the first failure counts. */
struct sim_check {
	const uint64_t *now_ns;
	bool failed;
	bool outside;	       /* bytes were placed beyond the end of an MR */
	struct sim_msg *given; /* of which the packet is that an engine is just given; or NULL */
	char why[400];
};

void sim_fail(struct sim_check *check, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

struct sim_flow;

/* One posted message. */
struct sim_msg {
	struct sim_flow *flow;
	size_t number; /* counts the messages of its flow */
	enum rd_wr_opcode opcode;
	uint64_t takes_before; /* messages before it that take a receive */
	uint64_t wr_id;
	uint32_t len, flags, imm, rkey;
	uint64_t remote_addr;
	uint64_t first_packet, n_packets;
	struct rd_sge sge[SIM_SGE_MAX];
	uint32_t n_sge;
	uint64_t mr_offset; /* where it belongs */
	/* READ and atomics: a request has no bytes of its own, its answer has those it brings. */
	uint32_t asks; /* bytes that a READ wants */
	struct sim_msg *answer;
	uint64_t swap_add, compare;
	uint64_t original; /* what an atomic finds, ... */
	bool known;	   /* ... if that is known before, or seen */
	/* What its completion must say; SUCCESS also promises that all of it was placed. */
	enum rd_wc_status want;
	uint64_t placed;
	uint64_t *bits;		   /* a bit for each byte: from the first placed to the last */
	uint64_t recv;		   /* that of an SRQ which it took, or SIM_NO_RECV */
	const struct sim_key *key; /* of a window that it goes through, or NULL */
};

/* Bytes of an MR that belong to a message, or to a receive and so to the message that takes it. */
struct sim_place {
	uint64_t offset;
	uint32_t len;
	struct sim_msg *msg; /* NULL: of a receive */
	struct sim_flow *flow;
	uint64_t recv;	     /* its number */
	uint64_t at;	     /* where in the receive these bytes are */
	struct sim_srq *srq; /* whose receive it is, whatever flow takes it */
};

/* A region of memory that does not exist. */
struct sim_mr {
	struct sim_check *check;
	uint32_t node, index, key, pd, access;
	uint64_t start, length;
	uint64_t taken;		  /* bytes handed out from the start */
	uint64_t *words;	  /* what atomics change; else NULL */
	uint64_t atomics;	  /* that were executed */
	struct sim_place *places; /* by offset */
	size_t n_places, room;
	bool large; /* that of a PD, for all its QPs */
};

/* One direction of a connection, in one of its lives: a QP that is reset begins another. */
struct sim_flow {
	struct sim_check *check;
	char name[40];
	uint32_t life;
	const uint32_t *dst_life; /* the life that the receiving QP is in */
	struct sim_flow *before;  /* that of the former life */
	uint64_t word_at; /* where its atomics go, but for the shared word; 0: nowhere yet */
	uint32_t src, dst, dst_qpn;
	uint32_t mtu, first_psn;
	uint64_t window; /* PSNs */
	uint32_t max_wimm;
	uint16_t p_key;
	bool signal_all;
	bool trimmable; /* the receiver answers cut packets */
	bool answers;	/* to the requests of the other end */
	struct sim_msg **msgs;
	size_t n, room;
	uint64_t n_packets; /* of all messages */
	uint64_t sent;	    /* different packets sent, that is, the next new one */
	uint64_t resent;
	uint64_t bytes;	   /* of all messages */
	uint64_t *arrived; /* a bit for each packet */
	uint64_t arrived_room;
	uint64_t expected;	 /* lowest packet that has not arrived */
	size_t completed;	 /* messages below have completed, or did so silently */
	size_t all_placed;	 /* messages below are placed to the last byte */
	bool in_order;		 /* the end of a WRITE is placed behind all before it */
	bool extended;		 /* receivers may be not ready, and immediates have no limit */
	struct sim_msg **takers; /* the messages that take a receive, in order */
	size_t takers_room;
	uint64_t takes, takes_received;
	uint64_t imms_started;
	uint64_t recvs_posted, recvs_done;
	struct sim_srq *srq; /* where the receiver takes them from, or NULL */
	uint64_t last_recv;  /* of it */
	enum rd_wc_status
		wrong_recv; /* what the next receive says once, before the rest is flushed */
	bool flushing;	    /* the receiver is expected to flush its receives */
};

/* sim_pattern writes the bytes that lie at addr in the memory of a node. */
void sim_pattern(uint32_t node, uint64_t addr, uint8_t *out, size_t len);

/* sim_mr_take hands out len bytes of an MR and returns their offset. */
uint64_t sim_mr_take(struct sim_mr *mr, uint64_t len);
/* sim_mr_place notes what belongs to some bytes of an MR. */
void sim_mr_place(struct sim_mr *mr, const struct sim_place *p);
/* sim_mr_placed is env->place. */
void sim_mr_placed(struct sim_mr *mr, uint64_t offset, const uint8_t *src, uint32_t len);

/* sim_flow_add appends a message; `proto` has all but what follows from its place in the flow. */
struct sim_msg *sim_flow_add(struct sim_flow *f, const struct sim_msg *proto, struct sim_mr *mr);
/* sim_flow_recv notes memory of the next receive: bytes [at, at + len) of it are at `offset` of
 * mr. */
void sim_flow_recv(struct sim_flow *f, struct sim_mr *mr, uint64_t offset, uint64_t at,
		   uint32_t len);
/* sim_flow_place notes that bytes [at, at + len) of a message belong at `offset` of mr. */
void sim_flow_place(struct sim_msg *m, struct sim_mr *mr, uint64_t offset, uint64_t at,
		    uint32_t len);
/* sim_flow_drop_last takes the last message back: it could not be posted. */
void sim_flow_drop_last(struct sim_flow *f, struct sim_mr *mr);
/* sim_flow_sent checks one data packet that the engine sends. */
void sim_flow_sent(struct sim_flow *f, const struct mt_tx_desc *d);
/* sim_flow_arrived notes that a data packet is about to be given to the receiver, intact. */
void sim_flow_arrived(struct sim_flow *f, uint32_t psn);
/* sim_flow_send_event and _recv_event check a completion. */
void sim_flow_send_event(struct sim_flow *f, const struct mt_event *ev);
void sim_flow_recv_event(struct sim_flow *f, const struct mt_event *ev);
/* sim_flow_done says whether all that was posted has happened. */
bool sim_flow_done(const struct sim_flow *f);
/* sim_flow_packet_of returns the number of the packet that a 24-bit PSN names. */
uint64_t sim_flow_packet_of(const struct sim_flow *f, uint32_t psn);
/* sim_flow_message_of returns the message that packet n belongs to. */
struct sim_msg *sim_flow_message_of(const struct sim_flow *f, uint64_t n);

/* sim_flow_of_life returns the flow that this one was in a life; NULL: it never was. */
struct sim_flow *sim_flow_of_life(struct sim_flow *f, uint32_t life);
/* sim_flow_wr_id returns that of the n-th WR posted for a flow, different in each life. */
uint64_t sim_flow_wr_id(const struct sim_flow *f, uint64_t n);

void sim_flow_fini(struct sim_flow *f);
void sim_mr_fini(struct sim_mr *mr);

#endif
