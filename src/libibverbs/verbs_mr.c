/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_mr.c - memory regions. */
#include "libibverbs/real_library.h"

#include <stdlib.h>

/*
 * Huge pages are pages. Flags of the optional range may be dropped by definition. On-demand regions
 * the device has not.
 */
#define ACCESS_KNOWN                                                                             \
	((unsigned int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |                       \
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_HUGETLB | \
			IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED) |                            \
	 (unsigned int)IBV_ACCESS_OPTIONAL_RANGE)
#define ACCESS_ABSENT ((unsigned int)IBV_ACCESS_ON_DEMAND)
#define ACCESS_NEED_LOCAL_WRITE ((unsigned int)(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC))

_Static_assert((int)IBV_REREG_MR_CHANGE_TRANSLATION == (int)MH_MR_MEMORY &&
		       (int)IBV_REREG_MR_CHANGE_PD == (int)MH_MR_PD &&
		       (int)IBV_REREG_MR_CHANGE_ACCESS == (int)MH_MR_ACCESS,
	       "what of a registration changes");

uint32_t mv_access_of_peers(unsigned int access)
{
	return access &
	       ((uint32_t)RD_ACCESS_REMOTE_WRITE | RD_ACCESS_REMOTE_READ | RD_ACCESS_REMOTE_ATOMIC);
}

static int access_to_nic(unsigned int access, uint32_t *out)
{
	if (access & ~(ACCESS_KNOWN | ACCESS_ABSENT))
		return EINVAL;
	if (access & ACCESS_ABSENT)
		return EOPNOTSUPP;
	if ((access & ACCESS_NEED_LOCAL_WRITE) && !(access & IBV_ACCESS_LOCAL_WRITE))
		return EINVAL;
	*out = access & (RD_QP_ACCESS_ALL | RD_ACCESS_MW_BIND);
	return 0;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	uint32_t nic_access;
	struct mv_mr *mr;
	int err;

	MV_TO_REAL(mv_real_of(pd), ibv_reg_mr_iova2, (pd, addr, length, iova, access));
	err = pd ? access_to_nic(access, &nic_access) : EINVAL;
	if (err)
		return iv_null(err);
	mr = calloc(1, sizeof(*mr));
	/* Addresses of a zero-based region, in keys of both kinds, count from its beginning. */
	if (access & IBV_ACCESS_ZERO_BASED)
		iova = 0;
	err = mr ? mh_mr_reg(mv_pd(pd)->nic, addr, length, iova, nic_access, &mr->nic) : ENOMEM;
	if (err)
		return iv_drop(mr, err);
	mr->ibv = (struct ibv_mr){
		.context = pd->context,
		.pd = pd,
		.addr = addr,
		.length = length,
		.lkey = mh_mr_lkey(mr->nic),
		.rkey = mh_mr_rkey(mr->nic),
	};
	return &mr->ibv;
}

struct ibv_mr *mv_alloc_null_mr(struct ibv_pd *pd)
{
	struct mv_mr *mr = pd ? calloc(1, sizeof(*mr)) : NULL;
	int err;

	if (!mr)
		return iv_null(pd ? ENOMEM : EINVAL);
	err = mh_mr_reg_null(mv_pd(pd)->nic, &mr->nic);
	if (err)
		return iv_drop(mr, err);
	mr->ibv = (struct ibv_mr){.context = pd->context, .pd = pd, .lkey = mh_mr_lkey(mr->nic)};
	return &mr->ibv;
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			       int access)
{
	MV_TO_REAL(mv_real_of(pd), ibv_reg_mr_iova, (pd, addr, length, iova, access));
	return ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned int)access);
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	MV_TO_REAL(mv_real_of(pd), ibv_reg_mr, (pd, addr, length, access));
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned int)access);
}

/* What a registration is made again with; a field that no flag names stays. */
static int rereg_check(const struct ibv_mr *mr, int flags, const struct ibv_pd *pd, size_t length,
		       unsigned int access, struct mh_mr_change *change)
{
	if (!flags || flags & ~IBV_REREG_MR_FLAGS_SUPPORTED)
		return EINVAL;
	if ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) && length == 0)
		return EINVAL;
	if ((flags & IBV_REREG_MR_CHANGE_PD) && (!pd || pd->context != mr->context))
		return EINVAL;
	if (flags & IBV_REREG_MR_CHANGE_ACCESS)
		return access_to_nic(access, &change->access);
	return 0;
}

/* The keys stay, as nothing of the registration is in them. */
int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		 int access)
{
	struct mh_mr_change change = {
		.mask = (uint32_t)flags, .addr = addr, .length = length, .iova = (uintptr_t)addr};
	int err = EINVAL;

	MV_TO_REAL(mv_real_of(mr), ibv_rereg_mr, (mr, flags, pd, addr, length, access));
	if (mr)
		err = rereg_check(mr, flags, pd, length, (unsigned int)access, &change);
	if (!err && (flags & IBV_REREG_MR_CHANGE_PD))
		change.pd = mv_pd(pd)->nic;
	if (!err)
		err = mh_mr_rereg(mv_mr(mr)->nic, &change);
	if (err) {
		errno = err;
		return IBV_REREG_MR_ERR_INPUT;
	}
	if (flags & IBV_REREG_MR_CHANGE_PD)
		mr->pd = pd;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		mr->addr = addr;
		mr->length = length;
	}
	return 0;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	int err;

	MV_TO_REAL(mv_real_of(mr), ibv_dereg_mr, (mr));
	if (!mr)
		return EINVAL;
	err = mh_mr_dereg(mv_mr(mr)->nic);
	if (!err)
		free(mv_mr(mr));
	return err;
}
