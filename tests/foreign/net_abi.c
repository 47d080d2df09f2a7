/* SPDX-License-Identifier: BSD-2-Clause */
/* net_abi.c - see net_abi.h. */
#include "net_abi.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*net_fn)(void);

/* The order is the same in all versions; what is beyond net_since a version does not have. */
struct net_table {
	const char *name;
	net_fn init, devices, get_properties, listen, connect, accept, reg_mr, reg_mr_dmabuf,
		dereg_mr, isend, irecv, iflush, test, close_send, close_recv, close_listen;
	net_fn get_device_mr, irecv_consumed; /* from version 7 on */
	net_fn make_vdevice;		      /* from version 9 on */
	net_fn finalize, set_net_attr;	      /* from version 11 on */
};

struct vdevice {
	int count, device[4];
};

struct vdevice_v12 {
	int count, device[8];
};

struct properties_v6 {
	char *name, *pci_path;
	uint64_t guid;
	int pointers, speed_mbps, port;
	float latency;
	int comms_max, group_max;
	int offload, offload_version; /* from version 7 on */
};

struct properties_v8 {
	char *name, *pci_path;
	uint64_t guid;
	int pointers, global_mrs, speed_mbps, port;
	float latency;
	int comms_max, group_max;
	int offload, offload_version;
};

struct properties_v9 {
	char *name, *pci_path;
	uint64_t guid;
	int pointers, global_mrs, flush, speed_mbps, port;
	float latency;
	int comms_max, group_max;
	int offload, offload_version;
	struct vdevice vdevice;
	size_t p2p_max_bytes, collective_max_bytes;
	int requests_max; /* from version 11 on */
};

struct properties_v12 {
	char *name, *pci_path;
	uint64_t guid;
	int pointers, global_mrs, flush, speed_mbps, port;
	float latency;
	int comms_max, group_max;
	int offload, offload_version;
	struct vdevice_v12 vdevice;
	size_t p2p_max_bytes, collective_max_bytes;
	int requests_max;
	int16_t rail, plane;
};

struct config {
	int traffic_class;
};

/* ---- what a plugin says ---- */

#define LEVEL_WARN 2

static void say(int level, unsigned long flags, const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

static void say(int level, unsigned long flags, const char *file, int line, const char *format, ...)
{
	va_list args;

	(void)flags;
	if (level > LEVEL_WARN && !getenv("NET_VERBOSE"))
		return;
	fprintf(stderr, "plugin: %s:%d: ", file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static int profile(void **event, int type, void *phandle, int64_t id, void *data)
{
	(void)event;
	(void)type;
	(void)phandle;
	(void)id;
	(void)data;
	return 0;
}

typedef void (*say_fn)(int, unsigned long, const char *, int, const char *, ...);
typedef int (*profile_fn)(void **, int, void *, int64_t, void *);

/* ---- the table ---- */

#define CALL(n, member, arguments) ((int(*) arguments)(n)->table->member)

int net_load(struct net *n, const char *path, int version)
{
	char name[32];
	void *library = dlopen(path, RTLD_NOW);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	snprintf(name, sizeof(name), "ncclNetPlugin_v%d", version);
	n->table = dlsym(library, name);
	n->version = version;
	if (!n->table)
		fprintf(stderr, "%s has no %s\n", path, name);
	return n->table ? 0 : -1;
}

int net_init(struct net *n)
{
	struct config config = {-1};

	if (n->version >= 11)
		return CALL(n, init, (void **, uint64_t, struct config *, say_fn, profile_fn))(
			&n->ctx, 1, &config, say, profile);
	if (n->version == 10)
		return CALL(n, init, (say_fn, profile_fn))(say, profile);
	return CALL(n, init, (say_fn))(say);
}

int net_finalize(struct net *n)
{
	return n->version >= 11 ? CALL(n, finalize, (void *))(n->ctx) : 0;
}

int net_devices(struct net *n, int *count)
{
	return CALL(n, devices, (int *))(count);
}

#define TAKE(p, from, count)                                                             \
	(*(p) = (struct net_properties){(from).name, (from).pci_path, (from).guid,       \
					(from).pointers, (from).speed_mbps, (from).port, \
					(from).comms_max, (from).group_max, (count)})

int net_properties(struct net *n, int device, struct net_properties *p)
{
	union {
		struct properties_v6 v6;
		struct properties_v8 v8;
		struct properties_v9 v9;
		struct properties_v12 v12;
	} u;
	int failed;

	memset(&u, 0, sizeof(u));
	failed = CALL(n, get_properties, (int, void *))(device, &u);
	if (n->version >= 12)
		TAKE(p, u.v12, u.v12.vdevice.count);
	else if (n->version >= 9)
		TAKE(p, u.v9, u.v9.vdevice.count);
	else if (n->version == 8)
		TAKE(p, u.v8, 1);
	else
		TAKE(p, u.v6, 1);
	return failed;
}

int net_merge(struct net *n, int *device)
{
	struct vdevice_v12 two = {2, {0, 1}}; /* older ones are its beginning */

	return CALL(n, make_vdevice, (int *, struct vdevice_v12 *))(device, &two);
}

int net_listen(struct net *n, int device, void *handle, void **comm)
{
	if (n->version >= 11)
		return CALL(n, listen, (void *, int, void *, void **))(n->ctx, device, handle,
								       comm);
	return CALL(n, listen, (int, void *, void **))(device, handle, comm);
}

int net_connect(struct net *n, int device, void *handle, void **comm)
{
	struct config config = {-1};
	void *offload = NULL;

	if (n->version >= 11)
		return CALL(n, connect, (void *, int, void *, void **, void **))(
			n->ctx, device, handle, comm, &offload);
	if (n->version == 10)
		return CALL(n, connect, (int, struct config *, void *, void **, void **))(
			device, &config, handle, comm, &offload);
	if (n->version >= 7)
		return CALL(n, connect, (int, void *, void **, void **))(device, handle, comm,
									 &offload);
	return CALL(n, connect, (int, void *, void **))(device, handle, comm);
}

int net_accept(struct net *n, void *listening, void **comm)
{
	void *offload = NULL;

	if (n->version >= 7)
		return CALL(n, accept, (void *, void **, void **))(listening, comm, &offload);
	return CALL(n, accept, (void *, void **))(listening, comm);
}

int net_reg(struct net *n, void *comm, void *data, size_t bytes, void **mr)
{
	if (n->version >= 8)
		return CALL(n, reg_mr, (void *, void *, size_t, int, void **))(comm, data, bytes,
									       NET_HOST_MEMORY, mr);
	return CALL(n, reg_mr, (void *, void *, int, int, void **))(comm, data, (int)bytes,
								    NET_HOST_MEMORY, mr);
}

int net_dereg(struct net *n, void *comm, void *mr)
{
	return CALL(n, dereg_mr, (void *, void *))(comm, mr);
}

int net_isend(struct net *n, void *comm, void *data, size_t bytes, int tag, void *mr,
	      void **request)
{
	if (n->version >= 10)
		return CALL(n, isend, (void *, void *, size_t, int, void *, void *, void **))(
			comm, data, bytes, tag, mr, NULL, request);
	if (n->version == 9)
		return CALL(n, isend, (void *, void *, size_t, int, void *, void **))(
			comm, data, bytes, tag, mr, request);
	return CALL(n, isend, (void *, void *, int, int, void *, void **))(comm, data, (int)bytes,
									   tag, mr, request);
}

int net_irecv(struct net *n, void *comm, int count, void **data, const size_t *bytes, int *tags,
	      void **mrs, void **request)
{
	size_t sizes[NET_GROUP_MAX];
	int ints[NET_GROUP_MAX];
	void *phandles[NET_GROUP_MAX] = {NULL};

	for (int i = 0; i < count; i++) {
		sizes[i] = bytes[i];
		ints[i] = (int)bytes[i];
	}
	if (n->version >= 10)
		return CALL(n, irecv,
			    (void *, int, void **, size_t *, int *, void **, void **, void **))(
			comm, count, data, sizes, tags, mrs, phandles, request);
	if (n->version == 9)
		return CALL(n, irecv, (void *, int, void **, size_t *, int *, void **, void **))(
			comm, count, data, sizes, tags, mrs, request);
	return CALL(n, irecv, (void *, int, void **, int *, int *, void **, void **))(
		comm, count, data, ints, tags, mrs, request);
}

int net_iflush(struct net *n, void *comm, int count, void **data, int *bytes, void **mrs,
	       void **request)
{
	return CALL(n, iflush, (void *, int, void **, int *, void **, void **))(
		comm, count, data, bytes, mrs, request);
}

int net_test(struct net *n, void *request, int *done, int *bytes)
{
	return CALL(n, test, (void *, int *, int *))(request, done, bytes);
}

int net_close_send(struct net *n, void *comm)
{
	return CALL(n, close_send, (void *))(comm);
}

int net_close_recv(struct net *n, void *comm)
{
	return CALL(n, close_recv, (void *))(comm);
}

int net_close_listen(struct net *n, void *comm)
{
	return CALL(n, close_listen, (void *))(comm);
}
