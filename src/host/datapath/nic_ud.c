/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_ud.c - what the NIC does for its UD engine: it finds QPs, sends frames, places payload and
 * fills CQs. All of it under nic->lock, which the caller of the UD engine holds.
 */
#include <errno.h>

#include "host/datapath/datapath.h"
#include "host/platform/platform.h"

/*
 * Probes of UD paths are endpoint requests, so they leave with all else that the MRC engine has to
 * send.
 */
static void ud_tx_probes(void *ctx, uint64_t now_ns)
{
	mh_tx_run(ctx, now_ns);
}

/*
 * The whole number is compared, not its index alone: a datagram for a QP that is gone must not
 * reach the one that has the index now.
 */
static struct mu_qp *ud_find_qp(void *ctx, uint32_t qpn)
{
	const struct mh_nic *nic = ctx;
	const struct mh_qp *qp = nic->qp_by_index[qpn & MH_QPN_INDEX_MASK];

	return qp && qp->number == qpn ? qp->ud : NULL;
}

/*
 * The UD engine reports each send in order, so nothing is counted here as for an RC QP: c->wr is
 * what the completion sets free. One that is not signalled succeeds silently; its place is free
 * with the next completion that is polled.
 */
static void ud_complete(void *qp_user, const struct mu_completion *c)
{
	struct mh_qp *qp = qp_user;
	struct mh_nic *nic = qp->nic;
	struct mh_cqe cqe = {.qp = qp, .wr = c->wr};

	if (!c->is_recv && c->status == RD_WC_LOC_PROT_ERR)
		nic->counts.tx_mr_gone++;
	if (!c->is_recv && c->status == RD_WC_SUCCESS &&
	    !qp->signaled[(c->wr - 1) % qp->init.cap.max_send_wr])
		return;
	cqe.wc = (struct mh_wc){
		.wr_id = c->wr_id,
		.status = c->status,
		.opcode = c->is_recv ? RD_WC_RECV : RD_WC_SEND,
		.byte_len = c->byte_len,
		.imm = c->imm,
		.qpn = qp->number,
		.flags = c->flags,
		.src_qpn = c->src_qpn,
		.qp_owner = qp->init.owner,
	};
	mh_completion_push(nic, c->is_recv ? qp->init.recv_cq : qp->init.send_cq, &cqe);
}

static void ud_last_wqe(void *qp_user)
{
	mh_qp_raise_last_wqe(qp_user);
}

int mh_nic_create_ud(struct mh_nic *nic)
{
	const struct mu_env env = {
		.ctx = nic,
		.tx_budget = mh_tx_budget,
		.tx = mh_tx_datagram,
		.tx_flush = mh_tx_flush,
		.tx_probes = ud_tx_probes,
		.place = mh_engine_place,
		.find_qp = ud_find_qp,
		.complete = ud_complete,
		.last_wqe = ud_last_wqe,
	};
	struct mt_ev evs[MT_EVS_MAX];
	struct mu_cfg cfg = {
		.engine = nic->engine,
		.gid = nic->attr.gid,
		.mtu = nic->env.mtu,
		.qpn_index_bits = MH_QPN_INDEX_BITS,
		.evs = evs,
		.n_evs = mh_engine_evs(&nic->env, evs),
		.n_ports = nic->ports.n,
		.seed = ~nic->seed,
	};

	nic->ud = mu_create(&cfg, &env);
	return nic->ud ? 0 : ENOMEM;
}
