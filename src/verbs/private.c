/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * private.c - the symbols that rdma-core's own parts share. Libraries of vendors, which programs
 * bring along (libmlx5.so.1, libefa.so.1), look for them when they are loaded, each under the
 * version node of the release it was built with: IBVERBS_PRIVATE_34 in Debian 12, others before
 * and since. They are meant for kernel devices, of which there are none here: what is called says
 * EOPNOTSUPP, a driver that registers is not heard.
 *
 * A function can have several versions only by assembler directives, which do not go together with
 * optimisation at link time; this file is compiled without.
 */
#include "verbs/verbs.h"

/* The nodes of all releases that a program may bring libraries of; libibverbs.map has the same. */
#define TEN(version, f, symbol, ten)                                                             \
	version(f, symbol, ten##0) version(f, symbol, ten##1) version(f, symbol, ten##2)         \
		version(f, symbol, ten##3) version(f, symbol, ten##4) version(f, symbol, ten##5) \
			version(f, symbol, ten##6) version(f, symbol, ten##7)                    \
				version(f, symbol, ten##8) version(f, symbol, ten##9)
#define NODES(version, f, symbol)  \
	TEN(version, f, symbol, 3) \
	TEN(version, f, symbol, 4) \
	TEN(version, f, symbol, 5) TEN(version, f, symbol, 6) TEN(version, f, symbol, 7)

/* Gives function f a name in a node; NUMBERED: a name that ends with the node's number. */
#define PLAIN(f, symbol, n) __asm__(".symver " #f "," #symbol "@IBVERBS_PRIVATE_" #n);
#define NUMBERED(f, symbol, n) __asm__(".symver " #f "," #symbol #n "@IBVERBS_PRIVATE_" #n);

int mv_private_refuse(void);
void mv_private_ignore(void);
void *mv_private_none(void);
int mv_private_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
			int *type);
int mv_private_read_file(const char *dir, const char *file, char *buf, size_t size);
extern const bool mv_private_destroy;

/* ---- functions that return an errno value and look at none of their arguments ---- */

int mv_private_refuse(void)
{
	return EOPNOTSUPP;
}

/* clang-format off */
NODES(PLAIN, mv_private_refuse, ibv_cmd_advise_mr)
NODES(PLAIN, mv_private_refuse, ibv_cmd_alloc_dm)
NODES(PLAIN, mv_private_refuse, ibv_cmd_alloc_mw)
NODES(PLAIN, mv_private_refuse, ibv_cmd_alloc_pd)
NODES(PLAIN, mv_private_refuse, ibv_cmd_attach_mcast)
NODES(PLAIN, mv_private_refuse, ibv_cmd_close_xrcd)
NODES(PLAIN, mv_private_refuse, ibv_cmd_create_ah)
NODES(PLAIN, mv_private_refuse, ibv_cmd_create_counters)
NODES(PLAIN, mv_private_refuse, ibv_cmd_create_cq)
NODES(PLAIN, mv_private_refuse, ibv_cmd_create_cq_ex)
NODES(PLAIN, mv_private_refuse, ibv_cmd_create_flow)
NODES(PLAIN, mv_private_refuse, ibv_cmd_create_flow_action_esp)
NODES(PLAIN, mv_private_refuse, ibv_cmd_create_qp)
NODES(PLAIN, mv_private_refuse, ibv_cmd_create_qp_ex)
NODES(PLAIN, mv_private_refuse, ibv_cmd_create_qp_ex2)
NODES(PLAIN, mv_private_refuse, ibv_cmd_create_rwq_ind_table)
NODES(PLAIN, mv_private_refuse, ibv_cmd_create_srq)
NODES(PLAIN, mv_private_refuse, ibv_cmd_create_srq_ex)
NODES(PLAIN, mv_private_refuse, ibv_cmd_create_wq)
NODES(PLAIN, mv_private_refuse, ibv_cmd_dealloc_mw)
NODES(PLAIN, mv_private_refuse, ibv_cmd_dealloc_pd)
NODES(PLAIN, mv_private_refuse, ibv_cmd_dereg_mr)
NODES(PLAIN, mv_private_refuse, ibv_cmd_destroy_ah)
NODES(PLAIN, mv_private_refuse, ibv_cmd_destroy_counters)
NODES(PLAIN, mv_private_refuse, ibv_cmd_destroy_cq)
NODES(PLAIN, mv_private_refuse, ibv_cmd_destroy_flow)
NODES(PLAIN, mv_private_refuse, ibv_cmd_destroy_flow_action)
NODES(PLAIN, mv_private_refuse, ibv_cmd_destroy_qp)
NODES(PLAIN, mv_private_refuse, ibv_cmd_destroy_rwq_ind_table)
NODES(PLAIN, mv_private_refuse, ibv_cmd_destroy_srq)
NODES(PLAIN, mv_private_refuse, ibv_cmd_destroy_wq)
NODES(PLAIN, mv_private_refuse, ibv_cmd_detach_mcast)
NODES(PLAIN, mv_private_refuse, ibv_cmd_free_dm)
NODES(PLAIN, mv_private_refuse, ibv_cmd_get_context)
NODES(PLAIN, mv_private_refuse, ibv_cmd_modify_cq)
NODES(PLAIN, mv_private_refuse, ibv_cmd_modify_flow_action_esp)
NODES(PLAIN, mv_private_refuse, ibv_cmd_modify_qp)
NODES(PLAIN, mv_private_refuse, ibv_cmd_modify_qp_ex)
NODES(PLAIN, mv_private_refuse, ibv_cmd_modify_srq)
NODES(PLAIN, mv_private_refuse, ibv_cmd_modify_wq)
NODES(PLAIN, mv_private_refuse, ibv_cmd_open_qp)
NODES(PLAIN, mv_private_refuse, ibv_cmd_open_xrcd)
NODES(PLAIN, mv_private_refuse, ibv_cmd_poll_cq)
NODES(PLAIN, mv_private_refuse, ibv_cmd_post_recv)
NODES(PLAIN, mv_private_refuse, ibv_cmd_post_send)
NODES(PLAIN, mv_private_refuse, ibv_cmd_post_srq_recv)
NODES(PLAIN, mv_private_refuse, ibv_cmd_query_context)
NODES(PLAIN, mv_private_refuse, ibv_cmd_query_device_any)
NODES(PLAIN, mv_private_refuse, ibv_cmd_query_mr)
NODES(PLAIN, mv_private_refuse, ibv_cmd_query_port)
NODES(PLAIN, mv_private_refuse, ibv_cmd_query_qp)
NODES(PLAIN, mv_private_refuse, ibv_cmd_query_srq)
NODES(PLAIN, mv_private_refuse, ibv_cmd_read_counters)
NODES(PLAIN, mv_private_refuse, ibv_cmd_reg_dm_mr)
NODES(PLAIN, mv_private_refuse, ibv_cmd_reg_dmabuf_mr)
NODES(PLAIN, mv_private_refuse, ibv_cmd_reg_mr)
NODES(PLAIN, mv_private_refuse, ibv_cmd_req_notify_cq)
NODES(PLAIN, mv_private_refuse, ibv_cmd_rereg_mr)
NODES(PLAIN, mv_private_refuse, ibv_cmd_resize_cq)
NODES(PLAIN, mv_private_refuse, execute_ioctl)
/* clang-format on */

/* ---- functions that return nothing, or NULL ---- */

void mv_private_ignore(void)
{
}

void *mv_private_none(void)
{
	return NULL;
}

/* clang-format off */
NODES(PLAIN, mv_private_ignore, __verbs_log)
NODES(PLAIN, mv_private_ignore, verbs_init_cq)
NODES(PLAIN, mv_private_ignore, verbs_set_ops)
NODES(PLAIN, mv_private_ignore, verbs_uninit_context)
NODES(NUMBERED, mv_private_ignore, verbs_register_driver_)
NODES(PLAIN, mv_private_none, __ioctl_final_num_attrs)
NODES(PLAIN, mv_private_none, _verbs_init_and_alloc_context)
NODES(PLAIN, mv_private_none, verbs_open_device)
/* clang-format on */

/* ---- what programs do call ---- */

/* As enum ibv_gid_type_sysfs, which no public header has. */
#define GID_TYPE_SYSFS_ROCE_V2 1

int mv_private_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
			int *type)
{
	if (!context || !type || port_num != MV_PORT || index >= MV_GIDS)
		return mv_minus_one(EINVAL);
	*type = GID_TYPE_SYSFS_ROCE_V2;
	return 0;
}

/* The device has no folder in sysfs. */
int mv_private_read_file(const char *dir, const char *file, char *buf, size_t size)
{
	(void)dir;
	(void)file;
	(void)buf;
	(void)size;
	return mv_minus_one(ENOENT);
}

/* Whether a device that was unplugged may be destroyed without its kernel; no device is one. */
const bool mv_private_destroy = false;

/* clang-format off */
NODES(PLAIN, mv_private_gid_type, ibv_query_gid_type)
NODES(PLAIN, mv_private_read_file, ibv_read_ibdev_sysfs_file)
NODES(PLAIN, mv_private_destroy, verbs_allow_disassociate_destroy)
/* clang-format on */
