/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_mw.c - memory windows. Those of type 2 are bound by ordinary WRs, see verbs_post.c. */
#include "libibverbs/libibverbs.h"

#include <stdlib.h>

/* A program may name LOCAL_WRITE, which a window has not. */
#define BIND_KNOWN                                                          \
	((unsigned int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |  \
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | \
			IBV_ACCESS_ZERO_BASED))

_Static_assert((int)IBV_MW_TYPE_1 == (int)RD_MW_TYPE_1 && (int)IBV_MW_TYPE_2 == (int)RD_MW_TYPE_2,
	       "types of windows");

struct ibv_mw *mv_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct mv_mw *mw;
	int err;

	if (!pd)
		return iv_null(EINVAL);
	mw = calloc(1, sizeof(*mw));
	err = mw ? mh_mw_alloc(mv_pd(pd)->nic, (enum rd_mw_type)type, &mw->nic) : ENOMEM;
	if (err)
		return iv_drop(mw, err);
	mw->ibv = (struct ibv_mw){
		.context = pd->context, .pd = pd, .rkey = mh_mw_rkey(mw->nic), .type = type};
	return &mw->ibv;
}

int mv_dealloc_mw(struct ibv_mw *mw)
{
	int err;

	if (!mw)
		return EINVAL;
	err = mh_mw_dealloc(mv_mw(mw)->nic);
	if (!err)
		free(mv_mw(mw));
	return err;
}

int mv_bind_to_nic(struct ibv_mw *mw, const struct ibv_mw_bind_info *info, struct rd_bind *out)
{
	if (info->mw_access_flags & ~BIND_KNOWN)
		return EINVAL;
	*out = (struct rd_bind){
		.mw = mv_mw(mw)->nic,
		.mr = info->mr ? mv_mr(info->mr)->nic : NULL,
		.addr = info->addr,
		.length = info->length,
		.access = mv_access_of_peers(info->mw_access_flags),
		.zero_based = (info->mw_access_flags & IBV_ACCESS_ZERO_BASED) != 0,
	};
	return 0;
}

/* The inline function has looked at the type and the PDs. A bind that is posted has its key. */
int mv_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind)
{
	struct rd_bind bind;
	struct rd_send_wr wr = {
		.wr_id = mw_bind->wr_id,
		.opcode = RD_WR_BIND_MW,
		.bind = &bind,
	};
	int err = mv_send_flags_to_nic(mw_bind->send_flags, &wr.flags);

	if (!err)
		err = mv_bind_to_nic(mw, &mw_bind->bind_info, &bind);
	if (!err)
		err = mh_qp_post_send(mv_qp(qp)->nic, &wr, 1, NULL);
	if (!err)
		mw->rkey = mh_mw_rkey(mv_mw(mw)->nic);
	return err;
}
