/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shared.h - what several ends share: receives that QPs take from a queue of their node, and keys
 * of memory windows, which come and go while they are used.
 *
 * Which message takes a receive of an SRQ follows from what arrives first. It is learned with the
 * first byte that is placed there, or from its completion, and holds from then on. So each receive
 * completes once and with the bytes of one message; those that never do must still be in the queue
 * in the end, each once.
 */
#ifndef SIM_SHARED_H
#define SIM_SHARED_H

#include "checker.h"

struct sim_node;
struct sim_qp;
struct sim_mr;

/* ---- SRQs ---- */

#define SIM_NO_RECV UINT64_MAX

struct sim_srq {
	struct sim_node *node;
	struct sim_mr *mr; /* its receives are in */
	struct mt_srq *srq;
	void *first, *resized; /* its memory, each of exactly the size that it needs */
	uint32_t depth, max_sge, recv_room;
	struct {
		struct sim_msg *msg; /* that took it, once that is known */
		bool done;
	} * recvs;
	size_t room;
	uint64_t posted, done;
	uint32_t armed; /* limit; 0: none */
	bool due;	/* there were fewer receives than that, and no event yet */
	uint64_t not_before_ns;
};

/* sim_srq_open makes the SRQ of a node, with receives of recv_room bytes in the memory of a PD. */
struct sim_srq *sim_srq_open(struct sim_node *node, uint32_t depth, uint32_t recv_room,
			     uint32_t pd);
void sim_srq_fini(struct sim_srq *srq);
/* sim_srq_post posts a receive, or finds the queue full exactly when it must be. */
bool sim_srq_post(struct sim_srq *srq);
/* sim_srq_resize and sim_srq_arm fail the world when the engine takes what it must refuse, or
 * the other way round. */
void sim_srq_resize(struct sim_srq *srq, uint32_t depth);
void sim_srq_arm(struct sim_srq *srq, uint32_t limit);
/* sim_srq_take returns the message that receive n belongs to: `given`, if it is the first. */
struct sim_msg *sim_srq_take(struct sim_srq *srq, uint64_t n, struct sim_msg *given);
/* sim_srq_completed notes a completion; m: the message that is due, NULL for one flushed. */
bool sim_srq_completed(struct sim_srq *srq, struct sim_msg *m, const struct mt_event *ev);
void sim_srq_limit_event(struct sim_srq *srq);
/* sim_srq_check holds the queue against what must be true between any two events. */
void sim_srq_check(struct sim_srq *srq);
/* sim_srq_end empties an SRQ whose QPs are in RESET: what never completed must come out. */
void sim_srq_end(struct sim_srq *srq);

/* ---- memory windows ---- */

/* A key that a window had: what was sent with it may not change memory once it is over. */
struct sim_key {
	uint32_t rkey;
	bool over;
	uint64_t addr; /* where it began, for who uses it still */
	struct sim_key *before;
};

enum sim_mw_state {
	SIM_MW_FREE,   /* bound to nothing */
	SIM_MW_ASKED,  /* a bind is posted */
	SIM_MW_BOUND,  /* the peer may use it */
	SIM_MW_RESTS,  /* it may not any more */
	SIM_MW_ENDING, /* its end is posted, here or there */
};

/* A window of one end of a connection; the other end uses it. */
struct sim_mw {
	struct sim_qp *qp;
	uint32_t index;
	enum rd_mw_type type;
	enum sim_mw_state state;
	struct sim_key *key; /* the newest first */
	uint64_t base, length, taken;
	bool zero_based;
	size_t last_use; /* messages of the peer up to there use it */
};

#define SIM_MWS 2u
#define SIM_LOCALS_MAX (2 * SIM_MWS)

/* WRs without packets, in their order among the messages. */
struct sim_locals {
	struct {
		uint64_t wr_id;
		size_t after; /* so many messages were posted before */
		enum rd_wr_opcode opcode;
		struct sim_mw *mw;
	} of[SIM_LOCALS_MAX];
	uint32_t n;
	uint64_t posted;
};

/* sim_mw_open makes a window of an end; sim_mws_fini frees the keys of all. */
void sim_mw_open(struct sim_qp *qp, uint32_t i, enum rd_mw_type type);
void sim_mws_fini(struct sim_qp *qp);
/* sim_mw_bind posts a bind to `length` fresh bytes, with another key; false: try again later. */
bool sim_mw_bind(struct sim_mw *mw, uint64_t length, bool zero_based, uint32_t flags);
/* sim_mw_end posts the end of a binding: LOCAL_INV, or for type 1 a bind to nothing. */
bool sim_mw_end(struct sim_mw *mw, uint32_t flags);
/* sim_mw_aim gives a message the next len bytes of a window. */
void sim_mw_aim(struct sim_mw *mw, uint32_t len, struct sim_msg *m);
/* sim_mw_is_quiet says whether all that uses the window is complete. */
bool sim_mw_is_quiet(const struct sim_mw *mw);
/* sim_local_event judges the completion of a WR without packets. */
void sim_local_event(struct sim_qp *qp, const struct mt_event *ev);
/* sim_local_check fails when a message completes before a local WR that was posted before it. */
void sim_local_check(struct sim_qp *qp);
/* sim_mw_invalidated takes the window that a receive says a SEND has made invalid. */
void sim_mw_invalidated(struct sim_qp *qp, const struct sim_msg *m, const struct mt_event *ev);

#endif
