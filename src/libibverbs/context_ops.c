/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * context_ops.c - the operations that inline verbs call through context.ops without looking whether
 * they are there.
 */
#include "libibverbs/libibverbs.h"

void mv_ops_fill(struct ibv_context_ops *ops)
{
	ops->poll_cq = mv_poll_cq;
	ops->req_notify_cq = mv_req_notify_cq;
	ops->post_send = mv_post_send;
	ops->post_recv = mv_post_recv;
	ops->post_srq_recv = mv_post_srq_recv;
	ops->alloc_mw = mv_alloc_mw;
	ops->bind_mw = mv_bind_mw;
	ops->dealloc_mw = mv_dealloc_mw;
}
