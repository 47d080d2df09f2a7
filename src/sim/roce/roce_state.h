/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roce_state.h - what RoCE's NICs consist of; for roce*.c only.
 *
 * Packets of a QP are numbered from 0 without end; on the wire a PSN would be the lowest 24 bits.
 * Messages are numbered by position, in the order in which they were posted; which message of its
 * flow stands at a position, and where each QP's part of it ends, is kept of those under way.
 */
#ifndef SOFTMRC_SIM_ROCE_ROCE_STATE_H
#define SOFTMRC_SIM_ROCE_ROCE_STATE_H

#include "base/list.h"
#include "sim/kernel/random.h"
#include "sim/nic/nic_set.h"
#include "sim/roce/roce_nic.h"

/* IBTA: BTH; RETH in front of a WRITE; immediate at its end; AETH of an answer; the rest of a
 * CNP. */
#define MS_ROCE_RETH 16u
#define MS_ROCE_IMM 4u
#define MS_ROCE_AETH 4u
#define MS_ROCE_CNP 16u
#define MS_ROCE_DATA_HEADERS_MAX (MS_ROCE_BTH + MS_ROCE_RETH + MS_ROCE_IMM)

enum ms_roce_kind {
	MS_ROCE_DATA,
	MS_ROCE_ACK,
	MS_ROCE_NAK,
	MS_ROCE_CNP_KIND,
};

/* How messages are cut over the QPs of a flow. */
struct ms_rcut {
	uint32_t mtu, qps;
};

/* A packet's bytes. */
struct ms_rpart {
	uint64_t offset; /* in the message */
	uint64_t bytes;
};

/* A QP that sends. */
struct ms_rqp {
	struct ms_rconn *conn;
	uint64_t una, next, end; /* packets: acknowledged, sent next, posted */
	uint64_t top;		 /* sent at least once */
	uint64_t due_ps;	 /* its rate allows the next one */
	uint64_t timer_ns;	 /* when the ACK timeout is over, while on the list of timers */
	struct mb_link timer;
	/* In the heap of its plane, by due_ps and order. */
	struct ms_rqp *left, *right;
	uint64_t order;
	uint32_t rank;
	uint32_t at; /* the position that `next` belongs to, or one before */
	bool queued;
	uint8_t index, plane, retries;
	uint32_t ev;
	struct ms_dcqcn cc;
};

/* A QP that receives. */
struct ms_rrx {
	uint64_t expected;
	uint64_t known;	     /* packets of all messages whose place is known */
	uint64_t from;	     /* the checker: where in the flow the last packet ended */
	uint64_t cnp_ps;     /* the next CNP not before */
	uint32_t unanswered; /* packets since the last ACK */
	bool nak_sent;
	uint32_t ev;
};

/* One end of a flow. */
struct ms_rconn {
	struct ms_flow_end end; /* at the destination `posted` are the messages that are known */
	uint32_t peer, peer_slot;
	struct ms_rcut cut;
	uint32_t queued; /* QPs in heaps */
	bool over;
	uint64_t ends_seen; /* the checker's, at the destination; roce_receive.c */
	uint32_t *message;  /* [position % depth]: which message */
	uint64_t *part_end; /* [position % depth][QP]: packets up to its end */
	union {
		struct ms_rqp *qp;
		struct ms_rrx *rx;
	};
};

/* The counters of a worker: no other thread touches them. */
struct ms_roce_worker {
	struct ms_roce_stats stats;
	uint8_t apart[64]; /* from the next one */
};

struct ms_rhost {
	struct ms_nic_host nic;
	struct ms_roce *r;
	struct ms_roce_stats *stats; /* its worker's */
	uint64_t order;
	struct mb_link timers; /* QPs, by timer_ns: all wait equally long */
	struct ms_rqp *heap[MF_PLANES_MAX];
};

struct ms_roce {
	struct ms_nic_set set;
	struct ms_roce_cfg cfg;
	uint64_t timeout_ns;
	uint64_t line_rate_q; /* ps a byte << 20, of a host's port */
	struct ms_roce_worker *worker;
};

/* ms_rconn_end returns up to which packet of QP i the message at a position goes. */
static inline uint64_t ms_rconn_end(const struct ms_rconn *c, uint32_t position, uint32_t i)
{
	return c->part_end[position % c->end.depth * c->cut.qps + i];
}

/* ---- roce_host.c: hosts, connections, posting, and how messages are cut ---- */

/* ms_roce_split_packets returns how many packets of QP i a message of so many bytes has. */
uint64_t ms_roce_split_packets(const struct ms_rcut *c, uint32_t i, uint64_t bytes);
/* ms_roce_split_packet says which bytes of such a message packet n of QP i has. */
struct ms_rpart ms_roce_split_packet(const struct ms_rcut *c, uint32_t i, uint64_t bytes,
				     uint64_t n);

/* As ms_nic_ops wants them. */
struct ms_nic_host *ms_rhost_open(struct ms_nic_set *set, struct ms_nic_worker *own,
				  uint32_t number, uint64_t now_ns);
struct ms_flow_end *ms_rconn_open(struct ms_nic_host *h, uint32_t id, const struct ms_flow *f,
				  uint64_t now_ps);
bool ms_rconn_post(struct ms_nic_host *h, struct ms_flow_end *e, uint32_t k, uint64_t now_ps);
void ms_rconn_close(struct ms_nic_host *h, struct ms_flow_end *e);
/* ms_rconn_accept makes the destination's end of a flow; NULL: no memory. */
struct ms_rconn *ms_rconn_accept(struct ms_rhost *h, uint32_t slot);
/* ms_rconn_place notes that message k stands at the next position, and where it ends. */
void ms_rconn_place(struct ms_rconn *c, uint32_t k, const uint64_t *before, size_t stride);
/* ms_rconn_passed returns up to which position all QPs have passed; `packets` is what the first QP
 * has passed, of the others `stride` bytes on each. */
uint32_t ms_rconn_passed(const struct ms_rconn *c, const uint64_t *packets, size_t stride);
/* ms_rconn_free gives back a sender's end that is over, when no heap holds a QP of it. */
void ms_rconn_free(struct ms_rhost *h, struct ms_rconn *c);
/* ms_roce_ev returns what switches hash of packets that a QP sends. */
uint32_t ms_roce_ev(const struct ms_roce *r, uint32_t src, uint32_t dst, uint32_t slot,
		    uint32_t index);

/* ---- roce_send.c: a QP that sends ---- */

/* ms_rqp_posted lets a connection's QPs send up to their `end`, which was moved on. */
void ms_rqp_posted(struct ms_nic_host *h, struct ms_flow_end *e, uint64_t now_ps);
/* ms_rqp_receive_ack takes an ACK, NAK or CNP. */
void ms_rqp_receive_ack(struct ms_rhost *h, const struct ms_packet *p, uint64_t now_ps);
/* ms_rqp_timeouts sees to QPs whose ACK timeout is over. */
void ms_rqp_timeouts(struct ms_rhost *h, uint64_t now_ps);
/* ms_rqp_send_all sends what ports have room for and rates allow; returns when to try again. */
uint64_t ms_rqp_send_all(struct ms_rhost *h, struct ms_worker *worker, uint64_t now_ps);

/* ---- roce_receive.c: a QP that receives ---- */

/* ms_rrx_receive_data takes a data packet. */
void ms_rrx_receive_data(struct ms_rhost *h, struct ms_worker *worker, const struct ms_packet *p,
			 uint64_t now_ps);

/* ---- what a packet says ---- */

static inline uint64_t ms_rbody(uint32_t slot, uint32_t index, enum ms_roce_kind kind)
{
	return slot | (uint64_t)index << 32 | (uint64_t)kind << 40;
}

static inline uint32_t ms_rbody_slot(const struct ms_packet *p)
{
	return (uint32_t)p->body[0];
}

static inline uint32_t ms_rbody_index(const struct ms_packet *p)
{
	return (uint32_t)(p->body[0] >> 32) & 0xFF;
}

#define MS_RBODY_FIRST (UINT64_C(1) << 48) /* data: of its QP's part of the message */
#define MS_RBODY_LAST (UINT64_C(1) << 49)

static inline enum ms_roce_kind ms_rbody_kind(const struct ms_packet *p)
{
	return (enum ms_roce_kind)(p->body[0] >> 40 & 0xFF);
}

/* Which words of the body say what else. */
enum {
	MS_RBODY_NUMBER = 1, /* the packet's, or the one expected */
	MS_RBODY_OFFSET,     /* data: in the flow */
	MS_RBODY_BYTES,	     /* data: payload */
	MS_RBODY_MESSAGE,    /* data */
};

#endif
