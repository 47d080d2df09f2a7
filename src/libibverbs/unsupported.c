/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unsupported.c - functions of libibverbs for what the device has not. They say so:
 * programs find them by name even where they never call them. Some are of releases of rdma-core
 * that are newer than the header this library is built with (nodes 1.15 to 1.18), so that programs
 * of today load. For an object of a real device the real library answers.
 */
#include "libibverbs/real_library.h"

/* Units of verbs' speed. */
#define SPEED_UNIT_BPS 100000000u

#define ABSENT(type, name, parameters, arguments, whose, otherwise) \
	type name parameters                                        \
	{                                                           \
		MV_TO_REAL(whose, name, arguments);                 \
		return otherwise;                                   \
	}
/* By what the function returns: an errno value, -1 with errno, NULL with errno. */
#define ABSENT_ERRNO(name, parameters, arguments, whose) \
	ABSENT(int, name, parameters, arguments, whose, EOPNOTSUPP)
#define ABSENT_MINUS_ONE(name, parameters, arguments, whose) \
	ABSENT(int, name, parameters, arguments, whose, iv_minus_one(EOPNOTSUPP))
#define ABSENT_NULL(type, name, parameters, arguments, whose) \
	ABSENT(type, name, parameters, arguments, whose, iv_null(EOPNOTSUPP))

/* clang-format off: it takes the parameters for products */
/* ---- Ethernet addresses ---- */

ABSENT_ERRNO(ibv_resolve_eth_l2_from_gid,
	     (struct ibv_context * context, struct ibv_ah_attr *attr, uint8_t eth_mac[6],
	      uint16_t *vid),
	     (context, attr, eth_mac, vid), mv_real_of_context(context))

/* ---- memory of devices, objects of other processes ---- */

/* Not another errno: it is how programs learn that memory of a GPU has to be copied. */
ABSENT_NULL(struct ibv_mr *, ibv_reg_dmabuf_mr,
	    (struct ibv_pd * pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access),
	    (pd, offset, length, iova, fd, access), mv_real_of(pd))

ABSENT_NULL(struct ibv_pd *, ibv_import_pd, (struct ibv_context * context, uint32_t pd_handle),
	    (context, pd_handle), mv_real_of_context(context))

void ibv_unimport_pd(struct ibv_pd *pd)
{
	MV_TO_REAL_VOID(mv_real_of(pd), ibv_unimport_pd, (pd));
}

ABSENT_NULL(struct ibv_mr *, ibv_import_mr, (struct ibv_pd * pd, uint32_t mr_handle),
	    (pd, mr_handle), mv_real_of(pd))

void ibv_unimport_mr(struct ibv_mr *mr)
{
	MV_TO_REAL_VOID(mv_real_of(mr), ibv_unimport_mr, (mr));
}

ABSENT_NULL(struct ibv_dm *, ibv_import_dm, (struct ibv_context * context, uint32_t dm_handle),
	    (context, dm_handle), mv_real_of_context(context))

void ibv_unimport_dm(struct ibv_dm *dm)
{
	MV_TO_REAL_VOID(mv_real_of(dm), ibv_unimport_dm, (dm));
}

/* ---- 1.15 ---- */

ABSENT_NULL(void *, ibv_alloc_dmah, (struct ibv_context * context, void *attr), (context, attr),
	    mv_real_of_context(context))
ABSENT_ERRNO(ibv_dealloc_dmah, (void *dmah), (dmah), mv_real_of(dmah))
ABSENT_NULL(struct ibv_mr *, ibv_reg_mr_ex, (struct ibv_pd * pd, void *mr_init_attr),
	    (pd, mr_init_attr), mv_real_of(pd))

/* ---- 1.16 ---- */

ABSENT_MINUS_ONE(ibv_dm_export_dmabuf_fd, (struct ibv_dm * dm), (dm), mv_real_of(dm))

/* The whole of the planes, which the older query rounds to what it has codes for. */
int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *port_speed)
{
	MV_TO_REAL(mv_real_of_context(context), ibv_query_port_speed,
		   (context, port_num, port_speed));
	if (mv_real_of_context(context))
		return EOPNOTSUPP;
	if (!context || !port_speed || port_num != MV_PORT)
		return EINVAL;
	*port_speed = mv_port_bps(context) / SPEED_UNIT_BPS;
	return 0;
}

/* ---- 1.17 and 1.18: memory of the library's choice ---- */

ABSENT_NULL(void *, ibv_alloc_buf, (struct ibv_pd * pd, size_t size, void *buf), (pd, size, buf),
	    mv_real_of(pd))

void ibv_free_buf(void *buf)
{
	MV_TO_REAL_VOID(mv_real(), ibv_free_buf, (buf));
}

ABSENT_NULL(struct ibv_mr *, ibv_reg_buf_mr,
	    (struct ibv_pd * pd, void *buf, void *addr, size_t length, int access),
	    (pd, buf, addr, length, access), mv_real_of(pd))
ABSENT_MINUS_ONE(ibv_export_buf_dmabuf_fd, (void *buf), (buf), mv_real())

/* ---- 1.18: counters of completions ---- */

ABSENT_ERRNO(_ibv_query_comp_cntr_caps,
	     (struct ibv_context * context, void *caps, size_t caps_size),
	     (context, caps, caps_size), mv_real_of_context(context))
ABSENT_NULL(void *, ibv_create_comp_cntr, (struct ibv_context * context, void *cc_attr),
	    (context, cc_attr), mv_real_of_context(context))
ABSENT_ERRNO(ibv_destroy_comp_cntr, (void *comp_cntr), (comp_cntr), mv_real_of(comp_cntr))
ABSENT_ERRNO(ibv_set_comp_cntr, (void *comp_cntr, uint64_t value), (comp_cntr, value),
	     mv_real_of(comp_cntr))
ABSENT_ERRNO(ibv_set_err_comp_cntr, (void *comp_cntr, uint64_t value), (comp_cntr, value),
	     mv_real_of(comp_cntr))
ABSENT_ERRNO(ibv_inc_comp_cntr, (void *comp_cntr, uint64_t amount), (comp_cntr, amount),
	     mv_real_of(comp_cntr))
ABSENT_ERRNO(ibv_inc_err_comp_cntr, (void *comp_cntr, uint64_t amount), (comp_cntr, amount),
	     mv_real_of(comp_cntr))
ABSENT_ERRNO(ibv_read_comp_cntr, (void *comp_cntr, uint64_t *value), (comp_cntr, value),
	     mv_real_of(comp_cntr))
ABSENT_ERRNO(ibv_read_err_comp_cntr, (void *comp_cntr, uint64_t *value), (comp_cntr, value),
	     mv_real_of(comp_cntr))
ABSENT_ERRNO(ibv_qp_attach_comp_cntr, (struct ibv_qp * qp, void *comp_cntr, void *attr),
	     (qp, comp_cntr, attr), mv_real_of(qp))
/* clang-format on */
