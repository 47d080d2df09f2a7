/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * newer_symbols.c - functions of releases of rdma-core that are newer than the header this library
 * is built with (nodes 1.15 to 1.18), so that programs of today load. What the device has not says
 * so, and looks at none of its arguments.
 */
#include "libibverbs/real_library.h"

#define UNUSED(x) ((void)(x))

/* Units of verbs' speed. */
#define SPEED_UNIT_BPS 100000000u

/* ---- 1.15 ---- */

void *ibv_alloc_dmah(struct ibv_context *context, void *attr)
{
	MV_TO_REAL(mv_real_of_context(context), ibv_alloc_dmah, (context, attr));
	UNUSED(context), UNUSED(attr);
	return mv_null(EOPNOTSUPP);
}

int ibv_dealloc_dmah(void *dmah)
{
	MV_TO_REAL(mv_real_of(dmah), ibv_dealloc_dmah, (dmah));
	UNUSED(dmah);
	return EOPNOTSUPP;
}

struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, void *mr_init_attr)
{
	MV_TO_REAL(mv_real_of(pd), ibv_reg_mr_ex, (pd, mr_init_attr));
	UNUSED(pd), UNUSED(mr_init_attr);
	return mv_null(EOPNOTSUPP);
}

/* ---- 1.16 ---- */

int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm)
{
	MV_TO_REAL(mv_real_of(dm), ibv_dm_export_dmabuf_fd, (dm));
	UNUSED(dm);
	return mv_minus_one(EOPNOTSUPP);
}

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

void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, void *buf)
{
	MV_TO_REAL(mv_real_of(pd), ibv_alloc_buf, (pd, size, buf));
	UNUSED(pd), UNUSED(size), UNUSED(buf);
	return mv_null(EOPNOTSUPP);
}

void ibv_free_buf(void *buf)
{
	MV_TO_REAL_VOID(mv_real(), ibv_free_buf, (buf));
	UNUSED(buf);
}

struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, void *buf, void *addr, size_t length, int access)
{
	MV_TO_REAL(mv_real_of(pd), ibv_reg_buf_mr, (pd, buf, addr, length, access));
	UNUSED(pd), UNUSED(buf), UNUSED(addr), UNUSED(length), UNUSED(access);
	return mv_null(EOPNOTSUPP);
}

int ibv_export_buf_dmabuf_fd(void *buf)
{
	MV_TO_REAL(mv_real(), ibv_export_buf_dmabuf_fd, (buf));
	UNUSED(buf);
	return mv_minus_one(EOPNOTSUPP);
}

/* ---- 1.18: counters of completions ---- */

int _ibv_query_comp_cntr_caps(struct ibv_context *context, void *caps, size_t caps_size)
{
	MV_TO_REAL(mv_real_of_context(context), _ibv_query_comp_cntr_caps,
		   (context, caps, caps_size));
	UNUSED(context), UNUSED(caps), UNUSED(caps_size);
	return EOPNOTSUPP;
}

void *ibv_create_comp_cntr(struct ibv_context *context, void *cc_attr)
{
	MV_TO_REAL(mv_real_of_context(context), ibv_create_comp_cntr, (context, cc_attr));
	UNUSED(context), UNUSED(cc_attr);
	return mv_null(EOPNOTSUPP);
}

int ibv_destroy_comp_cntr(void *comp_cntr)
{
	MV_TO_REAL(mv_real_of(comp_cntr), ibv_destroy_comp_cntr, (comp_cntr));
	UNUSED(comp_cntr);
	return EOPNOTSUPP;
}

int ibv_set_comp_cntr(void *comp_cntr, uint64_t value)
{
	MV_TO_REAL(mv_real_of(comp_cntr), ibv_set_comp_cntr, (comp_cntr, value));
	UNUSED(comp_cntr), UNUSED(value);
	return EOPNOTSUPP;
}

int ibv_set_err_comp_cntr(void *comp_cntr, uint64_t value)
{
	MV_TO_REAL(mv_real_of(comp_cntr), ibv_set_err_comp_cntr, (comp_cntr, value));
	return ibv_set_comp_cntr(comp_cntr, value);
}

int ibv_inc_comp_cntr(void *comp_cntr, uint64_t amount)
{
	MV_TO_REAL(mv_real_of(comp_cntr), ibv_inc_comp_cntr, (comp_cntr, amount));
	return ibv_set_comp_cntr(comp_cntr, amount);
}

int ibv_inc_err_comp_cntr(void *comp_cntr, uint64_t amount)
{
	MV_TO_REAL(mv_real_of(comp_cntr), ibv_inc_err_comp_cntr, (comp_cntr, amount));
	return ibv_set_comp_cntr(comp_cntr, amount);
}

int ibv_read_comp_cntr(void *comp_cntr, uint64_t *value)
{
	MV_TO_REAL(mv_real_of(comp_cntr), ibv_read_comp_cntr, (comp_cntr, value));
	UNUSED(comp_cntr), UNUSED(value);
	return EOPNOTSUPP;
}

int ibv_read_err_comp_cntr(void *comp_cntr, uint64_t *value)
{
	MV_TO_REAL(mv_real_of(comp_cntr), ibv_read_err_comp_cntr, (comp_cntr, value));
	return ibv_read_comp_cntr(comp_cntr, value);
}

int ibv_qp_attach_comp_cntr(struct ibv_qp *qp, void *comp_cntr, void *attr)
{
	MV_TO_REAL(mv_real_of(qp), ibv_qp_attach_comp_cntr, (qp, comp_cntr, attr));
	UNUSED(qp), UNUSED(comp_cntr), UNUSED(attr);
	return EOPNOTSUPP;
}
