/* SPDX-License-Identifier: BSD-2-Clause */
#include "switchq/switchq_handle.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel wants unused bytes to be zero, padding included. */
static union bpf_attr zeroed_attr(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	return attr;
}

static int bpf_request(enum bpf_cmd cmd, union bpf_attr *attr)
{
	long result = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return result < 0 ? -errno : (int)result;
}

static int map_element_request(enum bpf_cmd cmd, int map, const void *key, const void *value,
			       uint64_t flags)
{
	union bpf_attr attr = zeroed_attr();

	attr.map_fd = (uint32_t)map;
	attr.key = (uintptr_t)key;
	attr.value = (uintptr_t)value;
	attr.flags = flags;
	return -bpf_request(cmd, &attr);
}

int mswq_sys_map_get(int map, const void *key, void *value, uint64_t flags)
{
	return map_element_request(BPF_MAP_LOOKUP_ELEM, map, key, value, flags);
}

int mswq_sys_map_set(int map, const void *key, const void *value, uint64_t flags)
{
	return map_element_request(BPF_MAP_UPDATE_ELEM, map, key, value, flags);
}

int mswq_sys_map_delete(int map, const void *key)
{
	return map_element_request(BPF_MAP_DELETE_ELEM, map, key, NULL, 0);
}

int mswq_sys_open(enum bpf_cmd cmd, uint32_t id)
{
	union bpf_attr attr = zeroed_attr();

	attr.prog_id = id; /* the same place for maps */
	return bpf_request(cmd, &attr);
}

int mswq_sys_info(int fd, void *info, uint32_t size)
{
	union bpf_attr attr = zeroed_attr();

	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = size;
	attr.info.info = (uintptr_t)info;
	return -bpf_request(BPF_OBJ_GET_INFO_BY_FD, &attr);
}
