/* SPDX-License-Identifier: BSD-2-Clause */
/* nic_post.c - posting work: WRs are checked, handed to the engine and sent from the caller's
 * thread. */
#include <errno.h>
#include <string.h>

#include "host/datapath/datapath.h"
#include "host/progress/progress.h"
#include "host/verbs/verbs.h"

#define POST_FLAGS_ALL                                                                   \
	((uint32_t)RD_SEND_IMM | RD_SEND_SIGNALED | RD_SEND_SOLICITED | RD_SEND_INLINE | \
	 RD_SEND_FENCE | RD_SEND_INV)
#define POST_BYTES_MAX UINT32_MAX

/* To the engine key 0 is memory of ours; a program that says it gets another one that is none. */
#define UNBOUND_RKEY 1u

/* The core compares them with their MRs. REQ(api.post-send.lkey) */
static int post_gather(const struct rd_sge *from, uint32_t n, struct rd_sge *sge, uint32_t *n_sge)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (from[i].length == 0)
			continue;
		bytes += from[i].length;
		sge[(*n_sge)++] = (struct rd_sge){
			.addr = from[i].addr,
			.length = from[i].length,
			.lkey = from[i].lkey == MT_LKEY_ADAPTER ? UNBOUND_RKEY : from[i].lkey,
		};
	}
	return bytes > POST_BYTES_MAX ? EINVAL : 0;
}

/* post_inline_slot returns where the inline bytes of the next WR go. */
static uint8_t *post_inline_slot(const struct mh_qp *qp)
{
	uint64_t slot = qp->send.posted % qp->init.cap.max_send_wr;

	return qp->inline_bytes + slot * qp->init.cap.max_inline;
}

/*
 * post_inline describes the copy before it is made: the bytes are copied only when the engine has
 * taken the WR, for until then the slot may hold those of an older one.
 */
static int post_inline(const struct mh_qp *qp, const struct rd_send_wr *wr, struct rd_sge *sge,
		       struct rd_send_wr *out)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < wr->n_sge; i++)
		bytes += wr->sge[i].length;
	if (bytes > qp->init.cap.max_inline)
		return EINVAL;
	if (bytes == 0)
		return 0;
	sge[0] = (struct rd_sge){
		.addr = (uintptr_t)post_inline_slot(qp),
		.length = (uint32_t)bytes,
		.lkey = MT_LKEY_ADAPTER,
	};
	out->n_sge = 1;
	return 0;
}

static void post_copy_inline(const struct mh_qp *qp, const struct rd_send_wr *wr)
{
	uint8_t *to = post_inline_slot(qp);

	for (uint32_t i = 0; i < wr->n_sge; i++) {
		if (wr->sge[i].length > 0)
			memcpy(to, (const void *)(uintptr_t)wr->sge[i].addr, wr->sge[i].length);
		to += wr->sge[i].length;
	}
}

/*
 * unpolled_wrs returns how many places of a queue are taken. The engine's own count would not do: a
 * place is free only when the program has polled its completion.
 */
static uint32_t unpolled_wrs(const struct mh_wr_count *count)
{
	return (uint32_t)(count->posted -
			  atomic_load_explicit(&count->polled, memory_order_relaxed));
}

/*
 * Which WRs are signalled is kept until they complete: an unsignalled one is complete with the next
 * signalled one behind it.
 */
static void count_posted_send(struct mh_qp *qp, const struct rd_send_wr *wr)
{
	qp->signaled[qp->send.posted++ % qp->init.cap.max_send_wr] =
		qp->init.signal_all || (wr->flags & RD_SEND_SIGNALED);
}

/* post_local_wr posts what needs no packet. */
static int post_local_wr(struct mh_qp *qp, const struct rd_send_wr *wr)
{
	int err;

	if (wr->flags & ~POST_FLAGS_ALL || wr->opcode > RD_WR_BIND_MW)
		return EINVAL;
	if (unpolled_wrs(&qp->send) >= qp->init.cap.max_send_wr)
		return ENOMEM;
	err = wr->opcode == RD_WR_BIND_MW ? mh_mw_post_bind(qp, wr) : mh_mw_post_invalidate(qp, wr);
	if (!err)
		count_posted_send(qp, wr);
	return err;
}

/* post_to_transport hands a send WR to the engine that the QP belongs to. */
static int post_to_transport(struct mh_qp *qp, uint64_t now_ns, const struct rd_send_wr *wr)
{
	const struct rd_ah *ah = wr->ud.ah;
	int result;

	if (qp->init.type == MH_QPT_UD &&
	    !(ah && mh_addr_is_reachable(&qp->nic->ports.map, ah->dest.b)))
		return EINVAL;
	if (qp->ud)
		return mu_qp_post_send(qp->ud, wr) ? 0 : EINVAL;
	MH_ENGINE_CALL(qp->nic, result, mt_qp_post_send(qp->mt, now_ns, wr));
	return mh_engine_errno(result);
}

static int post_send_one(struct mh_qp *qp, uint64_t now_ns, const struct rd_send_wr *wr)
{
	struct rd_sge sge[RD_SGE_MAX];
	struct rd_send_wr out = *wr;
	bool is_inline = wr->flags & RD_SEND_INLINE;
	int result;

	if (!qp->ud && wr->opcode >= RD_WR_LOCAL_INV)
		return post_local_wr(qp, wr);
	if ((wr->flags & ~POST_FLAGS_ALL) || wr->n_sge > qp->init.cap.max_send_sge ||
	    (is_inline && wr->opcode >= RD_WR_READ && wr->opcode != RD_WR_ATOMIC_WRITE))
		return EINVAL;
	if (unpolled_wrs(&qp->send) >= qp->init.cap.max_send_wr)
		return ENOMEM;
	out.sge = sge;
	out.n_sge = 0;
	if (!qp->ud)
		out.flags &= ~(uint32_t)RD_SEND_INLINE;
	result = is_inline ? post_inline(qp, wr, sge, &out)
			   : post_gather(wr->sge, wr->n_sge, sge, &out.n_sge);
	if (result)
		return result;
	result = post_to_transport(qp, now_ns, &out);
	if (result)
		return result;
	if (is_inline && out.n_sge > 0)
		post_copy_inline(qp, wr);
	count_posted_send(qp, wr);
	return 0;
}

/* post_bytes returns what there is to send for the first n WRs of a list. */
static uint64_t post_bytes(const struct rd_send_wr *wr, uint32_t n)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < wr[i].n_sge; k++)
			bytes += wr[i].sge[k].length;
	return bytes;
}

/*
 * One lock for the whole list, and one run of TX at most: a program that posts in lists pays once.
 * What was queued before an error is sent all the same, as *posted says. REQ(api.post-send.full)
 */
int mh_qp_post_send(struct mh_qp *qp, const struct rd_send_wr *wr, uint32_t n, uint32_t *posted)
{
	struct mh_nic *nic = qp->nic;
	uint32_t done = 0;
	uint64_t now;
	int err = 0;

	if (posted)
		*posted = 0;
	if (mh_nic_is_inherited(nic))
		return ENODEV;
	mh_nic_lock(nic);
	/* Not before the lock: its last holder has told the engine a later time than that. */
	now = mh_now_ns();
	while (done < n && !err) {
		err = post_send_one(qp, now, &wr[done]);
		if (!err)
			done++;
	}
	mh_progress_ring(nic, now, done, post_bytes(wr, done));
	mh_nic_unlock(nic);
	if (posted)
		*posted = done;
	return err;
}

uint32_t mh_qp_send_wrs_free(const struct mh_qp *qp)
{
	uint32_t taken;

	if (mh_nic_is_inherited(qp->nic))
		return 0;
	mh_nic_lock(qp->nic);
	taken = unpolled_wrs(&qp->send);
	mh_nic_unlock(qp->nic);
	return qp->init.cap.max_send_wr - taken;
}

/* A plain MRC QP receives immediates only, which need no memory: its receives have no SGEs. */
static int post_recv_one(struct mh_qp *qp, const struct rd_recv_wr *wr)
{
	struct rd_sge sge[RD_SGE_MAX];
	struct rd_recv_wr out = {.wr_id = wr->wr_id, .sge = sge};
	int result;

	if (qp->init.srq ||
	    wr->n_sge > (qp->init.extended || qp->ud ? qp->init.cap.max_recv_sge : 0))
		return EINVAL;
	if (unpolled_wrs(&qp->recv) >= qp->init.cap.max_recv_wr)
		return ENOMEM;
	result = post_gather(wr->sge, wr->n_sge, sge, &out.n_sge);
	if (result && !qp->ud) /* a datagram's receive may name more than it will ever get */
		return result;
	if (qp->ud)
		result = mu_qp_post_recv(qp->ud, &out) ? MT_OK : MT_ERR_STATE;
	else
		MH_ENGINE_CALL(qp->nic, result, mt_qp_post_recv_sges(qp->mt, &out));
	if (result == MT_OK)
		qp->recv.posted++;
	return mh_engine_errno(result);
}

/* srq_post_one: a gathered list is checked when it is used. */
static int srq_post_one(struct mh_srq *srq, const struct rd_recv_wr *wr)
{
	struct rd_sge sge[RD_SGE_MAX];
	struct rd_recv_wr out = {.wr_id = wr->wr_id, .sge = sge};
	int err;

	if (wr->n_sge > srq->cap.max_sge)
		return EINVAL;
	err = post_gather(wr->sge, wr->n_sge, sge, &out.n_sge);
	return err ? err : mh_engine_errno(mt_srq_post(srq->mt, &out));
}

/* post_recvs queues receives on a QP, or on an SRQ if qp is NULL. */
static int post_recvs(struct mh_nic *nic, struct mh_qp *qp, struct mh_srq *srq,
		      const struct rd_recv_wr *wr, uint32_t n, uint32_t *posted)
{
	uint32_t done = 0;
	int err = 0;

	if (posted)
		*posted = 0;
	if (mh_nic_is_inherited(nic))
		return ENODEV;
	mh_nic_lock(nic);
	while (done < n && !err) {
		err = qp ? post_recv_one(qp, &wr[done]) : srq_post_one(srq, &wr[done]);
		done += !err;
	}
	/*
	 * A receive posted in ERR is flushed at once, and may free a stashed immediate otherwise.
	 * One of an SRQ does neither: a QP takes it when its next message comes.
	 */
	if (qp)
		mh_progress_ring(nic, mh_now_ns(), done, 0);
	mh_nic_unlock(nic);
	if (posted)
		*posted = done;
	return err;
}

int mh_qp_post_recv(struct mh_qp *qp, const struct rd_recv_wr *wr, uint32_t n, uint32_t *posted)
{
	return post_recvs(qp->nic, qp, NULL, wr, n, posted);
}

int mh_srq_post(struct mh_srq *srq, const struct rd_recv_wr *wr, uint32_t n, uint32_t *posted)
{
	return post_recvs(srq->nic, NULL, srq, wr, n, posted);
}
