/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_ext.c - the calls of fuzz_verbs that there are twice: QPs whose WRs are built by calls and
 * CQs whose completions are read field by field do what the others do.
 */
#include <errno.h>

#include "base/assert.h"
#include "fuzz_verbs.h"

#define OPS_UD ((uint64_t)IBV_QP_EX_WITH_SEND_WITH_IMM)
#define OPS_RC                                                                               \
	(OPS_UD | (uint64_t)IBV_QP_EX_WITH_RDMA_WRITE | (uint64_t)IBV_QP_EX_WITH_RDMA_READ | \
	 (uint64_t)IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |                                      \
	 (uint64_t)IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | (uint64_t)IBV_QP_EX_WITH_BIND_MW)

/* ---- completions ---- */

struct ibv_cq *verbs_create_cq(const struct verbs *v, struct ibv_context *context)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = CQE,
					   .wc_flags = IBV_WC_STANDARD_FLAGS |
						       IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};

	if (!v->extended)
		return ibv_create_cq(context, CQE, NULL, NULL, 0);
	return ibv_cq_ex_to_cq(ibv_create_cq_ex(context, &attr));
}

static struct ibv_wc read_wc(struct ibv_cq_ex *cq)
{
	mb_assert(ibv_wc_read_completion_ts(cq) <= virtual_time());
	return (struct ibv_wc){.wr_id = cq->wr_id,
			       .status = cq->status,
			       .opcode = ibv_wc_read_opcode(cq),
			       .vendor_err = ibv_wc_read_vendor_err(cq),
			       .byte_len = ibv_wc_read_byte_len(cq),
			       .imm_data = ibv_wc_read_imm_data(cq),
			       .qp_num = ibv_wc_read_qp_num(cq),
			       .src_qp = ibv_wc_read_src_qp(cq),
			       .wc_flags = ibv_wc_read_wc_flags(cq),
			       .slid = (uint16_t)ibv_wc_read_slid(cq),
			       .sl = ibv_wc_read_sl(cq),
			       .dlid_path_bits = ibv_wc_read_dlid_path_bits(cq)};
}

int verbs_poll_cq(const struct verbs *v, struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct ibv_cq_ex *ex = (struct ibv_cq_ex *)cq;
	struct ibv_poll_cq_attr attr = {.comp_mask = 0};
	int got = 0, err;

	if (!v->extended)
		return ibv_poll_cq(cq, n, wc);
	err = ibv_start_poll(ex, &attr);
	if (err) {
		mb_assert(err == ENOENT); /* and no poll has begun */
		return 0;
	}
	do
		wc[got++] = read_wc(ex);
	while (got < n && !(err = ibv_next_poll(ex)));
	mb_assert(!err || err == ENOENT);
	ibv_end_poll(ex);
	return got;
}

/* ---- WRs ---- */

struct ibv_qp *verbs_create_qp(const struct verbs *v, struct ibv_pd *pd,
			       const struct ibv_qp_init_attr *init)
{
	struct ibv_qp_init_attr old = *init;
	struct ibv_qp_init_attr_ex attr = {
		.qp_context = init->qp_context,
		.send_cq = init->send_cq,
		.recv_cq = init->recv_cq,
		.srq = init->srq,
		.cap = init->cap,
		.qp_type = init->qp_type,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
		.send_ops_flags = init->qp_type == IBV_QPT_UD ? OPS_UD : OPS_RC};

	return v->extended ? ibv_create_qp_ex(pd->context, &attr) : ibv_create_qp(pd, &old);
}

static void begin_wr(struct ibv_qp_ex *ex, const struct ibv_send_wr *wr)
{
	uint32_t rkey = wr->wr.rdma.rkey;
	uint64_t addr = wr->wr.rdma.remote_addr;

	ex->wr_id = wr->wr_id;
	ex->wr_flags = wr->send_flags & ~(unsigned int)IBV_SEND_INLINE;
	if (wr->opcode == IBV_WR_SEND_WITH_IMM)
		ibv_wr_send_imm(ex, wr->imm_data);
	else if (wr->opcode == IBV_WR_RDMA_WRITE)
		ibv_wr_rdma_write(ex, rkey, addr);
	else if (wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		ibv_wr_rdma_write_imm(ex, rkey, addr, wr->imm_data);
	else if (wr->opcode == IBV_WR_RDMA_READ)
		ibv_wr_rdma_read(ex, rkey, addr);
	else if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		ibv_wr_atomic_fetch_add(ex, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
					wr->wr.atomic.compare_add);
	else
		ibv_wr_bind_mw(ex, wr->bind_mw.mw, wr->bind_mw.rkey, &wr->bind_mw.bind_info);
}

static void build(struct ibv_qp *qp, struct ibv_qp_ex *ex, const struct ibv_send_wr *wr)
{
	begin_wr(ex, wr);
	if (qp->qp_type == IBV_QPT_UD)
		ibv_wr_set_ud_addr(ex, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
	if (wr->num_sge && wr->send_flags & IBV_SEND_INLINE)
		ibv_wr_set_inline_data(ex, (void *)(uintptr_t)wr->sg_list->addr,
				       wr->sg_list->length);
	else if (wr->num_sge)
		ibv_wr_set_sge_list(ex, (size_t)wr->num_sge, wr->sg_list);
}

/* What is given up, and what is wrong in the midst, leaves nothing behind. */
int verbs_post_send(const struct verbs *v, struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_qp_ex *ex = v->extended ? ibv_qp_to_qp_ex(qp) : NULL;
	struct ibv_send_wr *bad;

	if (!v->extended)
		return ibv_post_send(qp, wr, &bad);
	mb_assert(ex);
	if (wr->wr_id & 1) {
		ibv_wr_start(ex);
		build(qp, ex, wr);
		ibv_wr_abort(ex);
	}
	if (wr->wr_id & 2) {
		ibv_wr_start(ex);
		build(qp, ex, wr);
		ibv_wr_local_inv(ex, 1); /* for which the QP was not made */
		mb_assert(ibv_wr_complete(ex) == EINVAL);
	}
	ibv_wr_start(ex);
	build(qp, ex, wr);
	return ibv_wr_complete(ex);
}
