/* SPDX-License-Identifier: BSD-2-Clause */
/* meet_qp.c - a QP described for its peer, and connected to a peer that was described. */
#include "libmrc/meet.h"

#include <string.h>
#include <sys/random.h>

static int check_may_connect(const struct mrc_qp *qp, struct rd_qp_attr *now)
{
	int err = mh_qp_query(qp->nic, now);

	if (err)
		return err;
	return now->state == RD_QPS_RESET || now->state == RD_QPS_INIT ? 0 : EINVAL;
}

/* A number that an attacker does not guess: it keeps others' packets out of the QP. */
static int draw_psn(uint32_t *psn)
{
	if (getrandom(psn, sizeof(*psn), 0) != (ssize_t)sizeof(*psn))
		return errno;
	*psn &= RD_BITS_24;
	return 0;
}

int mrc_meet_describe(struct mrc_qp *qp, const struct ibv_mr *mr, struct mrc_meet_end *end)
{
	struct mh_device_attr device;
	struct rd_qp_attr now;
	uint32_t psn;
	int err;

	if (!qp || !end || (mr && mr->context != qp->ctx->verbs))
		return ma_errno(EINVAL);
	err = check_may_connect(qp, &now);
	if (!err)
		err = draw_psn(&psn);
	if (err)
		return ma_errno(err);
	mh_device_query(qp->ctx->dev, &device);
	*end = (struct mrc_meet_end){
		.qpn = mh_qp_number(qp->nic),
		.psn = psn,
		.mtu = (uint8_t)iv_mtu_from_nic(device.max_mtu),
		.mpr_dest = now.mpr_dest,
		.max_wimm_dest = now.max_wimm_dest,
	};
	memcpy(end->gid.raw, device.gid.b, sizeof(end->gid.raw));
	if (mr && mr->length > 0) {
		end->rkey = mr->rkey;
		end->address = (uintptr_t)mr->addr;
		end->bytes = mr->length;
	}
	return 0;
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static int to_rtr(struct mrc_qp *qp, const struct mrc_meet_end *mine,
		  const struct mrc_meet_end *theirs)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = {.is_global = 1, .grh = {.dgid = theirs->gid}},
		.dest_qp_num = theirs->qpn,
		.rq_psn = theirs->psn,
		.path_mtu = (enum ibv_mtu)least(mine->mtu, theirs->mtu),
	};

	return mrc_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				     IBV_QP_PATH_MTU,
			     NULL, 0);
}

/* A requester keeps to what the peer said that it takes as responder. */
static int to_rts(struct mrc_qp *qp, const struct rd_qp_attr *now, const struct mrc_meet_end *mine,
		  const struct mrc_meet_end *theirs)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .sq_psn = mine->psn};
	struct mrc_qp_attr limits = {
		.mpr = {.mpr = (uint8_t)least(now->mpr, theirs->mpr_dest)},
		.wimm = {.max_wimm = (uint16_t)least(now->max_wimm, theirs->max_wimm_dest)},
	};

	return mrc_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN, &limits,
			     MRC_QP_MPR | MRC_QP_MAX_WIMM);
}

int mrc_meet_connect(struct mrc_qp *qp, const struct mrc_meet_end *mine,
		     const struct mrc_meet_end *theirs)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT}, reset = {.qp_state = IBV_QPS_RESET};
	char line[MRC_MEET_LINE_BYTES];
	struct rd_qp_attr now;
	struct rd_gid gid;
	int err;

	/* What can be printed has its fields in range. */
	if (!qp || mrc_meet_print(mine, line) || mrc_meet_print(theirs, line) ||
	    mine->qpn != mh_qp_number(qp->nic))
		return ma_errno(EINVAL);
	err = check_may_connect(qp, &now);
	if (err)
		return ma_errno(err);
	memcpy(gid.b, theirs->gid.raw, sizeof(gid.b));
	if (!mh_device_can_reach(qp->ctx->dev, &gid))
		return ma_errno(EHOSTUNREACH);
	if (now.state == RD_QPS_RESET)
		err = mrc_modify_qp(qp, &init, IBV_QP_STATE, NULL, 0);
	if (!err)
		err = to_rtr(qp, mine, theirs);
	if (!err)
		err = to_rts(qp, &now, mine, theirs);
	if (err)
		(void)mrc_modify_qp(qp, &reset, IBV_QP_STATE, NULL, 0);
	return ma_errno(err);
}
