/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fake_ibverbs.c - the library of fake.h. FAKE_OLD builds one that lacks a function, as rdma-core
 * before 35 does.
 */
#include "live/real/fake.h"

#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libibverbs/libibverbs.h"

/* ---- counting ---- */

#define NAMES_MAX 128

static struct {
	const char *name;
	unsigned int calls;
} counted[NAMES_MAX];

static void count(const char *name)
{
	size_t i = 0;

	while (i < NAMES_MAX && counted[i].name && strcmp(counted[i].name, name) != 0)
		i++;
	if (i == NAMES_MAX)
		abort();
	counted[i].name = name;
	counted[i].calls++;
	errno = FAKE_ERRNO;
}

unsigned int fake_calls(const char *name)
{
	unsigned int n = 0;

	for (size_t i = 0; i < NAMES_MAX && counted[i].name; i++)
		if (!name || strcmp(counted[i].name, name) == 0)
			n += counted[i].calls;
	return n;
}

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fake: %s\n", what);
	abort();
}

/* ---- the device, and what its driver is given ---- */

static struct verbs_context fake_context;
static struct ibv_device fake_device = {.name = FAKE_NAME, .dev_name = "uverbs3"};
static struct ibv_pd fake_pd = {.context = &fake_context.context};
static struct ibv_ah fake_ah = {.context = &fake_context.context};
static struct ibv_mr fake_mr = {.context = &fake_context.context};
static struct ibv_cq fake_cq = {.context = &fake_context.context};
static struct ibv_qp fake_qp = {.context = &fake_context.context};
static struct ibv_srq fake_srq = {.context = &fake_context.context};
static struct ibv_dm fake_dm = {.context = &fake_context.context};
static struct ibv_comp_channel fake_channel = {.context = &fake_context.context};
/* Of a kind that is newer than the header. */
static struct ibv_context *fake_object = &fake_context.context;

static const struct fake_driver *driver;

void verbs_register_driver_34(const struct fake_driver *came)
{
	must(!driver, "a driver registered twice");
	driver = came;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	count("poll_cq");
	return 0;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	count("post_send");
	return FAKE_INT;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	count("create_cq_ex");
	return (struct ibv_cq_ex *)&fake_cq;
}

struct ibv_context *_verbs_init_and_alloc_context(struct ibv_device *device)
{
	struct ibv_context *context = &fake_context.context;

	must(device == &fake_device, "a context for another device");
	fake_context.sz = sizeof(fake_context);
	fake_context.create_cq_ex = create_cq_ex;
	context->abi_compat = __VERBS_ABI_IS_EXTENDED;
	context->device = device;
	return context;
}

void verbs_set_ops(struct ibv_context *context, int a, int b, int c, int d, int e, int f, int g,
		   int h, int i)
{
	must(context == &fake_context.context, "operations for another context");
	must(a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f == 6 && g == 7 && h == 8 && i == 9,
	     "arguments of a driver");
	context->ops.poll_cq = poll_cq;
	context->ops.post_send = post_send;
}

void __verbs_log(struct ibv_context *context, unsigned int level, const char *format, ...)
{
	char text[32];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	must(level == 1 && strcmp(text, "5 2.500000") == 0, "arguments that vary");
	count("__verbs_log");
}

/* ---- devices ---- */

/* Drivers are beside the library, and are loaded for the first list. */
static void load_driver(void)
{
	static void *loaded;
	char path[PATH_MAX];
	Dl_info self;

	if (loaded)
		return;
	must(dladdr(counted, &self) != 0, "where am I?");
	snprintf(path, sizeof(path), "%s", self.dli_fname);
	strcat(dirname(path), "/libfake-rdmav34.so");
	loaded = dlopen(path, RTLD_NOW);
	must(loaded != NULL, "no driver");
}

/* For its drivers; it writes to its own, wherever else there is one of the name. */
extern bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy;
extern bool own_disassociate_destroy
	__attribute__((alias("verbs_allow_disassociate_destroy"), visibility("hidden")));

int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
		       int *type);
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index, int *type)
{
	must(context == &fake_context.context && port_num == 1 && index == 2, "a GID of another");
	*type = FAKE_INT;
	count("ibv_query_gid_type");
	return FAKE_INT;
}

static int lists;

struct ibv_device **ibv_get_device_list(int *n)
{
	const char *fails = getenv("FAKE_FAILS");
	struct ibv_device **list;

	*n = 0;
	if (fails) {
		errno = atoi(fails);
		return NULL;
	}
	list = calloc(2, sizeof(struct ibv_device *));
	load_driver();
	own_disassociate_destroy = getenv("FAKE_UNPLUGGED") != NULL;
	if (list && driver)
		list[0] = &fake_device;
	*n = driver ? 1 : 0;
	lists++;
	count("ibv_get_device_list");
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	must(lists-- > 0, "more lists than it gave");
	must(list[0] == &fake_device && !list[1], "a list that it did not give");
	free(list);
	count("ibv_free_device_list");
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	count("ibv_open_device");
	return driver->alloc(device);
}

/* As rdma-core does it: by a call of its own list, which the loader may take for ours. */
struct ibv_context *ibv_import_device(int cmd_fd)
{
	struct ibv_device **list;
	int n;

	list = ibv_get_device_list(&n);
	must(n == 1 && list[0] == &fake_device, "a list with devices of others");
	ibv_free_device_list(list);
	count("ibv_import_device");
	return &fake_context.context;
}

/* ---- all else ---- */

#define FAKE(name, type, args, result) \
	type name args                 \
	{                              \
		count(#name);          \
		return result;         \
	}
#define FAKE_VOID(name, args) \
	void name args        \
	{                     \
		count(#name); \
	}

/* clang-format off */
FAKE_VOID(ibv_ack_async_event, (struct ibv_async_event *event))
FAKE_VOID(ibv_ack_cq_events, (struct ibv_cq *cq, unsigned int nevents))
FAKE(ibv_attach_mcast, int, (struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid), FAKE_INT)
FAKE(ibv_close_device, int, (struct ibv_context *context), FAKE_INT)
FAKE(ibv_dealloc_pd, int, (struct ibv_pd *pd), FAKE_INT)
FAKE(ibv_dereg_mr, int, (struct ibv_mr *mr), FAKE_INT)
FAKE(ibv_destroy_ah, int, (struct ibv_ah *ah), FAKE_INT)
FAKE(ibv_destroy_comp_channel, int, (struct ibv_comp_channel *channel), FAKE_INT)
FAKE(ibv_destroy_cq, int, (struct ibv_cq *cq), FAKE_INT)
FAKE(ibv_destroy_qp, int, (struct ibv_qp *qp), FAKE_INT)
FAKE(ibv_destroy_srq, int, (struct ibv_srq *srq), FAKE_INT)
FAKE(ibv_detach_mcast, int, (struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid), FAKE_INT)
FAKE(ibv_dofork_range, int, (void *base, size_t size), FAKE_INT)
FAKE(ibv_dontfork_range, int, (void *base, size_t size), FAKE_INT)
FAKE(ibv_fork_init, int, (void), FAKE_INT)
FAKE(ibv_get_async_event, int, (struct ibv_context *context, struct ibv_async_event *event), FAKE_INT)
FAKE(ibv_get_cq_event, int, (struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context), FAKE_INT)
FAKE(ibv_get_device_index, int, (struct ibv_device *device), FAKE_INT)
FAKE(ibv_get_pkey_index, int, (struct ibv_context *context, uint8_t port_num, __be16 pkey), FAKE_INT)
FAKE(ibv_init_ah_from_wc, int, (struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc, struct ibv_grh *grh, struct ibv_ah_attr *ah_attr), FAKE_INT)
FAKE(ibv_modify_qp, int, (struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask), FAKE_INT)
FAKE(ibv_modify_srq, int, (struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, int srq_attr_mask), FAKE_INT)
FAKE(ibv_query_device, int, (struct ibv_context *context, struct ibv_device_attr *device_attr), FAKE_INT)
FAKE(ibv_query_ece, int, (struct ibv_qp *qp, struct ibv_ece *ece), FAKE_INT)
FAKE(ibv_query_gid, int, (struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid), FAKE_INT)
FAKE(ibv_query_pkey, int, (struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey), FAKE_INT)
FAKE(ibv_query_port, int, (struct ibv_context *context, uint8_t port_num, struct _compat_ibv_port_attr *port_attr), FAKE_INT)
FAKE(ibv_query_qp, int, (struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask, struct ibv_qp_init_attr *init_attr), FAKE_INT)
FAKE(ibv_query_srq, int, (struct ibv_srq *srq, struct ibv_srq_attr *srq_attr), FAKE_INT)
FAKE(ibv_rereg_mr, int, (struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access), FAKE_INT)
FAKE(ibv_resize_cq, int, (struct ibv_cq *cq, int cqe), FAKE_INT)
FAKE(ibv_resolve_eth_l2_from_gid, int, (struct ibv_context *context, struct ibv_ah_attr *attr, uint8_t eth_mac[6], uint16_t *vid), FAKE_INT)
FAKE(ibv_set_ece, int, (struct ibv_qp *qp, struct ibv_ece *ece), FAKE_INT)
FAKE_VOID(ibv_unimport_dm, (struct ibv_dm *dm))
FAKE_VOID(ibv_unimport_mr, (struct ibv_mr *mr))
FAKE_VOID(ibv_unimport_pd, (struct ibv_pd *pd))
FAKE(_ibv_query_gid_ex, int, (struct ibv_context *context, uint32_t port_num, uint32_t gid_index, struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size), FAKE_INT)
FAKE(_ibv_query_gid_table, ssize_t, (struct ibv_context *context, struct ibv_gid_entry *entries, size_t max_entries, uint32_t flags, size_t entry_size), FAKE_INT)
FAKE(ibv_query_qp_data_in_order, int, (struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags), FAKE_INT)
FAKE(ibv_query_port_speed, int, (struct ibv_context *context, uint32_t port_num, uint64_t *port_speed), FAKE_INT)
FAKE(ibv_dealloc_dmah, int, (void *dmah), FAKE_INT)
FAKE(ibv_dm_export_dmabuf_fd, int, (struct ibv_dm *dm), FAKE_INT)
FAKE_VOID(ibv_free_buf, (void *buf))
FAKE(ibv_export_buf_dmabuf_fd, int, (void *buf), FAKE_INT)
FAKE(_ibv_query_comp_cntr_caps, int, (struct ibv_context *context, void *caps, size_t caps_size), FAKE_INT)
FAKE(ibv_destroy_comp_cntr, int, (void *comp_cntr), FAKE_INT)
FAKE(ibv_set_comp_cntr, int, (void *comp_cntr, uint64_t value), FAKE_INT)
FAKE(ibv_set_err_comp_cntr, int, (void *comp_cntr, uint64_t value), FAKE_INT)
FAKE(ibv_inc_comp_cntr, int, (void *comp_cntr, uint64_t amount), FAKE_INT)
FAKE(ibv_inc_err_comp_cntr, int, (void *comp_cntr, uint64_t amount), FAKE_INT)
FAKE(ibv_read_comp_cntr, int, (void *comp_cntr, uint64_t *value), FAKE_INT)
FAKE(ibv_read_err_comp_cntr, int, (void *comp_cntr, uint64_t *value), FAKE_INT)
FAKE(ibv_qp_attach_comp_cntr, int, (struct ibv_qp *qp, void *comp_cntr, void *attr), FAKE_INT)
#ifndef FAKE_OLD
FAKE(ibv_is_fork_initialized, enum ibv_fork_status, (void), IBV_FORK_ENABLED)
#endif
FAKE(ibv_get_device_guid, __be64, (struct ibv_device *device), FAKE_INT)
FAKE(ibv_get_device_name, const char *, (struct ibv_device *device), FAKE_NAME)
FAKE(ibv_get_sysfs_path, const char *, (void), "/sys")
FAKE(ibv_alloc_pd, struct ibv_pd *, (struct ibv_context *context), &fake_pd)
FAKE(ibv_create_ah, struct ibv_ah *, (struct ibv_pd *pd, struct ibv_ah_attr *attr), &fake_ah)
FAKE(ibv_create_ah_from_wc, struct ibv_ah *, (struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port_num), &fake_ah)
FAKE(ibv_create_comp_channel, struct ibv_comp_channel *, (struct ibv_context *context), &fake_channel)
FAKE(ibv_create_cq, struct ibv_cq *, (struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel, int comp_vector), &fake_cq)
FAKE(ibv_create_qp, struct ibv_qp *, (struct ibv_pd *pd, struct ibv_qp_init_attr *init), &fake_qp)
FAKE(ibv_create_srq, struct ibv_srq *, (struct ibv_pd *pd, struct ibv_srq_init_attr *init), &fake_srq)
FAKE(ibv_import_dm, struct ibv_dm *, (struct ibv_context *context, uint32_t dm_handle), &fake_dm)
FAKE(ibv_import_mr, struct ibv_mr *, (struct ibv_pd *pd, uint32_t mr_handle), &fake_mr)
FAKE(ibv_import_pd, struct ibv_pd *, (struct ibv_context *context, uint32_t pd_handle), &fake_pd)
FAKE(ibv_qp_to_qp_ex, struct ibv_qp_ex *, (struct ibv_qp *qp), NULL)
FAKE(ibv_reg_dmabuf_mr, struct ibv_mr *, (struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access), &fake_mr)
FAKE(ibv_reg_mr, struct ibv_mr *, (struct ibv_pd *pd, void *addr, size_t length, int access), &fake_mr)
FAKE(ibv_reg_mr_iova, struct ibv_mr *, (struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access), &fake_mr)
FAKE(ibv_reg_mr_iova2, struct ibv_mr *, (struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access), &fake_mr)
FAKE(ibv_alloc_dmah, void *, (struct ibv_context *context, void *attr), &fake_object)
FAKE(ibv_reg_mr_ex, struct ibv_mr *, (struct ibv_pd *pd, void *attr), &fake_mr)
FAKE(ibv_alloc_buf, void *, (struct ibv_pd *pd, size_t size, void *buf), &fake_object)
FAKE(ibv_reg_buf_mr, struct ibv_mr *, (struct ibv_pd *pd, void *buf, void *addr, size_t length, int access), &fake_mr)
FAKE(ibv_create_comp_cntr, void *, (struct ibv_context *context, void *attr), &fake_object)
/* clang-format on */
