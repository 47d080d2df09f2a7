/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wq.h - a QP's send queue and receive queue, which are its completion store as well.
 *
 * Work requests are counted from 0 since RESET; the count of a send WR is its MSN. A slot is taken
 * at post and free again when its completion was polled, so that completions need no queue of
 * their own and can never overflow one:
 *
 *	send:     head <= done <= next <= tail
 *	          unpolled, complete | sent, not complete | not sent in full
 *	receive:  head <= used <= tail
 */
#ifndef SOFTMRC_CORE_WINDOW_WQ_H
#define SOFTMRC_CORE_WINDOW_WQ_H

#include "core/types.h"

/* In the flags of a WQE: it asks for an answer, and completes with it. */
#define MT_WQE_AWAITS_RESPONSE 0x80u
/* Likewise: memory that it names is none of the QP's; the QP fails when it would begin. */
#define MT_WQE_NO_MEMORY 0x40u

/* A send WR while it is queued. */
struct mt_wqe {
	uint64_t wr_id;
	uint64_t remote_addr;
	uint64_t first_psn;
	uint32_t n_packets;
	uint32_t length; /* of its packets' payload together */
	uint32_t rkey;
	uint32_t imm;	/* READ: its length */
	uint16_t rqmsn; /* number of WRITE_WITH_IMM before it, modulo 2^16 */
	uint8_t n_sge;
	uint8_t flags;	  /* enum rd_send_flags, MT_WQE_* */
	uint8_t status;	  /* enum rd_wc_status, once complete */
	uint8_t opcode;	  /* enum rd_wr_opcode */
	uint8_t first_op; /* enum mw_opcode of its first of several packets, ... */
	uint8_t last_op;  /* ... and of its last, or only one */
};

/* mt_wqe_end returns the first PSN behind a WQE. */
static inline uint64_t mt_wqe_end(const struct mt_wqe *wqe)
{
	return wqe->first_psn + wqe->n_packets;
}

struct mt_sq {
	struct mt_wqe *wqes;
	struct rd_sge *sges; /* max_sge for each slot */
	uint64_t head, done, next, tail;
	uint32_t depth; /* as asked for */
	uint32_t mask;	/* slots - 1, slots being a power of two */
	uint32_t max_sge;
	bool signal_all;
};

/*
 * What has come of a message whose packets name their offset in it: how many packets, and the PSN
 * with which it begins, on which offset and PSN of each must agree. Each PSN comes once, so that it
 * is whole when there are as many as it has. REQ(rsp.complete.whole)
 */
struct mt_parts {
	uint32_t first; /* as on the wire */
	uint32_t count;
};

/* A receive WR, and then what arrived for it. */
struct mt_rqe {
	uint64_t wr_id;
	uint32_t imm;
	uint32_t byte_len; /* of the message; SEND: from its first packet on */
	struct mt_parts parts;
	uint32_t msn;	/* low bits, of the message that it is for, once `arrived` */
	uint8_t status; /* enum rd_wc_status */
	uint8_t n_sge;
	uint8_t opcode; /* enum rd_wr_opcode of what arrived */
	bool solicited : 1;
	bool with_imm : 1;
	bool arrived : 1;  /* the end of its message did; see ext/ext.h */
	bool with_inv : 1; /* `imm` is a key that the message invalidates, ... */
	bool inv_due : 1;  /* ... and has not yet */
};

struct mt_rq {
	struct mt_rqe *rqes; /* behind them max_sge SGEs for each slot */
	uint64_t head, used, tail;
	uint32_t mask;
	uint16_t depth;
	uint16_t max_sge;
	struct mt_srq *srq; /* where its receives come from; NULL: they are posted here */
};

static inline struct mt_wqe *mt_sq_at(const struct mt_sq *sq, uint64_t msn)
{
	return &sq->wqes[msn & sq->mask];
}

static inline const struct rd_sge *mt_sq_sges(const struct mt_sq *sq, const struct mt_wqe *wqe)
{
	return &sq->sges[(size_t)(wqe - sq->wqes) * sq->max_sge];
}

static inline struct rd_sge *mt_rq_sges(const struct mt_rq *rq, const struct mt_rqe *rqe)
{
	struct rd_sge *sges = (struct rd_sge *)(rq->rqes + rq->mask + 1);

	return sges + (size_t)(rqe - rq->rqes) * rq->max_sge;
}

static inline struct mt_rqe *mt_rq_at(const struct mt_rq *rq, uint64_t n)
{
	return &rq->rqes[n & rq->mask];
}

/*
 * mt_sq_reset and mt_rq_reset empty a queue; what was in it is gone.
 * REQ(req.complete.order) REQ(req.complete.once)
 */
void mt_sq_reset(struct mt_sq *sq);
void mt_rq_reset(struct mt_rq *rq);
/*
 * mt_sq_alloc returns a free slot, or NULL when depth WRs are unpolled. Slots of unsignalled WRs
 * that succeeded are freed first.
 */
struct mt_wqe *mt_sq_alloc(struct mt_sq *sq);
/* mt_rq_push adds a receive, for which there is room. */
void mt_rq_push(struct mt_rq *rq, const struct rd_recv_wr *wr);
/* mt_sq_complete completes all WRs before msn with success. */
void mt_sq_complete(struct mt_sq *sq, uint64_t msn);
/* mt_sq_flush completes the oldest WR with first, and all behind it as flushed. */
void mt_sq_flush(struct mt_sq *sq, enum rd_wc_status first);
/* mt_rq_flush completes the oldest receive with first, and all behind it as flushed. */
void mt_rq_flush(struct mt_rq *rq, enum rd_wc_status first);
/*
 * mt_sq_poll and mt_rq_poll take one completion, of a send WR whose count is below `below`; false
 * when there is none.
 */
bool mt_sq_poll(struct mt_sq *sq, uint64_t below, struct mt_event *ev);
bool mt_rq_poll(struct mt_rq *rq, struct mt_event *ev);

#endif
