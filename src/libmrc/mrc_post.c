/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc_post.c - posting sends and receives. Where one WR of a chain is refused, those before it are
 * queued and bad_wr names it.
 */
#include "libmrc/libmrc.h"

#include <endian.h>
#include <stddef.h>

/* IBV_SEND_FENCE orders after READs and atomics, of which there are none. */
#define SEND_FLAGS_KNOWN (IV_SEND_FLAGS | (unsigned int)IBV_SEND_FENCE)

/* REQ(api.post-send.ops) REQ(svc.write-only) The creation flag of an opcode; 0: not an MRC one. */
static uint64_t opcode_op(enum ibv_wr_opcode opcode)
{
	if (opcode == IBV_WR_RDMA_WRITE)
		return IBV_QP_EX_WITH_RDMA_WRITE;
	if (opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		return IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
	return 0;
}

static int send_to_nic(const void *of, const struct ibv_send_wr *wr, struct rd_send_wr *out,
		       struct rd_bind *bind)
{
	const struct mrc_qp *qp = of;
	bool imm = wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;

	(void)bind;
	if (!(qp->init.send_ops_flags & opcode_op(wr->opcode)))
		return EINVAL;
	if (wr->send_flags & ~SEND_FLAGS_KNOWN)
		return EINVAL;
	if (wr->num_sge < 0 || (wr->num_sge && !wr->sg_list))
		return EINVAL;
	*out = (struct rd_send_wr){
		.wr_id = wr->wr_id,
		.sge = (const struct rd_sge *)wr->sg_list,
		.n_sge = (uint32_t)wr->num_sge,
		.flags = (wr->send_flags & IV_SEND_FLAGS) | (imm ? (uint32_t)RD_SEND_IMM : 0),
		.imm = be32toh(wr->imm_data),
		.rkey = wr->wr.rdma.rkey,
		.remote_addr = wr->wr.rdma.remote_addr,
	};
	return 0;
}

int mrc_post_send(struct mrc_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	int err = qp && wr ? iv_post_send(qp->nic, send_to_nic, qp, &wr) : EINVAL;

	if (err && bad_wr)
		*bad_wr = wr;
	return ma_errno(err);
}

/* REQ(api.post-recv) The bytes go where the sender says, so only wr_id counts. */
static int recv_to_nic(const void *of, const struct ibv_recv_wr *wr, struct rd_recv_wr *out)
{
	const struct mrc_qp *qp = of;

	*out = (struct rd_recv_wr){.wr_id = wr->wr_id};
	return wr->num_sge >= 0 && (uint32_t)wr->num_sge <= qp->init.cap.max_recv_sge ? 0 : EINVAL;
}

int mrc_post_recv(struct mrc_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	int err = EINVAL;

	if (qp && wr)
		err = iv_post_recv((struct iv_recv_queue){.qp = qp->nic}, recv_to_nic, qp, &wr);
	if (err && bad_wr)
		*bad_wr = wr;
	return iv_minus_one(err);
}
