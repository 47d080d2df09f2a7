/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ext.h - what QPs with extensions do beyond MRC (docs/protocol.md), one section for each file; for
 * core/ only.
 */
#ifndef SOFTMRC_CORE_EXT_EXT_H
#define SOFTMRC_CORE_EXT_EXT_H

#include "core/state/qp.h"

/* ---- send WRs of the extensions ---- */

/* mt_wr_is_supported says whether a WR that is no WRITE is one that the QP has, and well formed. */
bool mt_wr_is_supported(const struct mt_qp *qp, const struct rd_send_wr *wr, uint64_t length);
/* mt_wqe_extend makes what such a WR asks for of a WQE that was filled in as a WRITE. */
void mt_wqe_extend(struct mt_qp *qp, struct mt_wqe *wqe, const struct rd_send_wr *wr);
/*
 * mt_ext_may_begin says whether the next WQE of a QP with extensions may begin; what never may
 * fails when all before it is complete.
 */
MT_COLD bool mt_ext_may_begin(struct mt_qp *qp, const struct mt_wqe *wqe);

/* ---- send WRs that need no packet; see core/state/qp.h ---- */

/*
 * mt_local_wr_execute executes those before which all is sent; false: one comes before the next
 * WQE. It may fail the QP.
 */
MT_COLD bool mt_local_wr_execute(struct mt_qp *qp);
/* mt_local_wr_poll takes the oldest completion of either queue of a QP that has this one. */
MT_COLD bool mt_local_wr_poll(struct mt_qp *qp, struct mt_event *ev);
/* mt_local_wr_free drops all, and unbinds the windows that were bound on the QP. */
void mt_local_wr_free(struct mt_qp *qp);

/* ---- memory windows ---- */

/*
 * Memory windows: keys for a part of an MR that work requests bind and invalidate, in the
 * order of posting, without registering anything.
 *
 * A window of type 1 may be bound again while it is bound, and to nothing; any QP of its PD's peers
 * uses it. One of type 2 belongs to the QP that bound it, and must be invalidated before it is
 * bound again: by that QP itself, or by its peer with a SEND. A bound window keeps its MR where it
 * is. REQ(ext.mw.bind) REQ(ext.mw.invalidate)
 */

/*
 * mt_mw_bind makes a window what a WR of the QP asks for; false: it may not, and nothing has
 * changed.
 */
bool mt_mw_bind(struct mt_qp *qp, const struct mt_local_wr *wr);
/*
 * mt_mw_invalidate ends the validity of the key of a window of type 2 that is bound on this QP;
 * false: it names none.
 */
bool mt_mw_invalidate(struct mt_qp *qp, uint32_t rkey);
/* mt_mw_unbind_qp unbinds all windows that are bound on this QP. */
void mt_mw_unbind_qp(struct mt_qp *qp);

/* ---- receives ---- */

/*
 * Which receive a packet is for, with the extension.
 *
 * The n-th message that takes a receive takes the n-th receive posted; each of its packets carries
 * n. So packets of several SENDs may come in any order, and no receive need be looked for. A
 * receive completes when its message and all before it have; until then it remembers what it will
 * say. REQ(ext.recv.match) REQ(ext.recv.order)
 */
enum mt_recv_found {
	MT_RECV_POSTED,
	MT_RECV_NOT_YET, /* it is not posted: the sender must wait */
	MT_RECV_PAST,	 /* it is complete: the peer is wrong */
};

/*
 * mt_recv_find looks for the receive with the 16-bit number n and returns it in *rqe. A queue with
 * an SRQ takes what it misses from there.
 */
enum mt_recv_found mt_recv_find(struct mt_rq *rq, uint16_t n, struct mt_rqe **rqe);
/* mt_recv_room returns how many bytes a receive has room for. */
uint64_t mt_recv_room(const struct mt_rq *rq, const struct mt_rqe *rqe);
/*
 * mt_parts_fit says whether the packet can be one of a message's packets, mt_parts_add counts it,
 * and mt_parts_are_whole says whether all of `length` bytes are there.
 */
bool mt_parts_fit(const struct mt_parts *p, const struct mt_incoming *c);
void mt_parts_add(struct mt_parts *p, const struct mt_incoming *c);
static inline bool mt_parts_are_whole(const struct mt_parts *p, uint32_t length, uint32_t mtu)
{
	return p->count == (length ? (length - 1) / mtu + 1 : 1);
}
/*
 * mt_recv_complete_below completes the receives that no earlier message blocks: those of messages
 * below msn; true in *torn: the next one is of a message that ended without all its packets.
 */
bool mt_recv_complete_below(struct mt_rq *rq, uint64_t msn, uint32_t mtu, bool *torn);

/* ---- shared receive queues ---- */

/*
 * A shared receive queue: receives for several QPs.
 *
 * A QP with an SRQ has a receive queue of its own as others have, but nothing is posted there: when
 * a packet comes whose message takes the n-th receive of the QP, the QP takes the next ones of the
 * SRQ up to its n-th, all or none. So receives are bound to messages in the order in which packets
 * ask, and to no QP before one does. A QP that is reset gives back what it took and has not used.
 * REQ(ext.srq.take)
 */
struct mt_srq_entry {
	uint64_t wr_id;
	uint32_t n_sge;
};

struct mt_srq {
	struct mt_engine *engine;
	void *user;
	struct mb_link limited; /* on engine->limited, while its limit event is to be polled */
	struct mt_srq_entry *entries;
	struct rd_sge *sges; /* max_sge for each slot */
	uint64_t head, tail; /* posted and not taken */
	uint32_t taken;	     /* by QPs, and not polled */
	uint32_t limit;	     /* 0: not armed */
	uint32_t mask;	     /* slots - 1 */
	uint32_t depth;	     /* of posted and taken together */
	uint32_t max_sge, pd;
};

/* mt_srq_fill takes receives for a QP up to its n-th; false: too few, no room, or others need
 * them. */
bool mt_srq_fill(struct mt_rq *rq, uint64_t n);
/* mt_srq_return gives the unused receives of a QP back to its SRQ; used ones are dropped. */
void mt_srq_return(struct mt_rq *rq);
/* mt_srq_poll takes the event that a limit was reached; false when there is none. */
bool mt_srq_poll(struct mt_engine *e, struct mt_event *ev);

/* ---- READs and atomics; see core/state/qp.h ---- */

/*
 * mt_rd_atomic_attach makes mem, sizeof(struct mt_rd_atomic) of the pool, the block of a QP whose
 * EV set is there; it answers from then on. mt_rd_atomic_enable_rx makes it take answers as well.
 * `a`: the QP's attributes.
 */
void mt_rd_atomic_attach(struct mt_qp *qp, void *mem, const struct rd_qp_attr *a);
void mt_rd_atomic_enable_rx(struct mt_qp *qp, const struct rd_qp_attr *a);
/* mt_rd_atomic_free gives the block of a QP back, if it has one. */
void mt_rd_atomic_free(struct mt_qp *qp);

/* mt_rd_atomic_begin notes that the request with this MSN begins. */
MT_COLD void mt_rd_atomic_begin(struct mt_qp *qp, uint64_t msn);

/* mt_rd_atomic_control_qp returns the QP for a control packet in the PSNs of answers; NULL:
 * none. */
struct mt_qp *mt_rd_atomic_control_qp(struct mt_qp *qp, uint8_t opcode);

enum mt_rd_atomic_req_check {
	MT_REQUEST_ACCEPTED,
	MT_REQUEST_MALFORMED,
	MT_REQUEST_NO_MEMORY, /* for its answer */
};

/* mt_rd_atomic_check_req looks at a READ or atomic of the peer; mt_rd_atomic_queue_req keeps it
 * until all before it is placed. */
enum mt_rd_atomic_req_check mt_rd_atomic_check_req(const struct mt_incoming *c);
void mt_rd_atomic_queue_req(const struct mt_incoming *c);
/*
 * mt_rd_atomic_next_req takes the next request of the peer that is not refused and before which
 * nothing is missing, with an MSN below `below`; false: there is none.
 */
bool mt_rd_atomic_next_req(struct mt_qp *qp, uint64_t below, struct mt_rd_atomic_req *request);
/*
 * mt_rd_atomic_implied_ack returns below which MSN another request acknowledges answers; 0: none.
 */
uint64_t mt_rd_atomic_implied_ack(const struct mt_rd_atomic *r);
/* mt_rd_atomic_execute executes a request, or answers its message with a NAK. */
void mt_rd_atomic_execute(struct mt_rd_atomic *r, const struct mt_rd_atomic_req *q);

enum mt_response_found {
	MT_RESPONSE_PLACED,
	MT_RESPONSE_MALFORMED, /* not what was asked for */
	MT_RESPONSE_NO_MEMORY, /* that of the WR is gone, and the QP in ERR */
};

/*
 * mt_rd_atomic_place_resp places the bytes of an answer; mt_rd_atomic_resp_done follows when its
 * PSN is noted, and says below which MSN answers that are whole acknowledge messages; 0: none.
 * It returns false where one ended without all its packets, and the QP in ERR.
 */
enum mt_response_found mt_rd_atomic_place_resp(const struct mt_incoming *c);
bool mt_rd_atomic_resp_done(const struct mt_incoming *c, uint64_t *below);

/* ---- steps of the responder ---- */

/*
 * mt_ext_admit says whether a packet of the extension is one that both ends know, and hands answers
 * to the QP that takes them.
 */
MT_COLD bool mt_ext_admit(struct mt_incoming *c);
/* mt_recv_check_room NAKs what is longer than its receive, or not where its message has it. */
void mt_recv_check_room(const struct mt_incoming *c);
/* mt_recv_note notes what a packet says of the message for its receive. */
void mt_recv_note(const struct mt_incoming *c);
/* mt_recv_complete completes receives when messages are complete. */
MT_COLD void mt_recv_complete(struct mt_qp *qp);
/*
 * mt_recv_scatter places bytes (NULL: none travel) in the pieces of a walk over memory of a PD;
 * false: some of it is gone.
 */
bool mt_recv_scatter(const struct mt_incoming *c, uint32_t pd, struct rd_sge_walk walk,
		     const void *bytes);
/* mt_recv_place puts a SEND into the pieces of its receive. */
void mt_recv_place(const struct mt_incoming *c);
/* mt_in_order_must_wait says whether the packet is an end of a WRITE that must wait. */
bool mt_in_order_must_wait(const struct mt_incoming *c);
/* mt_in_order_buffer lets it wait, in c->buffered. */
void mt_in_order_buffer(const struct mt_incoming *c);
/* mt_in_order_place places what waited for the holes that are filled now, of such messages. */
void mt_in_order_place(struct mt_qp *qp, uint64_t below);

#endif
