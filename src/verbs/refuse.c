/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * refuse.c - operations that inline verbs call through context.ops. The device makes no verbs CQ,
 * QP, SRQ or memory window, so a program that comes here holds an object of somebody else.
 */
#include "verbs/verbs.h"

static int refuse_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	(void)cq;
	(void)num_entries;
	(void)wc;
	return -EOPNOTSUPP;
}

static int refuse_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	(void)cq;
	(void)solicited_only;
	return EOPNOTSUPP;
}

static int refuse_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	(void)qp;
	*bad_wr = wr;
	return EOPNOTSUPP;
}

static int refuse_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	(void)qp;
	*bad_wr = wr;
	return EOPNOTSUPP;
}

static int refuse_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
				struct ibv_recv_wr **bad_wr)
{
	(void)srq;
	*bad_wr = wr;
	return EOPNOTSUPP;
}

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

void mv_ops_refuse(struct ibv_context_ops *ops)
{
	ops->poll_cq = refuse_poll_cq;
	ops->req_notify_cq = refuse_req_notify_cq;
	ops->post_send = refuse_post_send;
	ops->post_recv = refuse_post_recv;
	ops->post_srq_recv = refuse_post_srq_recv;
	ops->alloc_mw = refuse_alloc_mw;
	ops->bind_mw = refuse_bind_mw;
	ops->dealloc_mw = refuse_dealloc_mw;
}
