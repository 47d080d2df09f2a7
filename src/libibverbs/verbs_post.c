/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_post.c - posting sends and receives. Where one WR of a chain is refused, those before it
 * are queued and bad_wr names it.
 */
#include "libibverbs/libibverbs.h"

#include <endian.h>

#define SEND_FLAGS_KNOWN (IV_SEND_FLAGS | (unsigned int)IBV_SEND_FENCE)

int mv_send_flags_to_nic(unsigned int send_flags, uint32_t *out)
{
	if (send_flags & ~SEND_FLAGS_KNOWN)
		return EINVAL;
	*out = send_flags & IV_SEND_FLAGS;
	if (send_flags & IBV_SEND_FENCE)
		*out |= RD_SEND_FENCE;
	return 0;
}

/* Operations that verbs has and the NIC has not are EOPNOTSUPP, and those of neither EINVAL. */
static int opcode_to_nic(enum ibv_wr_opcode opcode, enum rd_wr_opcode *out, uint32_t *flags)
{
	if (opcode == IBV_WR_RDMA_WRITE_WITH_IMM || opcode == IBV_WR_SEND_WITH_IMM)
		*flags |= RD_SEND_IMM;
	if (opcode == IBV_WR_SEND_WITH_INV)
		*flags |= RD_SEND_INV;
	if (opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		*out = RD_WR_WRITE;
	else if (opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
		 opcode == IBV_WR_SEND_WITH_INV)
		*out = RD_WR_SEND;
	else if (opcode == IBV_WR_RDMA_READ)
		*out = RD_WR_READ;
	else if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
		*out = RD_WR_COMPARE_SWAP;
	else if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		*out = RD_WR_FETCH_ADD;
	else if (opcode == IBV_WR_ATOMIC_WRITE)
		*out = RD_WR_ATOMIC_WRITE;
	else if (opcode == IBV_WR_LOCAL_INV)
		*out = RD_WR_LOCAL_INV;
	else if (opcode == IBV_WR_BIND_MW)
		*out = RD_WR_BIND_MW;
	else
		return opcode <= IBV_WR_ATOMIC_WRITE ? EOPNOTSUPP : EINVAL;
	return 0;
}

/* Where a datagram goes, which a WR of any other QP does not say. */
static int address_to_nic(const struct ibv_qp *qp, const struct ibv_send_wr *wr,
			  struct rd_ud_addr *out)
{
	if (!wr->wr.ud.ah || mv_pd(wr->wr.ud.ah->pd)->nic != mv_pd(qp->pd)->nic)
		return EINVAL;
	*out = (struct rd_ud_addr){
		.ah = &mv_ah(wr->wr.ud.ah)->nic,
		.qpn = wr->wr.ud.remote_qpn,
		.q_key = wr->wr.ud.remote_qkey,
	};
	return 0;
}

static void atomic_to_nic(const struct ibv_send_wr *wr, struct rd_send_wr *out)
{
	out->rkey = wr->wr.atomic.rkey;
	out->remote_addr = wr->wr.atomic.remote_addr;
	out->compare_add = wr->wr.atomic.compare_add;
	out->swap = wr->wr.atomic.swap;
}

/* What needs no packet has no SGEs. */
static int local_to_nic(const struct ibv_send_wr *wr, struct rd_send_wr *out, struct rd_bind *bind)
{
	out->n_sge = 0;
	if (out->opcode == RD_WR_LOCAL_INV) {
		out->rkey = wr->invalidate_rkey;
		return 0;
	}
	if (!wr->bind_mw.mw || wr->bind_mw.mw->type != IBV_MW_TYPE_2)
		return EINVAL;
	out->rkey = wr->bind_mw.rkey;
	out->bind = bind;
	return mv_bind_to_nic(wr->bind_mw.mw, &wr->bind_mw.bind_info, bind);
}

static int send_to_nic(const void *of, const struct ibv_send_wr *wr, struct rd_send_wr *out,
		       struct rd_bind *bind)
{
	const struct ibv_qp *qp = of;
	enum rd_wr_opcode opcode;
	uint32_t flags;
	int err = mv_send_flags_to_nic(wr->send_flags, &flags);

	if (!err)
		err = opcode_to_nic(wr->opcode, &opcode, &flags);
	if (err)
		return err;
	*out = (struct rd_send_wr){
		.wr_id = wr->wr_id,
		.sge = (const struct rd_sge *)wr->sg_list,
		.n_sge = (uint32_t)wr->num_sge,
		.flags = flags,
		.imm = flags & RD_SEND_INV ? wr->invalidate_rkey : be32toh(wr->imm_data),
		.opcode = opcode,
	};
	if (opcode >= RD_WR_LOCAL_INV)
		return local_to_nic(wr, out, bind);
	if (wr->num_sge < 0 || (wr->num_sge && !wr->sg_list))
		return EINVAL;
	if (qp->qp_type == IBV_QPT_UD)
		return address_to_nic(qp, wr, &out->ud);
	/* UC has WRITEs as well, the device has not; nor does a WR of one say where it goes. */
	if (qp->qp_type == IBV_QPT_UC)
		return opcode == RD_WR_WRITE ? EOPNOTSUPP : 0;
	/* What an operation does not have is not set. */
	if (opcode == RD_WR_WRITE || opcode == RD_WR_READ || opcode == RD_WR_ATOMIC_WRITE) {
		out->rkey = wr->wr.rdma.rkey;
		out->remote_addr = wr->wr.rdma.remote_addr;
	} else if (opcode != RD_WR_SEND) {
		atomic_to_nic(wr, out);
	}
	return 0;
}

int mv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	int err = iv_post_send(mv_qp(qp)->nic, send_to_nic, qp, &wr);

	if (err)
		*bad_wr = wr;
	return err;
}

static int recv_to_nic(const void *of, const struct ibv_recv_wr *wr, struct rd_recv_wr *out)
{
	(void)of;
	if (wr->num_sge < 0 || (wr->num_sge && !wr->sg_list))
		return EINVAL;
	*out = (struct rd_recv_wr){
		.wr_id = wr->wr_id,
		.sge = (const struct rd_sge *)wr->sg_list,
		.n_sge = (uint32_t)wr->num_sge,
	};
	return 0;
}

static int post_recv(struct iv_recv_queue queue, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad_wr)
{
	int err = iv_post_recv(queue, recv_to_nic, NULL, &wr);

	if (err)
		*bad_wr = wr;
	return err;
}

int mv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return post_recv((struct iv_recv_queue){.qp = mv_qp(qp)->nic}, wr, bad_wr);
}

int mv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return post_recv((struct iv_recv_queue){.srq = mv_srq(srq)->nic}, wr, bad_wr);
}
