/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unsupported.c - functions of libibverbs for what the device has not: Ethernet addresses, memory
 * of devices, objects of other processes. They say so, politely: programs find them by name even
 * where they never call them.
 */
#include "libibverbs/real_library.h"

#define UNUSED(x) ((void)(x))

/* ---- Ethernet addresses ---- */

int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr,
				uint8_t eth_mac[6], uint16_t *vid)
{
	MV_TO_REAL(mv_real_of_context(context), ibv_resolve_eth_l2_from_gid,
		   (context, attr, eth_mac, vid));
	UNUSED(context), UNUSED(attr), UNUSED(eth_mac), UNUSED(vid);
	return EOPNOTSUPP;
}

/* ---- memory of devices, objects of other processes ---- */

/* Not another errno: it is how programs learn that memory of a GPU has to be copied. */
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access)
{
	MV_TO_REAL(mv_real_of(pd), ibv_reg_dmabuf_mr, (pd, offset, length, iova, fd, access));
	UNUSED(pd), UNUSED(offset), UNUSED(length), UNUSED(iova), UNUSED(fd), UNUSED(access);
	return mv_null(EOPNOTSUPP);
}

struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t pd_handle)
{
	MV_TO_REAL(mv_real_of_context(context), ibv_import_pd, (context, pd_handle));
	UNUSED(context), UNUSED(pd_handle);
	return mv_null(EOPNOTSUPP);
}

void ibv_unimport_pd(struct ibv_pd *pd)
{
	MV_TO_REAL_VOID(mv_real_of(pd), ibv_unimport_pd, (pd));
	UNUSED(pd);
}

struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t mr_handle)
{
	MV_TO_REAL(mv_real_of(pd), ibv_import_mr, (pd, mr_handle));
	UNUSED(pd), UNUSED(mr_handle);
	return mv_null(EOPNOTSUPP);
}

void ibv_unimport_mr(struct ibv_mr *mr)
{
	MV_TO_REAL_VOID(mv_real_of(mr), ibv_unimport_mr, (mr));
	UNUSED(mr);
}

struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t dm_handle)
{
	MV_TO_REAL(mv_real_of_context(context), ibv_import_dm, (context, dm_handle));
	UNUSED(context), UNUSED(dm_handle);
	return mv_null(EOPNOTSUPP);
}

void ibv_unimport_dm(struct ibv_dm *dm)
{
	MV_TO_REAL_VOID(mv_real_of(dm), ibv_unimport_dm, (dm));
	UNUSED(dm);
}
