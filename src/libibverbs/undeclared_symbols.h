/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * undeclared_symbols.h - the exported functions that Debian 12's <infiniband/verbs.h> does not
 * declare: what it keeps for itself, and what is newer (nodes 1.15 to 1.18). Types that it does not
 * know are named by nobody here.
 */
#ifndef SOFTMRC_LIBIBVERBS_UNDECLARED_SYMBOLS_H
#define SOFTMRC_LIBIBVERBS_UNDECLARED_SYMBOLS_H

#include "libibverbs/libibverbs.h"

int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);
const char *ibv_get_sysfs_path(void);
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);

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

#endif
