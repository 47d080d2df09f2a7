/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switchq_handle.c - a loaded program: its descriptors, finding it again by number, and the
 * requests of bpf(2) that need no library.
 */
#include "switchq/switchq_handle.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/map.h"

#define PORTS_MAX 65536u

const char *const mswq_map_names[MSWQ_MAPS] = {"swq_configs", "swq_states", "swq_holds"};
static const uint32_t value_bytes[MSWQ_MAPS] = {sizeof(struct swq_config), sizeof(struct swq_state),
						sizeof(struct swq_hold)};

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

/* Opens a program (BPF_PROG_GET_FD_BY_ID) or map by number; a descriptor or -errno. */
static int open_by_id(enum bpf_cmd cmd, uint32_t id)
{
	union bpf_attr attr = zeroed_attr();

	attr.prog_id = id; /* the same place for maps */
	return bpf_request(cmd, &attr);
}

/* Fills info, of size bytes, with what the kernel knows of a program or map. */
static int query_info(int fd, void *info, uint32_t size)
{
	union bpf_attr attr = zeroed_attr();

	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = size;
	attr.info.info = (uintptr_t)info;
	return -bpf_request(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

int mswq_fail(struct mswq_error *error, int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return code;
}

static struct mswq *create_handle(void)
{
	struct mswq *swq = malloc(sizeof(*swq));

	if (!swq)
		return NULL;
	*swq = (struct mswq){.prog = -1};
	for (int i = 0; i < MSWQ_MAPS; i++)
		swq->map[i] = -1;
	return swq;
}

void mswq_close(struct mswq *swq)
{
	if (!swq)
		return;
	for (int i = 0; i < MSWQ_MAPS; i++) {
		if (swq->map[i] >= 0)
			close(swq->map[i]);
	}
	if (swq->prog >= 0)
		close(swq->prog);
	free(swq);
}

uint32_t mswq_id(const struct mswq *swq)
{
	return swq->id;
}

static int query_program_id(int prog, uint32_t *id)
{
	struct bpf_prog_info info = {0};
	int code = query_info(prog, &info, sizeof(info));

	*id = info.id;
	return code;
}

int mswq_load(uint32_t max_ports, struct mswq **out, struct mswq_error *error)
{
	struct mswq *swq;
	int code;

	if (max_ports < 1 || max_ports > PORTS_MAX)
		return mswq_fail(error, EINVAL, "ports of a switch program: %u; 1 to %u", max_ports,
				 PORTS_MAX);
	swq = create_handle();
	if (!swq)
		return mswq_fail(error, ENOMEM, "switch program: %s", strerror(ENOMEM));
	code = mswq_load_fds(swq, max_ports, error);
	if (!code && (code = query_program_id(swq->prog, &swq->id)) != 0)
		mswq_fail(error, code, "switch program: number: %s", strerror(code));
	if (code) {
		mswq_close(swq);
		return code;
	}
	*out = swq;
	return 0;
}

/* Takes a map of the program if it is one of ours; otherwise its descriptor is closed. */
static bool take_map(struct mswq *swq, int fd)
{
	struct bpf_map_info info = {0};

	if (query_info(fd, &info, sizeof(info)) == 0) {
		for (int i = 0; i < MSWQ_MAPS; i++) {
			if (swq->map[i] < 0 && info.value_size == value_bytes[i] &&
			    strcmp(info.name, mswq_map_names[i]) == 0) {
				swq->map[i] = fd;
				return true;
			}
		}
	}
	close(fd);
	return false;
}

static int open_maps(struct mswq *swq, uint32_t id, struct mswq_error *error)
{
	uint32_t maps[MSWQ_MAPS + 1] = {0};
	struct bpf_prog_info info = {.map_ids = (uintptr_t)maps, .nr_map_ids = MSWQ_MAPS + 1};
	int code = query_info(swq->prog, &info, sizeof(info));

	if (code)
		return mswq_fail(error, code, "BPF program %u: %s", id, strerror(code));
	if (strcmp(info.name, MSWQ_PROGRAM) != 0 || info.nr_map_ids != MSWQ_MAPS)
		return mswq_fail(error, EINVAL, "BPF program %u is not a switch program: %s", id,
				 info.name);
	for (uint32_t i = 0; i < MSWQ_MAPS; i++) {
		int fd = open_by_id(BPF_MAP_GET_FD_BY_ID, maps[i]);

		if (fd < 0)
			return mswq_fail(error, -fd, "BPF map %u: %s", maps[i], strerror(-fd));
		if (!take_map(swq, fd))
			return mswq_fail(error, EINVAL,
					 "BPF program %u was loaded by another version", id);
	}
	swq->id = id;
	return 0;
}

int mswq_reopen(uint32_t id, struct mswq **out, struct mswq_error *error)
{
	struct mswq *swq = create_handle();
	int code;

	if (!swq)
		return mswq_fail(error, ENOMEM, "switch program: %s", strerror(ENOMEM));
	swq->prog = open_by_id(BPF_PROG_GET_FD_BY_ID, id);
	if (swq->prog < 0)
		code = mswq_fail(error, -swq->prog, "BPF program %u: %s", id, strerror(-swq->prog));
	else
		code = open_maps(swq, id, error);
	if (code) {
		mswq_close(swq);
		return code;
	}
	*out = swq;
	return 0;
}
