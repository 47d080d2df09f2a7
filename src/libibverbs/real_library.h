/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * real_library.h - the system's own libibverbs, which serves the real devices of the host.
 *
 * It is loaded by its path into the same process, behind this library, and only where there are
 * real devices or MRC_REAL_IBVERBS names it. Objects of a real device are its own, unchanged: what
 * programs call inline goes there without us. What is exported is asked whose object it got
 * (MV_TO_REAL) and passed on. Drivers of vendors find us under the name libibverbs.so.1;
 * private_symbols.c passes them on.
 */
#ifndef SOFTMRC_LIBIBVERBS_REAL_LIBRARY_H
#define SOFTMRC_LIBIBVERBS_REAL_LIBRARY_H

#include "libibverbs/libibverbs.h"

#include <limits.h>

/* What a library must have: that of rdma-core 35. */
#define MV_REAL_NEEDED(X)              \
	X(_ibv_query_gid_ex)           \
	X(_ibv_query_gid_table)        \
	X(ibv_ack_async_event)         \
	X(ibv_ack_cq_events)           \
	X(ibv_alloc_pd)                \
	X(ibv_attach_mcast)            \
	X(ibv_close_device)            \
	X(ibv_create_ah)               \
	X(ibv_create_ah_from_wc)       \
	X(ibv_create_comp_channel)     \
	X(ibv_create_cq)               \
	X(ibv_create_qp)               \
	X(ibv_create_srq)              \
	X(ibv_dealloc_pd)              \
	X(ibv_dereg_mr)                \
	X(ibv_destroy_ah)              \
	X(ibv_destroy_comp_channel)    \
	X(ibv_destroy_cq)              \
	X(ibv_destroy_qp)              \
	X(ibv_destroy_srq)             \
	X(ibv_detach_mcast)            \
	X(ibv_dofork_range)            \
	X(ibv_dontfork_range)          \
	X(ibv_fork_init)               \
	X(ibv_free_device_list)        \
	X(ibv_get_async_event)         \
	X(ibv_get_cq_event)            \
	X(ibv_get_device_guid)         \
	X(ibv_get_device_index)        \
	X(ibv_get_device_list)         \
	X(ibv_get_device_name)         \
	X(ibv_get_pkey_index)          \
	X(ibv_get_sysfs_path)          \
	X(ibv_import_device)           \
	X(ibv_import_dm)               \
	X(ibv_import_mr)               \
	X(ibv_import_pd)               \
	X(ibv_init_ah_from_wc)         \
	X(ibv_is_fork_initialized)     \
	X(ibv_modify_qp)               \
	X(ibv_modify_srq)              \
	X(ibv_open_device)             \
	X(ibv_qp_to_qp_ex)             \
	X(ibv_query_device)            \
	X(ibv_query_ece)               \
	X(ibv_query_gid)               \
	X(ibv_query_pkey)              \
	X(ibv_query_port)              \
	X(ibv_query_qp)                \
	X(ibv_query_srq)               \
	X(ibv_reg_dmabuf_mr)           \
	X(ibv_reg_mr)                  \
	X(ibv_reg_mr_iova)             \
	X(ibv_reg_mr_iova2)            \
	X(ibv_rereg_mr)                \
	X(ibv_resize_cq)               \
	X(ibv_resolve_eth_l2_from_gid) \
	X(ibv_set_ece)                 \
	X(ibv_unimport_dm)             \
	X(ibv_unimport_mr)             \
	X(ibv_unimport_pd)

/* What is newer: an older library has NULL here, and the call is answered as for a device of
 * ours. */
#define MV_REAL_NEWER(X)              \
	X(ibv_query_qp_data_in_order) \
	X(ibv_alloc_dmah)             \
	X(ibv_dealloc_dmah)           \
	X(ibv_reg_mr_ex)              \
	X(ibv_dm_export_dmabuf_fd)    \
	X(ibv_query_port_speed)       \
	X(ibv_alloc_buf)              \
	X(ibv_free_buf)               \
	X(ibv_reg_buf_mr)             \
	X(ibv_export_buf_dmabuf_fd)   \
	X(_ibv_query_comp_cntr_caps)  \
	X(ibv_create_comp_cntr)       \
	X(ibv_destroy_comp_cntr)      \
	X(ibv_set_comp_cntr)          \
	X(ibv_set_err_comp_cntr)      \
	X(ibv_inc_comp_cntr)          \
	X(ibv_inc_err_comp_cntr)      \
	X(ibv_read_comp_cntr)         \
	X(ibv_read_err_comp_cntr)     \
	X(ibv_qp_attach_comp_cntr)

/* Its functions, by name. */
struct mv_real {
#define MV_REAL_MEMBER(name) __typeof__(name) *(name);
	MV_REAL_NEEDED(MV_REAL_MEMBER) MV_REAL_NEWER(MV_REAL_MEMBER)
#undef MV_REAL_MEMBER
};

extern _Atomic(const struct mv_real *) mv_real_loaded;

/* mv_real returns the functions of the real library once it is loaded, else NULL. */
static inline const struct mv_real *mv_real(void)
{
	return atomic_load_explicit(&mv_real_loaded, memory_order_acquire);
}

/*
 * mv_real_load finds out, once in a process, whether there is a real library to load, and does so.
 * What is wrong is said on stderr, and then there are only our devices. Returns what mv_real does.
 */
const struct mv_real *mv_real_load(void);

/*
 * mv_real_find calls `use` with the path of each libibverbs.so.1 that the loader would find and
 * that is not this one, until it returns true. Nothing is looked for on a host without real
 * devices.
 */
void mv_real_find(bool (*use)(const char *path));

/*
 * mv_real_path_is_roots says whether root alone can change what a path from / leads to: each part
 * of it is root's, no link, and not for others to write.
 */
bool mv_real_path_is_roots(const char *path);
/*
 * mv_real_trusted_path returns the path to load instead of `path`: itself; in a program with rights
 * that its user lacks (AT_SECURE) the one behind all links, or NULL where others than root could
 * have made the library.
 */
const char *mv_real_trusted_path(const char *path, char resolved[PATH_MAX]);

/* mv_device_is_ours says whose a device is; see verbs_device.c. */
bool mv_device_is_ours(const struct ibv_device *device);

/* These return what mv_real does, but NULL for what is ours, or NULL itself. */
static inline const struct mv_real *mv_real_of_device(const struct ibv_device *device)
{
	const struct mv_real *real = mv_real();

	return real && device && !mv_device_is_ours(device) ? real : NULL;
}

static inline const struct mv_real *mv_real_of_context(const struct ibv_context *context)
{
	return mv_real() && context ? mv_real_of_device(context->device) : NULL;
}

/* Of any object but these two; each begins with its context. */
static inline const struct mv_real *mv_real_of(const void *object)
{
	return mv_real() && object ? mv_real_of_context(*(struct ibv_context *const *)object)
				   : NULL;
}

/*
 * MV_TO_REAL returns from the function what the real library's function `call` returns, if `whose`,
 * the result of one of the above, has it. Where it does not, the function goes on. `args` are in
 * brackets.
 */
#define MV_TO_REAL(whose, call, args)                  \
	do {                                           \
		const struct mv_real *real_ = (whose); \
		if (real_ && real_->call)              \
			return real_->call args;       \
	} while (0)

/* The same for functions that return nothing. */
#define MV_TO_REAL_VOID(whose, call, args)             \
	do {                                           \
		const struct mv_real *real_ = (whose); \
		if (real_ && real_->call) {            \
			real_->call args;              \
			return;                        \
		}                                      \
	} while (0)

/* ---- what private_symbols.c has for it ---- */

#define MV_NODE_FIRST 30
#define MV_NODE_LAST 79

/*
 * mv_private_bind makes the private symbols those of a library whose private node has this number,
 * and tells it of the drivers of that number which have come before it.
 */
void mv_private_bind(void *library, int node);
/* mv_private_sync_drivers takes over what the library may have changed in its data since. */
void mv_private_sync_drivers(void);

#endif
