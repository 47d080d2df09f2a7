/* SPDX-License-Identifier: BSD-2-Clause */
#include "vq/sys.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel wants unused bytes to be zero, padding included. */
static union bpf_attr cleared(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	return attr;
}

static int request(enum bpf_cmd cmd, union bpf_attr *attr)
{
	long result = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return result < 0 ? -errno : (int)result;
}

static int element(enum bpf_cmd cmd, int map, const void *key, const void *value, uint64_t flags)
{
	union bpf_attr attr = cleared();

	attr.map_fd = (uint32_t)map;
	attr.key = (uintptr_t)key;
	attr.value = (uintptr_t)value;
	attr.flags = flags;
	return -request(cmd, &attr);
}

int mvq_sys_map_get(int map, const void *key, void *value, uint64_t flags)
{
	return element(BPF_MAP_LOOKUP_ELEM, map, key, value, flags);
}

int mvq_sys_map_set(int map, const void *key, const void *value, uint64_t flags)
{
	return element(BPF_MAP_UPDATE_ELEM, map, key, value, flags);
}

int mvq_sys_map_delete(int map, const void *key)
{
	return element(BPF_MAP_DELETE_ELEM, map, key, NULL, 0);
}

int mvq_sys_open(enum bpf_cmd cmd, uint32_t id)
{
	union bpf_attr attr = cleared();

	attr.prog_id = id; /* the same place for maps */
	return request(cmd, &attr);
}

int mvq_sys_info(int fd, void *info, uint32_t size)
{
	union bpf_attr attr = cleared();

	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = size;
	attr.info.info = (uintptr_t)info;
	return -request(BPF_OBJ_GET_INFO_BY_FD, &attr);
}
