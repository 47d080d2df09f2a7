/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibv_to_nic.h - libibverbs' structures and the software NIC's, one into the other, where libmrc
 * and the drop-in mean the same by them. Inline, since every completion and WR passes through it.
 * None of these fails, blocks or keeps anything, unless it says so; any thread may call them.
 */
#ifndef SOFTMRC_IBV_IBV_TO_NIC_H
#define SOFTMRC_IBV_IBV_TO_NIC_H

#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "host/nic.h"

/* ---- errors ---- */

/* iv_minus_one reports an errno value as -1, and 0 as 0. */
static inline int iv_minus_one(int err)
{
	if (!err)
		return 0;
	errno = err;
	return -1;
}

/* iv_null reports an errno value as NULL. */
static inline void *iv_null(int err)
{
	errno = err;
	return NULL;
}

/* iv_drop is iv_null of a call that frees the object it could not make; NULL: not even memory. */
static inline void *iv_drop(void *object, int err)
{
	free(object);
	return iv_null(err);
}

/* ---- work requests ---- */

/* The NIC takes the caller's SGE array as it is. */
_Static_assert(sizeof(struct ibv_sge) == sizeof(struct rd_sge), "SGE layout");
_Static_assert(offsetof(struct ibv_sge, addr) == offsetof(struct rd_sge, addr), "SGE layout");
_Static_assert(offsetof(struct ibv_sge, length) == offsetof(struct rd_sge, length), "SGE layout");
_Static_assert(offsetof(struct ibv_sge, lkey) == offsetof(struct rd_sge, lkey), "SGE layout");

/* Flags that have the values of verbs; FENCE has another. */
#define IV_SEND_FLAGS ((unsigned int)(IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE))
_Static_assert((int)RD_SEND_SIGNALED == (int)IBV_SEND_SIGNALED &&
		       (int)RD_SEND_SOLICITED == (int)IBV_SEND_SOLICITED &&
		       (int)RD_SEND_INLINE == (int)IBV_SEND_INLINE,
	       "flags of send WRs");

/* Chains of WRs are translated in batches on the stack. */
#define IV_POST_BATCH 16u

/*
 * How a library translates a WR of the object `of`: 0, or the error of the WR. `bind` is for what a
 * bind says besides and lives as long as *out.
 */
typedef int (*iv_send_to_nic)(const void *of, const struct ibv_send_wr *wr, struct rd_send_wr *out,
			      struct rd_bind *bind);

/* Posts one batch from *wr on and moves *wr past those that were queued. */
static inline int iv_post_send_batch(struct mh_qp *qp, iv_send_to_nic to_nic, const void *of,
				     struct ibv_send_wr **wr)
{
	struct rd_send_wr batch[IV_POST_BATCH];
	struct rd_bind binds[IV_POST_BATCH];
	struct ibv_send_wr *next = *wr;
	uint32_t n = 0, posted = 0;
	int bad = 0, err = 0;

	while (next && n < IV_POST_BATCH) {
		bad = to_nic(of, next, &batch[n], &binds[n]);
		if (bad)
			break;
		next = next->next;
		n++;
	}
	if (n)
		err = mh_qp_post_send(qp, batch, n, &posted);
	while (posted--)
		*wr = (*wr)->next;
	return err ? err : bad;
}

/* iv_post_send posts a chain. On an error *wr is the WR at fault; those before it are queued. */
static inline int iv_post_send(struct mh_qp *qp, iv_send_to_nic to_nic, const void *of,
			       struct ibv_send_wr **wr)
{
	int err = 0;

	while (!err && *wr)
		err = iv_post_send_batch(qp, to_nic, of, wr);
	return err;
}

/* As iv_send_to_nic. */
typedef int (*iv_recv_to_nic)(const void *of, const struct ibv_recv_wr *wr, struct rd_recv_wr *out);

/* Where receives are queued: in an SRQ, or of a QP. */
struct iv_recv_queue {
	struct mh_srq *srq;
	struct mh_qp *qp;
};

/* As iv_post_send_batch. */
static inline int iv_post_recv_batch(struct iv_recv_queue queue, iv_recv_to_nic to_nic,
				     const void *of, struct ibv_recv_wr **wr)
{
	struct rd_recv_wr batch[IV_POST_BATCH];
	struct ibv_recv_wr *next = *wr;
	uint32_t n = 0, posted = 0;
	int bad = 0, err = 0;

	while (next && n < IV_POST_BATCH) {
		bad = to_nic(of, next, &batch[n]);
		if (bad)
			break;
		next = next->next;
		n++;
	}
	if (n)
		err = queue.srq ? mh_srq_post(queue.srq, batch, n, &posted)
				: mh_qp_post_recv(queue.qp, batch, n, &posted);
	while (posted--)
		*wr = (*wr)->next;
	return err ? err : bad;
}

/* As iv_post_send. */
static inline int iv_post_recv(struct iv_recv_queue queue, iv_recv_to_nic to_nic, const void *of,
			       struct ibv_recv_wr **wr)
{
	int err = 0;

	while (!err && *wr)
		err = iv_post_recv_batch(queue, to_nic, of, wr);
	return err;
}

/* ---- completions ---- */

static inline enum ibv_wc_status iv_wc_status(enum rd_wc_status status)
{
	static const enum ibv_wc_status statuses[RD_WC_STATUSES] = {
		[RD_WC_SUCCESS] = IBV_WC_SUCCESS,
		[RD_WC_WR_FLUSH_ERR] = IBV_WC_WR_FLUSH_ERR,
		[RD_WC_REM_INV_REQ_ERR] = IBV_WC_REM_INV_REQ_ERR,
		[RD_WC_REM_ACCESS_ERR] = IBV_WC_REM_ACCESS_ERR,
		[RD_WC_REM_OP_ERR] = IBV_WC_REM_OP_ERR,
		[RD_WC_RETRY_EXC_ERR] = IBV_WC_RETRY_EXC_ERR,
		[RD_WC_FATAL_ERR] = IBV_WC_FATAL_ERR,
		[RD_WC_LOC_PROT_ERR] = IBV_WC_LOC_PROT_ERR,
		[RD_WC_LOC_LEN_ERR] = IBV_WC_LOC_LEN_ERR,
		[RD_WC_RNR_RETRY_EXC_ERR] = IBV_WC_RNR_RETRY_EXC_ERR,
		[RD_WC_MW_BIND_ERR] = IBV_WC_MW_BIND_ERR,
		[RD_WC_LOC_QP_OP_ERR] = IBV_WC_LOC_QP_OP_ERR,
	};

	return statuses[status];
}

static inline enum ibv_wc_opcode iv_wc_opcode(enum rd_wc_opcode opcode)
{
	static const enum ibv_wc_opcode opcodes[] = {
		[RD_WC_WRITE] = IBV_WC_RDMA_WRITE,    [RD_WC_SEND] = IBV_WC_SEND,
		[RD_WC_READ] = IBV_WC_RDMA_READ,      [RD_WC_COMPARE_SWAP] = IBV_WC_COMP_SWAP,
		[RD_WC_FETCH_ADD] = IBV_WC_FETCH_ADD, [RD_WC_ATOMIC_WRITE] = IBV_WC_ATOMIC_WRITE,
		[RD_WC_LOCAL_INV] = IBV_WC_LOCAL_INV, [RD_WC_BIND_MW] = IBV_WC_BIND_MW,
		[RD_WC_RECV] = IBV_WC_RECV,	      [RD_WC_RECV_IMM] = IBV_WC_RECV_RDMA_WITH_IMM,
	};

	return opcodes[opcode];
}

/* What programs see of enum rd_wc_flags, whose values are the same. */
#define IV_WC_FLAGS ((unsigned int)(IBV_WC_GRH | IBV_WC_WITH_IMM | IBV_WC_WITH_INV))
_Static_assert((int)RD_WC_GRH == (int)IBV_WC_GRH && (int)RD_WC_WITH_IMM == (int)IBV_WC_WITH_IMM &&
		       (int)RD_WC_WITH_INV == (int)IBV_WC_WITH_INV,
	       "flags of completions");

/* iv_wc_from_nic fills in a completion. */
static inline void iv_wc_from_nic(const struct mh_wc *nic, struct ibv_wc *wc)
{
	*wc = (struct ibv_wc){
		.wr_id = nic->wr_id,
		.status = iv_wc_status(nic->status),
		.opcode = iv_wc_opcode(nic->opcode),
		.byte_len = nic->byte_len,
		.imm_data = nic->flags & RD_WC_WITH_IMM ? htobe32(nic->imm) : 0,
		.qp_num = nic->qpn,
		.src_qp = nic->src_qpn,
		.wc_flags = nic->flags & IV_WC_FLAGS,
	};
	if (nic->flags & RD_WC_WITH_INV)
		wc->invalidated_rkey = nic->imm;
}

/* Completions are translated in small batches, so that polling needs no memory of its own. */
#define IV_POLL_BATCH 32u

/* iv_poll_cq is mh_cq_poll into n completions of verbs; an error comes alone. */
static inline int iv_poll_cq(struct mh_cq *cq, int n, struct ibv_wc *wc)
{
	struct mh_wc batch[IV_POLL_BATCH];
	int done = 0;

	while (done < n) {
		uint32_t left = (uint32_t)(n - done);
		uint32_t want = left < IV_POLL_BATCH ? left : IV_POLL_BATCH;
		int got = mh_cq_poll(cq, want, batch);

		if (got < 0)
			return done ? done : got;
		for (int i = 0; i < got; i++)
			iv_wc_from_nic(&batch[i], &wc[done++]);
		if ((uint32_t)got < want)
			break;
	}
	return done;
}

/*
 * iv_ack_cq_events acknowledges n of the *unacked events, or all: the NIC must never see more
 * acknowledgements than events, whatever the program passes.
 */
static inline void iv_ack_cq_events(struct mh_cq *cq, atomic_uint *unacked, unsigned int n)
{
	unsigned int have = atomic_load(unacked);
	unsigned int take;

	do {
		take = n < have ? n : have;
	} while (!atomic_compare_exchange_weak(unacked, &have, have - take));
	if (take)
		mh_cq_ack_events(cq, take);
}

/* ---- states of a QP ---- */

/* By enum rd_qp_state. */
static const enum ibv_qp_state iv_states[RD_QPS_COUNT] = {
	[RD_QPS_RESET] = IBV_QPS_RESET, [RD_QPS_INIT] = IBV_QPS_INIT, [RD_QPS_RTR] = IBV_QPS_RTR,
	[RD_QPS_RTS] = IBV_QPS_RTS,	[RD_QPS_SQD] = IBV_QPS_SQD,   [RD_QPS_ERR] = IBV_QPS_ERR,
};

/* iv_state_to_nic: EINVAL: a state that no QP of ours has; *out is as it was. */
static inline int iv_state_to_nic(enum ibv_qp_state state, enum rd_qp_state *out)
{
	for (unsigned int i = 0; i < RD_QPS_COUNT; i++) {
		if (iv_states[i] == state) {
			*out = (enum rd_qp_state)i;
			return 0;
		}
	}
	return EINVAL;
}

static inline enum ibv_qp_state iv_state_from_nic(enum rd_qp_state state)
{
	return iv_states[state];
}

/* ---- attributes of a QP ---- */

static inline struct mh_qp_cap iv_cap_to_nic(const struct ibv_qp_cap *cap)
{
	return (struct mh_qp_cap){
		.max_send_wr = cap->max_send_wr,
		.max_recv_wr = cap->max_recv_wr,
		.max_send_sge = cap->max_send_sge,
		.max_recv_sge = cap->max_recv_sge,
		.max_inline = cap->max_inline_data,
	};
}

/* iv_cap_granted returns the capabilities that a QP was made with. */
static inline struct ibv_qp_cap iv_cap_granted(const struct mh_qp *qp)
{
	struct mh_qp_init nic;

	mh_qp_init_query(qp, &nic);
	return (struct ibv_qp_cap){
		.max_send_wr = nic.cap.max_send_wr,
		.max_recv_wr = nic.cap.max_recv_wr,
		.max_send_sge = nic.cap.max_send_sge,
		.max_recv_sge = nic.cap.max_recv_sge,
		.max_inline_data = nic.cap.max_inline,
	};
}

/*
 * The GID table of the device has one GID, at each of so many indexes: recipes for RoCE devices
 * name index 3, where most of these have the IPv4 address of RoCE v2.
 */
#define IV_GIDS 4

/*
 * iv_dest_to_nic takes where a QP is to send. A QP uses all planes, so of the address only the GIDs
 * count. EINVAL: not an address of the device. REQ(svc.all-planes)
 */
static inline int iv_dest_to_nic(const struct ibv_ah_attr *ah, uint32_t dest_qpn,
				 struct rd_qp_attr *nic)
{
	if (!ah->is_global || ah->grh.sgid_index >= IV_GIDS || dest_qpn > RD_BITS_24)
		return EINVAL;
	memcpy(nic->dest.b, ah->grh.dgid.raw, sizeof(nic->dest.b));
	nic->dest_qpn = dest_qpn;
	return 0;
}

/* iv_mtu_to_nic: EINVAL: not an MTU of verbs; *bytes is as it was. */
static inline int iv_mtu_to_nic(enum ibv_mtu mtu, uint32_t *bytes)
{
	if (mtu < IBV_MTU_256 || mtu > IBV_MTU_4096)
		return EINVAL;
	*bytes = 128u << mtu;
	return 0;
}

static inline enum ibv_mtu iv_mtu_from_nic(uint32_t bytes)
{
	enum ibv_mtu mtu = IBV_MTU_256;

	while (mtu < IBV_MTU_4096 && (128u << mtu) < bytes)
		mtu++;
	return mtu;
}

/* ---- rights ---- */

/* Rights have the values of verbs. */
_Static_assert((int)RD_ACCESS_LOCAL_WRITE == (int)IBV_ACCESS_LOCAL_WRITE &&
		       (int)RD_ACCESS_REMOTE_WRITE == (int)IBV_ACCESS_REMOTE_WRITE &&
		       (int)RD_ACCESS_REMOTE_READ == (int)IBV_ACCESS_REMOTE_READ &&
		       (int)RD_ACCESS_REMOTE_ATOMIC == (int)IBV_ACCESS_REMOTE_ATOMIC &&
		       (int)RD_ACCESS_MW_BIND == (int)IBV_ACCESS_MW_BIND,
	       "access rights");

/* ---- asynchronous events ---- */

/* A responder fails by what its peer asked for; IBTA has an event for each of the two cases. */
static inline enum ibv_event_type iv_qp_fatal_type(enum rd_wc_status status)
{
	if (status == RD_WC_REM_ACCESS_ERR)
		return IBV_EVENT_QP_ACCESS_ERR;
	if (status == RD_WC_REM_INV_REQ_ERR)
		return IBV_EVENT_QP_REQ_ERR;
	return IBV_EVENT_QP_FATAL;
}

static inline enum ibv_event_type iv_event_type(const struct mh_async_event *nic)
{
	static const enum ibv_event_type types[] = {
		[MH_ASYNC_CQ_ERR] = IBV_EVENT_CQ_ERR,
		[MH_ASYNC_SQ_DRAINED] = IBV_EVENT_SQ_DRAINED,
		[MH_ASYNC_LAST_WQE] = IBV_EVENT_QP_LAST_WQE_REACHED,
		[MH_ASYNC_SRQ_LIMIT] = IBV_EVENT_SRQ_LIMIT_REACHED,
		[MH_ASYNC_PORT_DOWN] = IBV_EVENT_PORT_ERR,
		[MH_ASYNC_PORT_UP] = IBV_EVENT_PORT_ACTIVE,
	};

	return nic->type == MH_ASYNC_QP_FATAL ? iv_qp_fatal_type(nic->status) : types[nic->type];
}

/* iv_get_async_event is mh_async_get for the events that verbs has: a QP that failed as requester
 * said so by a completion. */
static inline int iv_get_async_event(struct mh_device *dev, struct mh_async_event *nic)
{
	int err = mh_async_get(dev, nic);

	while (!err && nic->type == MH_ASYNC_QP_FATAL && !nic->responder) {
		mh_async_ack(dev, nic);
		err = mh_async_get(dev, nic);
	}
	return err;
}

/* iv_is_qp_event says whether an event names a QP, whose destruction waits for it. */
static inline bool iv_is_qp_event(enum ibv_event_type type)
{
	return type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_QP_REQ_ERR ||
	       type == IBV_EVENT_QP_ACCESS_ERR || type == IBV_EVENT_SQ_DRAINED ||
	       type == IBV_EVENT_QP_LAST_WQE_REACHED;
}

/* iv_ack_qp_event acknowledges such an event. */
static inline void iv_ack_qp_event(struct mh_device *dev, enum ibv_event_type type,
				   struct mh_qp *qp)
{
	struct mh_async_event nic = {.type = MH_ASYNC_QP_FATAL, .qp = qp};

	if (type == IBV_EVENT_SQ_DRAINED)
		nic.type = MH_ASYNC_SQ_DRAINED;
	else if (type == IBV_EVENT_QP_LAST_WQE_REACHED)
		nic.type = MH_ASYNC_LAST_WQE;
	mh_async_ack(dev, &nic);
}

#endif
