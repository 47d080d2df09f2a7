/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * net_abi.h - NCCL's interface for network plugins, versions 6 to 12, as one interface: net_* calls
 * the function table ncclNetPlugin_v<N> of a shared library in the form that its version has.
 *
 * Orders and layouts are those that NCCL publishes. All functions return 0, or what NCCL calls
 * ncclResult_t. None blocks: net_connect and net_accept leave *comm NULL, net_isend and net_irecv
 * leave *request NULL, when they are to be called again.
 */
#ifndef FOREIGN_NET_ABI_H
#define FOREIGN_NET_ABI_H

#include <stddef.h>
#include <stdint.h>

#define NET_HANDLE_BYTES 128
#define NET_GROUP_MAX 8
#define NET_HOST_MEMORY 1
#define NET_VERSION_MIN 6
#define NET_VERSION_MAX 12
/* Up to version 8 Microsoft's plugin posts groups of one. */
#define NET_VERSION_GROUPS 9

struct net_table;

struct net {
	const struct net_table *table;
	int version;
	void *ctx; /* of version 11 */
};

/* What all versions tell of a device, and what only newer ones do (0 otherwise). */
struct net_properties {
	const char *name, *pci_path;
	uint64_t guid;
	int pointers, speed_mbps, port, comms_max, group_max, devices;
};

/* net_load opens the library; returns 0, or -1 with a line on stderr. */
int net_load(struct net *n, const char *path, int version);
int net_init(struct net *n);
int net_finalize(struct net *n);
int net_devices(struct net *n, int *count);
int net_properties(struct net *n, int device, struct net_properties *p);
/* net_merge makes a device of the first two; from version 9 on. */
int net_merge(struct net *n, int *device);
int net_listen(struct net *n, int device, void *handle, void **comm);
int net_connect(struct net *n, int device, void *handle, void **comm);
int net_accept(struct net *n, void *listening, void **comm);
int net_reg(struct net *n, void *comm, void *data, size_t bytes, void **mr);
int net_dereg(struct net *n, void *comm, void *mr);
int net_isend(struct net *n, void *comm, void *data, size_t bytes, int tag, void *mr,
	      void **request);
int net_irecv(struct net *n, void *comm, int count, void **data, const size_t *bytes, int *tags,
	      void **mrs, void **request);
int net_iflush(struct net *n, void *comm, int count, void **data, int *bytes, void **mrs,
	       void **request);
int net_test(struct net *n, void *request, int *done, int *bytes);
int net_close_send(struct net *n, void *comm);
int net_close_recv(struct net *n, void *comm);
int net_close_listen(struct net *n, void *comm);

#endif
