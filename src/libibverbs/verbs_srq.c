/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_srq.c - shared receive queues: receives that several QPs take from. */
#include "libibverbs/real_library.h"

#include <stdlib.h>

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *srq_init_attr)
{
	struct mh_srq_cap cap;
	struct mv_srq *srq;
	int err;

	MV_TO_REAL(mv_real_of(pd), ibv_create_srq, (pd, srq_init_attr));
	if (!pd || !srq_init_attr)
		return iv_null(EINVAL);
	srq = calloc(1, sizeof(*srq));
	cap = (struct mh_srq_cap){.max_wr = srq_init_attr->attr.max_wr,
				  .max_sge = srq_init_attr->attr.max_sge};
	err = srq ? mh_srq_create(mv_pd(pd)->nic, &cap, &srq->ibv, &srq->nic) : ENOMEM;
	if (err)
		return iv_drop(srq, err);
	srq->ibv.pd = pd;
	srq->ibv.context = pd->context;
	srq->ibv.srq_context = srq_init_attr->srq_context;
	pthread_mutex_init(&srq->ibv.mutex, NULL);
	pthread_cond_init(&srq->ibv.cond, NULL);
	return &srq->ibv;
}

/* SRQs of extended connections and those that match tags the device has not. */
struct ibv_srq *mv_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_srq_init_attr init;

	if (!context || !attr || attr->comp_mask >= IBV_SRQ_INIT_ATTR_RESERVED ||
	    !(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attr->pd || attr->pd->context != context)
		return iv_null(EINVAL);
	if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) && attr->srq_type != IBV_SRQT_BASIC)
		return iv_null(EOPNOTSUPP);
	init = (struct ibv_srq_init_attr){.srq_context = attr->srq_context, .attr = attr->attr};
	return ibv_create_srq(attr->pd, &init);
}

/* A limit beyond the queue, as it will be, is refused before anything changes. */
int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, int srq_attr_mask)
{
	struct mh_srq_cap cap;
	uint32_t limit;
	int err = 0;

	MV_TO_REAL(mv_real_of(srq), ibv_modify_srq, (srq, srq_attr, srq_attr_mask));
	if (!srq || !srq_attr || srq_attr_mask & ~(IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR))
		return EINVAL;
	mh_srq_query(mv_srq(srq)->nic, &cap, &limit);
	if (srq_attr_mask & IBV_SRQ_MAX_WR)
		cap.max_wr = srq_attr->max_wr;
	if ((srq_attr_mask & IBV_SRQ_LIMIT) && srq_attr->srq_limit > cap.max_wr)
		return EINVAL;
	if (srq_attr_mask & IBV_SRQ_MAX_WR)
		err = mh_srq_resize(mv_srq(srq)->nic, srq_attr->max_wr);
	if (!err && (srq_attr_mask & IBV_SRQ_LIMIT))
		err = mh_srq_arm(mv_srq(srq)->nic, srq_attr->srq_limit);
	return err;
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr)
{
	struct mh_srq_cap cap;
	uint32_t limit;

	MV_TO_REAL(mv_real_of(srq), ibv_query_srq, (srq, srq_attr));
	if (!srq || !srq_attr)
		return EINVAL;
	mh_srq_query(mv_srq(srq)->nic, &cap, &limit);
	*srq_attr = (struct ibv_srq_attr){
		.max_wr = cap.max_wr, .max_sge = cap.max_sge, .srq_limit = limit};
	return 0;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	int err;

	MV_TO_REAL(mv_real_of(srq), ibv_destroy_srq, (srq));
	if (!srq)
		return EINVAL;
	err = mh_srq_destroy(mv_srq(srq)->nic);
	if (err)
		return err;
	pthread_cond_destroy(&srq->cond);
	pthread_mutex_destroy(&srq->mutex);
	free(mv_srq(srq));
	return 0;
}
