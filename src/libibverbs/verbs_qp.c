/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_qp.c - queue pairs, RC carried by MRC, UD and UC: create, modify, query, destroy. */
#include "libibverbs/libibverbs.h"
#include "libibverbs/real_library.h"

#include <stdlib.h>
#include <string.h>

/* What of verbs' QPs the device has not is not supported; what no device has is invalid. */
static int init_check(const struct ibv_pd *pd, const struct ibv_qp_init_attr *init)
{
	if (!pd || !init || !init->send_cq || !init->recv_cq ||
	    init->send_cq->context != pd->context || init->recv_cq->context != pd->context)
		return EINVAL;
	if (init->srq && init->srq->context != pd->context)
		return EINVAL;
	return init->qp_type == IBV_QPT_RC || init->qp_type == IBV_QPT_UC ||
			       init->qp_type == IBV_QPT_UD
		       ? 0
		       : EOPNOTSUPP;
}

static enum mh_qp_type type_to_nic(enum ibv_qp_type type)
{
	return type == IBV_QPT_RC ? MH_QPT_RC : type == IBV_QPT_UC ? MH_QPT_UC : MH_QPT_UD;
}

static int nic_create(struct mv_qp *qp, struct ibv_pd *pd, const struct ibv_qp_init_attr *init)
{
	struct mh_qp_init nic = {
		.pd = mv_pd(pd)->nic,
		.send_cq = mv_cq(init->send_cq)->nic,
		.recv_cq = mv_cq(init->recv_cq)->nic,
		.cap = iv_cap_to_nic(&init->cap),
		.signal_all = init->sq_sig_all != 0,
		.extended = init->qp_type == IBV_QPT_RC,
		.type = type_to_nic(init->qp_type),
		.srq = init->srq ? mv_srq(init->srq)->nic : NULL,
		.owner = &qp->ibv,
	};

	/* A QP of the NIC has one send WR and one SGE at least. */
	nic.cap.max_send_wr += nic.cap.max_send_wr == 0;
	nic.cap.max_send_sge += nic.cap.max_send_sge == 0;
	return mh_qp_create(&nic, &qp->nic);
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr)
{
	int err = init_check(pd, qp_init_attr);
	struct mv_qp *qp;

	MV_TO_REAL(mv_real_of(pd), ibv_create_qp, (pd, qp_init_attr));
	if (err)
		return iv_null(err);
	qp = calloc(1, sizeof(*qp));
	err = qp ? nic_create(qp, pd, qp_init_attr) : ENOMEM;
	if (err)
		return iv_drop(qp, err);
	qp->cap = iv_cap_granted(qp->nic);
	qp->signal_all = qp_init_attr->sq_sig_all != 0;
	qp->ibv.pd = pd;
	qp->ibv.context = pd->context;
	qp->ibv.qp_context = qp_init_attr->qp_context;
	qp->ibv.send_cq = qp_init_attr->send_cq;
	qp->ibv.recv_cq = qp_init_attr->recv_cq;
	qp->ibv.srq = qp_init_attr->srq;
	qp->ibv.qp_num = mh_qp_number(qp->nic);
	qp->ibv.handle = qp->ibv.qp_num;
	qp->ibv.state = IBV_QPS_RESET;
	qp->ibv.qp_type = qp_init_attr->qp_type;
	pthread_mutex_init(&qp->ibv.mutex, NULL);
	pthread_cond_init(&qp->ibv.cond, NULL);
	qp_init_attr->cap = qp->cap;
	return &qp->ibv;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	int err;

	MV_TO_REAL(mv_real_of(qp), ibv_destroy_qp, (qp));
	if (!qp)
		return EINVAL;
	err = mh_qp_destroy(mv_qp(qp)->nic);
	if (err)
		return err;
	pthread_cond_destroy(&qp->cond);
	pthread_mutex_destroy(&qp->mutex);
	mv_qp_ex_end(mv_qp(qp));
	free(mv_qp(qp));
	return 0;
}

/* Under the QP's mutex. */
static int modify(struct mv_qp *qp, const struct ibv_qp_attr *attr, int attr_mask)
{
	struct rd_qp_attr now, nic = {0};
	enum ibv_qp_state from, to;
	uint32_t mask = 0;
	int err;

	err = mh_qp_query(qp->nic, &now);
	if (err)
		return err;
	from = iv_state_from_nic(now.state);
	if ((attr_mask & IBV_QP_CUR_STATE) && attr->cur_qp_state != from)
		return EINVAL;
	to = attr_mask & IBV_QP_STATE ? attr->qp_state : from;
	if (mv_qp_check_transition(qp->ibv.qp_type, from, to, attr_mask) ||
	    mv_qp_attr_to_nic(attr, attr_mask, &nic, &mask))
		return EINVAL;
	/* A move from a state to itself is none; it is the attributes that count. */
	if (to == from)
		mask &= ~(uint32_t)RD_QP_STATE;
	err = mh_qp_modify(qp->nic, &nic, mask);
	if (err)
		return err;
	if (to == IBV_QPS_RESET)
		memset(&qp->kept, 0, sizeof(qp->kept));
	mv_qp_attr_keep(&qp->kept, attr, attr_mask);
	qp->ibv.state = to;
	return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	int err;

	MV_TO_REAL(mv_real_of(qp), ibv_modify_qp, (qp, attr, attr_mask));
	if (!qp || !attr)
		return EINVAL;
	if (mv_is_inherited(qp->context))
		return ENODEV;
	pthread_mutex_lock(&qp->mutex);
	err = modify(mv_qp(qp), attr, attr_mask);
	pthread_mutex_unlock(&qp->mutex);
	return err;
}

static void query_kept(struct ibv_qp *qp, const struct rd_qp_attr *nic, struct ibv_qp_attr *attr)
{
	pthread_mutex_lock(&qp->mutex);
	*attr = mv_qp(qp)->kept;
	qp->state = iv_state_from_nic(nic->state);
	pthread_mutex_unlock(&qp->mutex);
}

/* Everything is filled in, whatever attr_mask asks for, as drivers do. */
int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		 struct ibv_qp_init_attr *init_attr)
{
	struct rd_qp_attr nic;

	MV_TO_REAL(mv_real_of(qp), ibv_query_qp, (qp, attr, attr_mask, init_attr));
	if (!qp || !attr || !init_attr)
		return EINVAL;
	if (mh_qp_query(mv_qp(qp)->nic, &nic))
		*attr = (struct ibv_qp_attr){0}; /* a child of fork is told ERR, and nothing else */
	else
		query_kept(qp, &nic, attr);
	attr->qp_state = attr->cur_qp_state = iv_state_from_nic(nic.state);
	attr->rq_psn = nic.rq_psn;
	attr->sq_psn = nic.sq_psn;
	attr->dest_qp_num = nic.dest_qpn;
	attr->qkey = nic.q_key;
	attr->sq_draining = nic.draining;
	attr->path_mig_state = IBV_MIG_MIGRATED;
	attr->cap = mv_qp(qp)->cap;
	*init_attr = (struct ibv_qp_init_attr){
		.qp_context = qp->qp_context,
		.send_cq = qp->send_cq,
		.recv_cq = qp->recv_cq,
		.srq = qp->srq,
		.cap = mv_qp(qp)->cap,
		.qp_type = qp->qp_type,
		.sq_sig_all = mv_qp(qp)->signal_all,
	};
	return 0;
}
