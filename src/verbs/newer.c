/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * newer.c - functions of releases of rdma-core that are newer than the header this library is built
 * with (nodes 1.15 to 1.18), so that programs of today load. Types that it does not know are named
 * by nobody here: what the device has not says so, and looks at none of its arguments.
 */
#include "verbs/verbs.h"

#define UNUSED(x) ((void)(x))

/* Units of verbs' speed. */
#define SPEED_UNIT_BPS 100000000u

int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *port_speed);
void *ibv_alloc_dmah(struct ibv_context *context, void *attr);
int ibv_dealloc_dmah(void *dmah);
struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, void *mr_init_attr);
int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm);
void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, void *buf);
void ibv_free_buf(void *buf);
struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, void *buf, void *addr, size_t length, int access);
int ibv_export_buf_dmabuf_fd(void *buf);
int _ibv_query_comp_cntr_caps(struct ibv_context *context, void *caps, size_t caps_size);
void *ibv_create_comp_cntr(struct ibv_context *context, void *cc_attr);
int ibv_destroy_comp_cntr(void *comp_cntr);
int ibv_set_comp_cntr(void *comp_cntr, uint64_t value);
int ibv_set_err_comp_cntr(void *comp_cntr, uint64_t value);
int ibv_inc_comp_cntr(void *comp_cntr, uint64_t amount);
int ibv_inc_err_comp_cntr(void *comp_cntr, uint64_t amount);
int ibv_read_comp_cntr(void *comp_cntr, uint64_t *value);
int ibv_read_err_comp_cntr(void *comp_cntr, uint64_t *value);
int ibv_qp_attach_comp_cntr(struct ibv_qp *qp, void *comp_cntr, void *attr);

/* ---- 1.15 ---- */

void *ibv_alloc_dmah(struct ibv_context *context, void *attr)
{
	UNUSED(context), UNUSED(attr);
	return mv_null(EOPNOTSUPP);
}

int ibv_dealloc_dmah(void *dmah)
{
	UNUSED(dmah);
	return EOPNOTSUPP;
}

struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, void *mr_init_attr)
{
	UNUSED(pd), UNUSED(mr_init_attr);
	return mv_null(EOPNOTSUPP);
}

/* ---- 1.16 ---- */

int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm)
{
	UNUSED(dm);
	return mv_minus_one(EOPNOTSUPP);
}

/* The whole of the planes, which the older query rounds to what it has codes for. */
int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *port_speed)
{
	if (!context || !port_speed || port_num != MV_PORT)
		return EINVAL;
	*port_speed = mv_port_bps(context) / SPEED_UNIT_BPS;
	return 0;
}

/* ---- 1.17 and 1.18: memory of the library's choice ---- */

void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, void *buf)
{
	UNUSED(pd), UNUSED(size), UNUSED(buf);
	return mv_null(EOPNOTSUPP);
}

void ibv_free_buf(void *buf)
{
	UNUSED(buf);
}

struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, void *buf, void *addr, size_t length, int access)
{
	UNUSED(pd), UNUSED(buf), UNUSED(addr), UNUSED(length), UNUSED(access);
	return mv_null(EOPNOTSUPP);
}

int ibv_export_buf_dmabuf_fd(void *buf)
{
	UNUSED(buf);
	return mv_minus_one(EOPNOTSUPP);
}

/* ---- 1.18: counters of completions ---- */

int _ibv_query_comp_cntr_caps(struct ibv_context *context, void *caps, size_t caps_size)
{
	UNUSED(context), UNUSED(caps), UNUSED(caps_size);
	return EOPNOTSUPP;
}

void *ibv_create_comp_cntr(struct ibv_context *context, void *cc_attr)
{
	UNUSED(context), UNUSED(cc_attr);
	return mv_null(EOPNOTSUPP);
}

int ibv_destroy_comp_cntr(void *comp_cntr)
{
	UNUSED(comp_cntr);
	return EOPNOTSUPP;
}

int ibv_set_comp_cntr(void *comp_cntr, uint64_t value)
{
	UNUSED(comp_cntr), UNUSED(value);
	return EOPNOTSUPP;
}

int ibv_set_err_comp_cntr(void *comp_cntr, uint64_t value)
{
	return ibv_set_comp_cntr(comp_cntr, value);
}

int ibv_inc_comp_cntr(void *comp_cntr, uint64_t amount)
{
	return ibv_set_comp_cntr(comp_cntr, amount);
}

int ibv_inc_err_comp_cntr(void *comp_cntr, uint64_t amount)
{
	return ibv_set_comp_cntr(comp_cntr, amount);
}

int ibv_read_comp_cntr(void *comp_cntr, uint64_t *value)
{
	UNUSED(comp_cntr), UNUSED(value);
	return EOPNOTSUPP;
}

int ibv_read_err_comp_cntr(void *comp_cntr, uint64_t *value)
{
	return ibv_read_comp_cntr(comp_cntr, value);
}

int ibv_qp_attach_comp_cntr(struct ibv_qp *qp, void *comp_cntr, void *attr)
{
	UNUSED(qp), UNUSED(comp_cntr), UNUSED(attr);
	return EOPNOTSUPP;
}
