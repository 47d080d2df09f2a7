/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * post.c - posting sends and receives. A chain of WRs is translated in batches on the stack; where
 * one WR is refused, those before it are queued and bad_wr names it.
 */
#include "libmrc/libmrc.h"

#include <endian.h>
#include <stddef.h>

#define POST_BATCH 16u

/* IBV_SEND_FENCE orders after READs and atomics, of which there are none. */
#define SEND_FLAGS_KNOWN (IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE)

/* REQ(api.post-send.ops) REQ(svc.write-only) The creation flag of an opcode; 0: not an MRC one. */
static uint64_t opcode_op(enum ibv_wr_opcode opcode)
{
	if (opcode == IBV_WR_RDMA_WRITE)
		return IBV_QP_EX_WITH_RDMA_WRITE;
	if (opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		return IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
	return 0;
}

static uint32_t send_flags(const struct ibv_send_wr *wr)
{
	uint32_t flags = 0;

	if (wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		flags |= RD_SEND_IMM;
	if (wr->send_flags & IBV_SEND_SIGNALED)
		flags |= RD_SEND_SIGNALED;
	if (wr->send_flags & IBV_SEND_SOLICITED)
		flags |= RD_SEND_SOLICITED;
	if (wr->send_flags & IBV_SEND_INLINE)
		flags |= RD_SEND_INLINE;
	return flags;
}

static int send_to_nic(const struct mrc_qp *qp, const struct ibv_send_wr *wr,
		       struct rd_send_wr *out)
{
	if (!(qp->init.send_ops_flags & opcode_op(wr->opcode)))
		return EINVAL;
	if (wr->send_flags & ~(unsigned int)SEND_FLAGS_KNOWN)
		return EINVAL;
	if (wr->num_sge < 0 || (wr->num_sge && !wr->sg_list))
		return EINVAL;
	*out = (struct rd_send_wr){
		.wr_id = wr->wr_id,
		.sge = (const struct rd_sge *)wr->sg_list,
		.n_sge = (uint32_t)wr->num_sge,
		.flags = send_flags(wr),
		.imm = be32toh(wr->imm_data),
		.rkey = wr->wr.rdma.rkey,
		.remote_addr = wr->wr.rdma.remote_addr,
	};
	return 0;
}

/*
 * Posts up to POST_BATCH WRs from *wr on and moves *wr past those that were queued. On an error *wr
 * is the WR at fault.
 */
static int send_batch(struct mrc_qp *qp, struct ibv_send_wr **wr)
{
	struct rd_send_wr batch[POST_BATCH];
	struct ibv_send_wr *next = *wr;
	uint32_t n = 0, posted = 0;
	int bad = 0, err = 0;

	while (next && n < POST_BATCH) {
		bad = send_to_nic(qp, next, &batch[n]);
		if (bad)
			break;
		next = next->next;
		n++;
	}
	if (n)
		err = mh_qp_post_send(qp->nic, batch, n, &posted);
	while (posted--)
		*wr = (*wr)->next;
	return err ? err : bad;
}

int mrc_post_send(struct mrc_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	int err = 0;

	if (!qp || !wr)
		err = EINVAL;
	while (!err && wr)
		err = send_batch(qp, &wr);
	if (err && bad_wr)
		*bad_wr = wr;
	return ma_errno(err);
}

static bool recv_valid(const struct mrc_qp *qp, const struct ibv_recv_wr *wr)
{
	return wr->num_sge >= 0 && (uint32_t)wr->num_sge <= qp->init.cap.max_recv_sge;
}

/* REQ(api.post-recv) As send_batch. The bytes go where the sender says, so only wr_id counts. */
static int recv_batch(struct mrc_qp *qp, struct ibv_recv_wr **wr)
{
	uint64_t ids[POST_BATCH];
	struct ibv_recv_wr *next = *wr;
	uint32_t n = 0, posted = 0;
	int bad = 0, err = 0;

	while (next && n < POST_BATCH) {
		bad = recv_valid(qp, next) ? 0 : EINVAL;
		if (bad)
			break;
		ids[n++] = next->wr_id;
		next = next->next;
	}
	if (n)
		err = mh_qp_post_recv(qp->nic, ids, n, &posted);
	while (posted--)
		*wr = (*wr)->next;
	return err ? err : bad;
}

int mrc_post_recv(struct mrc_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	int err = 0;

	if (!qp || !wr)
		err = EINVAL;
	while (!err && wr)
		err = recv_batch(qp, &wr);
	if (err && bad_wr)
		*bad_wr = wr;
	return ma_minus_one(err);
}
