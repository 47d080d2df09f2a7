/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ops.c - the operations that inline verbs call through context.ops without looking whether they
 * are there. The device makes no memory windows, so a program that comes here with one holds an
 * object of somebody else.
 */
#include "verbs/verbs.h"

static struct ibv_mw *refuse_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	(void)pd;
	(void)type;
	return mv_null(EOPNOTSUPP);
}

static int refuse_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind)
{
	(void)qp;
	(void)mw;
	(void)mw_bind;
	return EOPNOTSUPP;
}

static int refuse_dealloc_mw(struct ibv_mw *mw)
{
	(void)mw;
	return EOPNOTSUPP;
}

void mv_ops_fill(struct ibv_context_ops *ops)
{
	ops->poll_cq = mv_poll_cq;
	ops->req_notify_cq = mv_req_notify_cq;
	ops->post_send = mv_post_send;
	ops->post_recv = mv_post_recv;
	ops->post_srq_recv = mv_post_srq_recv;
	ops->alloc_mw = refuse_alloc_mw;
	ops->bind_mw = refuse_bind_mw;
	ops->dealloc_mw = refuse_dealloc_mw;
}
