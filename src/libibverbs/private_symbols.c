/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * private_symbols.c - the symbols that rdma-core's own parts share. Libraries of vendors, which
 * programs bring along (libmlx5.so.1, libefa.so.1), look for them when they are loaded, each under
 * the version node of the release it was built with: IBVERBS_PRIVATE_34 in Debian 12, others before
 * and since. They are meant for kernel devices.
 *
 * Each symbol is a jump through a pointer, whatever its arguments are. Where there is a real
 * library (real_library.h), the pointers are its functions, and so it serves the drivers that found
 * us; else what is called says EOPNOTSUPP, and a driver that registers is remembered.
 *
 * A function can have several versions only by assembler directives, which do not go together with
 * optimisation at link time; this file is compiled without.
 */
#include "libibverbs/real_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

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

/* Gives function f a name in a node. */
#define VERSION(f, symbol, n) __asm__(".symver " #f "," #symbol "@IBVERBS_PRIVATE_" #n);

/*
 * The functions of all releases up to 65, and what they are without a real library. Where a newer
 * release has an argument more, it is the jump that does not care.
 */
/* clang-format off */
#define SYMBOLS(X) \
	X(ibv_cmd_advise_mr, refuse)                    \
	X(ibv_cmd_alloc_dm, refuse)                     \
	X(ibv_cmd_alloc_dmah, refuse)                   \
	X(ibv_cmd_alloc_mw, refuse)                     \
	X(ibv_cmd_alloc_pd, refuse)                     \
	X(ibv_cmd_attach_mcast, refuse)                 \
	X(ibv_cmd_close_xrcd, refuse)                   \
	X(ibv_cmd_create_ah, refuse)                    \
	X(ibv_cmd_create_comp_cntr, refuse)             \
	X(ibv_cmd_create_counters, refuse)              \
	X(ibv_cmd_create_cq, refuse)                    \
	X(ibv_cmd_create_cq_ex, refuse)                 \
	X(ibv_cmd_create_cq_ex2, refuse)                \
	X(ibv_cmd_create_flow, refuse)                  \
	X(ibv_cmd_create_flow_action_esp, refuse)       \
	X(ibv_cmd_create_qp, refuse)                    \
	X(ibv_cmd_create_qp_ex, refuse)                 \
	X(ibv_cmd_create_qp_ex2, refuse)                \
	X(ibv_cmd_create_rwq_ind_table, refuse)         \
	X(ibv_cmd_create_srq, refuse)                   \
	X(ibv_cmd_create_srq_ex, refuse)                \
	X(ibv_cmd_create_wq, refuse)                    \
	X(ibv_cmd_dealloc_mw, refuse)                   \
	X(ibv_cmd_dealloc_pd, refuse)                   \
	X(ibv_cmd_dereg_mr, refuse)                     \
	X(ibv_cmd_destroy_ah, refuse)                   \
	X(ibv_cmd_destroy_comp_cntr, refuse)            \
	X(ibv_cmd_destroy_counters, refuse)             \
	X(ibv_cmd_destroy_cq, refuse)                   \
	X(ibv_cmd_destroy_flow, refuse)                 \
	X(ibv_cmd_destroy_flow_action, refuse)          \
	X(ibv_cmd_destroy_qp, refuse)                   \
	X(ibv_cmd_destroy_rwq_ind_table, refuse)        \
	X(ibv_cmd_destroy_srq, refuse)                  \
	X(ibv_cmd_destroy_wq, refuse)                   \
	X(ibv_cmd_detach_mcast, refuse)                 \
	X(ibv_cmd_export_dmabuf_fd, refuse)             \
	X(ibv_cmd_free_dm, refuse)                      \
	X(ibv_cmd_free_dmah, refuse)                    \
	X(ibv_cmd_get_context, refuse)                  \
	X(ibv_cmd_inc_comp_cntr, refuse)                \
	X(ibv_cmd_inc_err_comp_cntr, refuse)            \
	X(ibv_cmd_modify_cq, refuse)                    \
	X(ibv_cmd_modify_flow_action_esp, refuse)       \
	X(ibv_cmd_modify_qp, refuse)                    \
	X(ibv_cmd_modify_qp_ex, refuse)                 \
	X(ibv_cmd_modify_srq, refuse)                   \
	X(ibv_cmd_modify_wq, refuse)                    \
	X(ibv_cmd_open_qp, refuse)                      \
	X(ibv_cmd_open_xrcd, refuse)                    \
	X(ibv_cmd_poll_cq, refuse)                      \
	X(ibv_cmd_post_recv, refuse)                    \
	X(ibv_cmd_post_send, refuse)                    \
	X(ibv_cmd_post_srq_recv, refuse)                \
	X(ibv_cmd_qp_attach_comp_cntr, refuse)          \
	X(ibv_cmd_query_comp_cntr_caps, refuse)         \
	X(ibv_cmd_query_context, refuse)                \
	X(ibv_cmd_query_device_any, refuse)             \
	X(ibv_cmd_query_mr, refuse)                     \
	X(ibv_cmd_query_port, refuse)                   \
	X(ibv_cmd_query_port_speed, refuse)             \
	X(ibv_cmd_query_qp, refuse)                     \
	X(ibv_cmd_query_srq, refuse)                    \
	X(ibv_cmd_read_comp_cntr, refuse)               \
	X(ibv_cmd_read_counters, refuse)                \
	X(ibv_cmd_read_err_comp_cntr, refuse)           \
	X(ibv_cmd_reg_dm_mr, refuse)                    \
	X(ibv_cmd_reg_dmabuf_mr, refuse)                \
	X(ibv_cmd_reg_mr, refuse)                       \
	X(ibv_cmd_reg_mr_ex, refuse)                    \
	X(ibv_cmd_req_notify_cq, refuse)                \
	X(ibv_cmd_rereg_mr, refuse)                     \
	X(ibv_cmd_resize_cq, refuse)                    \
	X(ibv_cmd_set_comp_cntr, refuse)                \
	X(ibv_cmd_set_err_comp_cntr, refuse)            \
	X(execute_ioctl, refuse)                        \
	X(ibv_dmabuf_heap_alloc, refuse)                \
	X(ibv_dmabuf_heap_cc_shared_init, refuse)       \
	X(__verbs_log, ignore)                          \
	X(verbs_init_cq, ignore)                        \
	X(verbs_set_ops, ignore)                        \
	X(verbs_uninit_context, ignore)                 \
	X(ibv_dmabuf_heap_destroy, ignore)              \
	X(ibv_dmabuf_heap_free, ignore)                 \
	X(__ioctl_final_num_attrs, none)                \
	X(_verbs_init_and_alloc_context, none)          \
	X(verbs_open_device, none)                      \
	X(ibv_wr_opcode_str, unknown)                   \
	X(ibv_read_ibdev_sysfs_file, no_file)
/* clang-format on */

int mv_private_refuse(void);
void mv_private_ignore(void);
void *mv_private_none(void);
const char *mv_private_unknown(void);
int mv_private_no_file(void);
int mv_private_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
			int *type);
extern bool mv_private_destroy;

/* ---- without a real library: none of them looks at its arguments ---- */

int mv_private_refuse(void)
{
	return EOPNOTSUPP;
}

void mv_private_ignore(void)
{
}

void *mv_private_none(void)
{
	return NULL;
}

const char *mv_private_unknown(void)
{
	return "unknown";
}

/* The device has no folder in sysfs. */
int mv_private_no_file(void)
{
	return iv_minus_one(ENOENT);
}

/* ---- jumps ---- */

typedef void (*any_function)(void);

/* Hidden: a jump reaches its pointer without the loader's help. */
#define SLOT(symbol, otherwise)                                                     \
	__attribute__((visibility("hidden"), used)) any_function mv_slot_##symbol = \
		(any_function)mv_private_##otherwise;
SYMBOLS(SLOT)

#if defined(__x86_64__)
#define JUMP_THROUGH(slot) "jmp *" slot "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP_THROUGH(slot) "adrp x16, " slot "\nldr x16, [x16, #:lo12:" slot "]\nbr x16\n"
#else
#error "how does this processor jump through a pointer, with all arguments as they are?"
#endif

#define JUMP(symbol, otherwise)                                                        \
	__asm__(".text\n.globl mv_jump_" #symbol "\n.type mv_jump_" #symbol            \
		",%function\nmv_jump_" #symbol                                         \
		":\n" JUMP_THROUGH("mv_slot_" #symbol) ".size mv_jump_" #symbol        \
						       ", . - mv_jump_" #symbol "\n"); \
	NODES(VERSION, mv_jump_##symbol, symbol)
SYMBOLS(JUMP)

/* ---- what knows its arguments ---- */

/* As enum ibv_gid_type_sysfs, which no public header has. */
#define GID_TYPE_SYSFS_ROCE_V2 1

static __typeof__(mv_private_gid_type) *real_gid_type;

int mv_private_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
			int *type)
{
	if (mv_real_of_context(context) && real_gid_type)
		return real_gid_type(context, port_num, index, type);
	if (!context || !type || port_num != MV_PORT || index >= IV_GIDS)
		return iv_minus_one(EINVAL);
	*type = GID_TYPE_SYSFS_ROCE_V2;
	return 0;
}

/*
 * Whether a device that was unplugged may be destroyed without its kernel. The real library writes
 * here where this library is in the global scope, else to a variable of its own.
 */
bool mv_private_destroy;
static const bool *real_destroy;

NODES(VERSION, mv_private_gid_type, ibv_query_gid_type)
NODES(VERSION, mv_private_destroy, verbs_allow_disassociate_destroy)

/* ---- drivers ---- */

/* rdma-core has twenty-one. */
#define DRIVERS_MAX 64

struct driver {
	int node;
	const void *ops;
};

static struct driver drivers[DRIVERS_MAX];
static size_t n_drivers;
static void (*real_register)(const void *ops);
static int real_node;

/* A driver of another release than the real library's is none for it. */
static void register_driver(int node, const void *ops)
{
	void (*tell)(const void *) = NULL;

	mv_lock(MV_LOCK_DRIVERS);
	if (real_register && node == real_node)
		tell = real_register;
	else if (!real_register && n_drivers < DRIVERS_MAX)
		drivers[n_drivers++] = (struct driver){node, ops};
	mv_unlock(MV_LOCK_DRIVERS);
	if (tell)
		tell(ops);
}

#define REGISTER(f, symbol, n)           \
	void f##n(const void *ops);      \
	void f##n(const void *ops)       \
	{                                \
		register_driver(n, ops); \
	}                                \
	VERSION(f##n, symbol##n, n)
NODES(REGISTER, mv_private_register_, verbs_register_driver_)

/* ---- a real library ---- */

void mv_private_bind(void *library, int node)
{
	char name[40];
	void *address;

#define BIND(symbol, otherwise)            \
	address = dlsym(library, #symbol); \
	if (address)                       \
		memcpy(&mv_slot_##symbol, &address, sizeof(address));
	SYMBOLS(BIND)
	address = dlsym(library, "ibv_query_gid_type");
	memcpy(&real_gid_type, &address, sizeof(address));
	real_destroy = dlsym(library, "verbs_allow_disassociate_destroy");
	snprintf(name, sizeof(name), "verbs_register_driver_%d", node);
	address = dlsym(library, name);
	mv_lock(MV_LOCK_DRIVERS);
	memcpy(&real_register, &address, sizeof(address));
	real_node = node;
	for (size_t i = 0; real_register && i < n_drivers; i++)
		if (drivers[i].node == node)
			real_register(drivers[i].ops);
	n_drivers = 0;
	mv_unlock(MV_LOCK_DRIVERS);
}

void mv_private_sync_drivers(void)
{
	if (real_destroy && *real_destroy)
		mv_private_destroy = true;
}
