/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_verbs.h - what the files of fuzz_verbs share: QPs with their CQs, the SRQ of a side, and
 * the datagrams of its UD QP.
 */
#ifndef FUZZ_VERBS_H
#define FUZZ_VERBS_H

#include "verbs_world.h"

#define PAIRS 2u
#define UD PAIRS /* the UD QP is behind those of the pairs */
#define ENDS (PAIRS + 1)
#define CQE 32
/* Receives of the SRQ that are posted and not yet polled: with all sends they fit into a CQ. */
#define SRQ_SLOTS 16u
#define SRQ_SLOTS_FIRST (ENDS * DEPTH)
#define KEYS 2u

struct end {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct model_end model;
	bool shared;	   /* its receives are those of the SRQ */
	bool wants_srq;	   /* when it is made again */
	uint32_t srq_last; /* number of the last receive of the SRQ that it used, plus 1 */
	bool last_wqe;	   /* IBV_EVENT_QP_LAST_WQE_REACHED came in this life */
};

struct srq {
	struct ibv_srq *srq;
	uint32_t life, max_wr;
	uint32_t next;		     /* number of the next receive */
	uint32_t slots[SRQ_SLOTS];   /* number of the receive that has it, plus 1; 0: it is free */
	uint32_t n_posted;	     /* and not polled */
	uint32_t ordered_from;	     /* receives from this number on are used in their order */
	uint32_t limit;		     /* armed, and no event came since; 0: none */
	uint32_t n_armed, n_reached; /* limits and their events */
	bool inexact;		     /* completions were dropped by a reset: n_posted is too high */
};

/* A datagram may get lost. It is delivered at most as often as the network made copies. */
struct datagram {
	uint32_t place, len, qpn, src_qpn, q_key;
	uint32_t n_received;
};

struct verbs_side {
	struct end end[ENDS];
	struct srq srq;
	struct ibv_mw *mw;
	struct ibv_ah *ah;
	struct datagram sent[STEPS_MAX];
	uint32_t n_sent, n_surplus;
	/* The Q_Key of the UD QP, and how much the peer had sent when it last had another one. */
	uint32_t key, key_until[KEYS];
};

struct verbs {
	struct world w;
	struct verbs_side of[SIDES];
	bool drops;    /* resets drop completions, which else are polled before */
	bool extended; /* QPs and CQs are extended ones */
	uint64_t adds_posted, adds_done;
};

/* ---- calls that there are twice, of extended objects: verbs_ext.c ---- */

struct ibv_cq *verbs_create_cq(const struct verbs *v, struct ibv_context *context);
int verbs_poll_cq(const struct verbs *v, struct ibv_cq *cq, int n, struct ibv_wc *wc);
struct ibv_qp *verbs_create_qp(const struct verbs *v, struct ibv_pd *pd,
			       const struct ibv_qp_init_attr *init);
/* verbs_post_send posts one WR; it returns what the call did. */
int verbs_post_send(const struct verbs *v, struct ibv_qp *qp, struct ibv_send_wr *wr);

/* ---- QPs and their completions: verbs_end.c ---- */

/* verbs_open_qp makes a QP that is not there, in RESET; ENOMEM: numbers of QPs are used up. */
void verbs_open_qp(struct verbs *v, uint32_t side, uint32_t i);
/* verbs_destroy_qp destroys one that is there. */
void verbs_destroy_qp(struct verbs *v, uint32_t side, uint32_t i);
/* verbs_to_state is ibv_modify_qp with a state alone, of a QP that is there. */
int verbs_to_state(struct verbs *v, uint32_t side, uint32_t i, enum ibv_qp_state state);
enum ibv_qp_state verbs_state(const struct end *e);
/* verbs_connect makes the QPs of a pair that are not there, resets and connects both. */
void verbs_connect(struct verbs *v, uint32_t pair);
/* verbs_poll polls at most n completions and judges them; it returns how many there were. */
int verbs_poll(struct verbs *v, uint32_t side, uint32_t i, int n);
void verbs_poll_all(struct verbs *v, uint32_t side);
void verbs_take_events(struct verbs *v, uint32_t side);
/* verbs_slot returns where the receive of this number has its bytes, in a queue of the QP's own. */
uint8_t *verbs_slot(const struct verbs *v, uint32_t side, uint32_t i, uint32_t number);

/* ---- the SRQ: verbs_srq.c ---- */

void verbs_srq_open(struct verbs *v, uint32_t side);
void verbs_srq_post(struct verbs *v, uint32_t side);
/* verbs_srq_modify arms a limit or resizes. */
void verbs_srq_modify(struct verbs *v, uint32_t side, uint8_t how);
/* verbs_srq_destroy: that it has users, or that there is none any more. */
void verbs_srq_destroy(struct verbs *v, uint32_t side);
/* verbs_srq_done takes a receive of the SRQ that is complete and returns its slot. */
const uint8_t *verbs_srq_done(struct verbs *v, uint32_t side, struct end *e,
			      const struct ibv_wc *wc);
bool verbs_srq_has(const struct ibv_wc *wc);
void verbs_srq_limit_reached(struct srq *q);
/* verbs_srq_check: what is posted fits the limit that is armed. */
void verbs_srq_check(const struct srq *q);
/* verbs_srq_check_end: exactly what is posted and was not used is there. No QP has it any more. */
void verbs_srq_check_end(struct verbs *v, uint32_t side);

/* ---- datagrams: verbs_ud.c ---- */

void verbs_ud_open(struct verbs *v, uint32_t side);
/* verbs_ud_connect brings the UD QP of a side to RTS, from any state. */
void verbs_ud_connect(struct verbs *v, uint32_t side);
void verbs_ud_send(struct verbs *v, uint32_t side);
void verbs_ud_change(struct verbs *v, uint32_t side, uint8_t how);
/* verbs_ud_received judges a datagram that came, whose GRH and bytes are in slot. */
void verbs_ud_received(struct verbs *v, uint32_t side, const struct ibv_wc *wc,
		       const uint8_t *slot);

#endif
