/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_qp.c - life and attributes of queue pairs; posting is in nic_post.c.
 *
 * A QP number is the slot of the process, or of its shard that has the QP, in the upper 10 bits and
 * an index below. Which index a QP gets
 * is drawn, and none is given within a packet's life of its last use: a packet that is still under
 * way for a destroyed QP finds none. So it is for the QPs of another process that had the slot a
 * moment ago, but for chance.
 *
 * The memory of an RC QP is taken before nic->lock and freed after it: deep queues take megabytes,
 * and the lock stops all traffic. Under the lock a QP is numbered, linked and counted in one step,
 * so that no other thread finds half of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "host/datapath/datapath.h"
#include "host/node/node.h"
#include "host/platform/platform.h"
#include "host/progress/progress.h"
#include "host/state/shards.h"

/*
 * A QP takes at most so many receives of an SRQ ahead of the oldest message that is not complete: a
 * window of small messages, in memory that each QP has for itself.
 */
#define SRQ_TAKEN_MAX 1024u

#define EXTENSIONS \
	(uint8_t)(MW_EXT_SEND | MW_EXT_READ | MW_EXT_ATOMIC | MW_EXT_INV | MW_EXT_ATOMIC_WRITE)
#define QP_ATTR_RC ((uint32_t)RD_QP_ALL & ~(uint32_t)RD_QP_Q_KEY)

static bool qp_is_cap_valid(const struct mh_qp_cap *cap)
{
	return cap->max_send_wr >= 1 && cap->max_send_wr <= MH_WR_MAX &&
	       cap->max_recv_wr <= MH_WR_MAX && cap->max_send_sge >= 1 &&
	       cap->max_send_sge <= RD_SGE_MAX && cap->max_recv_sge <= RD_SGE_MAX &&
	       cap->max_inline <= MH_INLINE_MAX;
}

static void qp_free(struct mh_qp *qp)
{
	free(qp->mt_memory);
	free(qp->signaled);
	free(qp->inline_bytes);
	free(qp);
}

/* REQ(ext.order.relaxed) */
static struct mt_qp_cap qp_mt_cap(const struct mh_qp_init *init)
{
	struct mt_qp_cap cap = {
		.sq_depth = init->cap.max_send_wr,
		.rq_depth = init->cap.max_recv_wr,
		.max_sge = init->cap.max_send_sge,
		.signal_all = init->signal_all,
		.extensions = init->extended ? EXTENSIONS : 0,
		.in_order = init->extended && !init->pd->dev->nic->env.relaxed,
		.max_recv_sge = init->extended || init->type != MH_QPT_RC
					? (uint8_t)init->cap.max_recv_sge
					: 0,
		.pd = init->pd->number,
	};

	if (init->srq) {
		struct mh_srq_cap srq;
		uint32_t limit;

		mh_srq_query(init->srq, &srq, &limit); /* its size may change */
		cap.srq = init->srq->mt;
		cap.rq_depth = srq.max_wr < SRQ_TAKEN_MAX ? srq.max_wr : SRQ_TAKEN_MAX;
		cap.max_recv_sge = (uint8_t)srq.max_sge;
	}
	return cap;
}

/* qp_effective_init is what the QP keeps of it: with an SRQ no receives of its own. */
static struct mh_qp_init qp_effective_init(const struct mh_qp_init *init)
{
	struct mh_qp_init own = *init;

	if (own.srq)
		own.cap.max_recv_wr = own.cap.max_recv_sge = 0;
	return own;
}

/* qp_alloc_transport takes the memory for what an RC QP has in the engine. */
static bool qp_alloc_transport(struct mh_qp *qp)
{
	size_t size;

	qp->mt_cap = qp_mt_cap(&qp->init);
	if (qp->init.type != MH_QPT_RC)
		return true;
	size = mt_qp_size(&qp->mt_cap);
	mb_assert(size > 0);
	qp->mt_memory = aligned_alloc(64, (size + 63) & ~(size_t)63);
	return qp->mt_memory != NULL;
}

/* qp_alloc takes all memory that the QP will need. */
static struct mh_qp *qp_alloc(const struct mh_qp_init *init)
{
	struct mh_qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		return NULL;
	qp->init = qp_effective_init(init);
	qp->signaled = calloc(init->cap.max_send_wr, 1);
	if (init->cap.max_inline > 0)
		qp->inline_bytes = calloc(init->cap.max_send_wr, init->cap.max_inline);
	if (!qp_alloc_transport(qp) || !qp->signaled ||
	    (init->cap.max_inline > 0 && !qp->inline_bytes)) {
		qp_free(qp);
		return NULL;
	}
	qp->dev = init->send_cq->dev;
	mb_link_init(&qp->link);
	mb_link_init(&qp->failed);
	mh_event_source_init(&qp->fatal, MH_ASYNC_QP_FATAL, qp);
	mh_event_source_init(&qp->drained, MH_ASYNC_SQ_DRAINED, qp);
	mh_event_source_init(&qp->last_wqe, MH_ASYNC_LAST_WQE, qp);
	return qp;
}

/* Longer than any queue of a network holds a packet, and a peer's retries on it go on. */
#define QP_INDEX_REUSE_DELAY_NS UINT64_C(1000000000)

/* qp_choose_index finds a free index; ENOMEM when all are in use, or were a moment ago. */
static int qp_choose_index(struct mh_nic *nic, uint32_t *index)
{
	uint64_t random;
	int err = mh_entropy(&random);

	if (err)
		return err;
	mh_rests_end(&nic->qp_rests, mh_now_ns(), &nic->qp_indices);
	*index = mh_numbers_take(&nic->qp_indices, (uint32_t)random);
	return *index == 0 ? ENOMEM : 0;
}

static enum mt_result qp_init_ud(struct mh_nic *nic, struct mh_qp *qp)
{
	const struct mh_pd *recv_pd = qp->init.srq ? qp->init.srq->pd : qp->init.pd;

	qp->ud = mu_qp_create(nic->ud, &qp->mt_cap, recv_pd->number, qp->number,
			      qp->init.type == MH_QPT_UC ? MU_QPT_UC : MU_QPT_UD, qp);
	return qp->ud ? MT_OK : MT_ERR_MEMORY;
}

static int qp_insert(struct mh_nic *nic, struct mh_qp *qp)
{
	uint32_t index;
	int result = qp_choose_index(nic, &index);

	if (result)
		return result;
	qp->nic = nic;
	qp->number = nic->ports.slot << MH_QPN_INDEX_BITS | index;
	if (qp->init.type != MH_QPT_RC)
		result = qp_init_ud(nic, qp);
	else
		MH_ENGINE_CALL(nic, result,
			       mt_qp_init(nic->engine, qp->mt_memory, &qp->mt_cap, qp->number, qp,
					  &qp->mt));
	if (result != MT_OK) {
		mh_numbers_return(&nic->qp_indices, index);
		return mh_engine_errno(result);
	}
	nic->qp_by_index[index] = qp;
	nic->n_qps++;
	mb_list_push(&nic->qps, &qp->link);
	qp->init.pd->objects++;
	mh_cq_count_qp(qp->init.send_cq, nic, true);
	mh_cq_count_qp(qp->init.recv_cq, nic, true);
	if (qp->init.srq)
		qp->init.srq->n_qps++;
	return 0;
}

/*
 * qp_insert_somewhere gives a QP to the shard that has the fewest, one with an SRQ to that of the
 * SRQ. Under the first's lock.
 */
static int qp_insert_somewhere(struct mh_nic *first, struct mh_qp *qp)
{
	struct mh_nic *nic = qp->init.srq ? qp->init.srq->nic : mh_shards_least(first);
	int err;

	if (nic != first)
		mh_nic_lock(nic);
	err = qp_insert(nic, qp);
	if (nic != first)
		mh_nic_unlock(nic);
	return err;
}

int mh_qp_create(const struct mh_qp_init *init, struct mh_qp **qp)
{
	struct mh_nic *nic = init->pd->dev->nic;
	struct mh_qp *q;
	int err;

	if (mh_nic_is_inherited(nic))
		return ENODEV;
	if (!qp_is_cap_valid(&init->cap) || init->type > MH_QPT_UC ||
	    init->send_cq->dev != init->recv_cq->dev || init->send_cq->dev->nic != nic ||
	    init->send_cq->evs || init->recv_cq->evs)
		return EINVAL;
	if (init->srq &&
	    ((!init->extended && init->type == MH_QPT_RC) || init->srq->dev != init->recv_cq->dev))
		return EINVAL;
	q = qp_alloc(init);
	if (!q)
		return ENOMEM;
	mh_nic_lock(nic);
	err = qp_insert_somewhere(nic, q);
	mh_nic_unlock(nic);
	if (err) {
		qp_free(q);
		return err;
	}
	*qp = q;
	return 0;
}

/*
 * Completions of the QP go with it: the program frees what they name. The counts of CQs and PD go
 * later, when the events are acknowledged, so that these objects outlive every mention of the QP.
 */
static void qp_remove(struct mh_nic *nic, struct mh_qp *qp)
{
	uint64_t now = mh_now_ns();

	/* Events that name the QP must not outlive it. */
	mh_engine_events_drain(nic, now);
	if (qp->ud)
		mu_qp_destroy(qp->ud);
	else
		mt_qp_fini(qp->mt);
	mb_link_remove(&qp->link);
	mb_link_remove(&qp->failed);
	nic->qp_by_index[qp->number & MH_QPN_INDEX_MASK] = NULL;
	mh_rests_begin(&nic->qp_rests, qp->number & MH_QPN_INDEX_MASK,
		       now + QP_INDEX_REUSE_DELAY_NS);
	nic->n_qps--;
	mh_cq_purge(qp->init.send_cq, qp->number);
	mh_cq_purge(qp->init.recv_cq, qp->number);
}

/*
 * The lock is given up in the middle because waiting for acknowledgements may last: the program's
 * thread that has taken an event may need the lock before it acknowledges.
 */
int mh_qp_destroy(struct mh_qp *qp)
{
	struct mh_nic *nic = qp->nic;

	if (mh_nic_is_inherited(nic))
		return ENODEV;
	mh_shard_lock(nic);
	mh_progress_flush(nic, mh_now_ns()); /* what was posted and waits to leave */
	qp_remove(nic, qp);
	mh_shard_unlock(nic);
	mh_event_discard(&qp->dev->events, &qp->fatal);
	mh_event_discard(&qp->dev->events, &qp->drained);
	mh_event_discard(&qp->dev->events, &qp->last_wqe);
	mh_shard_lock(nic);
	qp->init.pd->objects--;
	mh_cq_count_qp(qp->init.send_cq, nic, false);
	mh_cq_count_qp(qp->init.recv_cq, nic, false);
	if (qp->init.srq)
		qp->init.srq->n_qps--;
	mh_shard_unlock(nic);
	qp_free(qp);
	return 0;
}

uint32_t mh_qp_number(const struct mh_qp *qp)
{
	return qp->number;
}

void mh_qp_init_query(const struct mh_qp *qp, struct mh_qp_init *init)
{
	*init = qp->init;
}

void mh_qp_attr_default(struct rd_qp_attr *attr)
{
	mt_qp_attr_default(attr);
}

/* qp_attrs returns the attributes that a QP of this type has. */
static uint32_t qp_attrs(enum mh_qp_type type)
{
	return type == MH_QPT_RC ? QP_ATTR_RC : type == MH_QPT_UD ? MH_QP_UD_ALL : MH_QP_UC_ALL;
}

/* qp_is_attr_valid checks what only the host knows; the core checks the rest. */
static bool qp_is_attr_valid(const struct mh_nic *nic, const struct rd_qp_attr *attr, uint32_t mask)
{
	if ((mask & RD_QP_STATE) && attr->state > RD_QPS_ERR)
		return false;
	if ((mask & RD_QP_PATH_MTU) && attr->path_mtu > nic->env.mtu)
		return false;
	if ((mask & RD_QP_SQD_NOTIFY) && !((mask & RD_QP_STATE) && attr->state == RD_QPS_SQD))
		return false;
	return !(mask & RD_QP_DEST) || mh_addr_is_reachable(&nic->ports.map, attr->dest.b);
}

/* qp_reset forgets what a QP in RESET has no more: WRs, completions, and why it had failed. */
static void qp_reset(struct mh_qp *qp)
{
	mb_link_remove(&qp->failed);
	qp->memory_gone = false;
	qp->send_failed = false;
	mh_cq_purge(qp->init.send_cq, qp->number);
	mh_cq_purge(qp->init.recv_cq, qp->number);
	qp->send.reported = qp->send.posted;
	qp->recv.reported = qp->recv.posted;
	mh_qp_release_wrs(qp, false, qp->send.posted);
	mh_qp_release_wrs(qp, true, qp->recv.posted);
}

static void qp_after_modify(struct mh_qp *qp, const struct rd_qp_attr *attr, uint32_t mask)
{
	qp->sqd_notify = (mask & RD_QP_SQD_NOTIFY) && attr->sqd_notify;
	if (attr->state == RD_QPS_RESET)
		qp_reset(qp);
	/* Of datagrams none is half sent. */
	if (attr->state == RD_QPS_SQD && qp->ud)
		mh_qp_raise_sq_drained(qp);
}

/* qp_modify_transport does so for the half that the QP has. Under nic->lock. */
static int qp_modify_transport(struct mh_qp *qp, uint64_t now_ns, const struct rd_qp_attr *attr,
			       uint32_t mask)
{
	int result;

	if (qp->ud)
		return mu_qp_modify(qp->ud, attr, mask) ? 0 : EINVAL;
	/* SQD_NOTIFY is ours: the core is not to return it in queries. */
	MH_ENGINE_CALL(qp->nic, result,
		       mt_qp_modify(qp->mt, now_ns, attr, mask & ~(uint32_t)RD_QP_SQD_NOTIFY));
	return mh_engine_errno(result);
}

/* A QP that gets a destination is to know what others know of it, before it sends. */
static struct mh_ev_hints *qp_load_hints(const struct mh_qp *qp, const struct rd_qp_attr *attr,
					 uint32_t mask)
{
	bool connects = !qp->ud && (mask & RD_QP_STATE) && attr->state == RD_QPS_RTR;

	return connects ? mh_ev_hints_load(qp->dev->nic) : NULL;
}

int mh_qp_modify(struct mh_qp *qp, const struct rd_qp_attr *attr, uint32_t mask)
{
	struct mh_nic *nic = qp->nic;
	uint64_t now = mh_now_ns();
	struct mh_ev_hints *hints;
	int err;

	if (mh_nic_is_inherited(nic))
		return ENODEV;
	if ((mask & RD_QP_DEST) && !mh_addr_is_reachable(&nic->ports.map, attr->dest.b))
		mh_log_unreachable(nic, attr->dest.b);
	if (!qp_is_attr_valid(nic, attr, mask) || (mask & ~qp_attrs(qp->init.type)))
		return EINVAL;
	hints = qp_load_hints(qp, attr, mask);
	mh_nic_lock(nic);
	/*
	 * What was posted before the change leaves before it, and what happened is reported: a
	 * flush must not overtake a success.
	 */
	mh_progress_flush(nic, now);
	err = qp_modify_transport(qp, now, attr, mask);
	if (!err && (mask & RD_QP_STATE))
		qp_after_modify(qp, attr, mask);
	if (!err && hints)
		mh_ev_hints_take(nic, qp->mt, now, hints);
	mh_progress_flush(nic, now);
	mh_nic_unlock(nic);
	free(hints);
	return err;
}

/*
 * A handle of before a fork has nothing to ask: ERR is the state in which a program gives a QP up.
 */
int mh_qp_query(const struct mh_qp *qp, struct rd_qp_attr *attr)
{
	if (mh_nic_is_inherited(qp->nic)) {
		mh_qp_attr_default(attr);
		attr->state = RD_QPS_ERR;
		return ENODEV;
	}
	mh_nic_lock(qp->nic);
	if (qp->ud)
		mu_qp_query(qp->ud, attr);
	else
		mt_qp_query(qp->mt, attr);
	mh_nic_unlock(qp->nic);
	return 0;
}
