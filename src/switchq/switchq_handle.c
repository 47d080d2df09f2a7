/* SPDX-License-Identifier: BSD-2-Clause */
#include "switchq/switchq_handle.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/map.h"

#define PORTS_MAX 65536u

const char *const mswq_map_names[MSWQ_MAPS] = {"swq_configs", "swq_states", "swq_holds"};
static const uint32_t value_bytes[MSWQ_MAPS] = {sizeof(struct swq_config), sizeof(struct swq_state),
						sizeof(struct swq_hold)};

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
	int code = mswq_sys_info(prog, &info, sizeof(info));

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

	if (mswq_sys_info(fd, &info, sizeof(info)) == 0) {
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
	int code = mswq_sys_info(swq->prog, &info, sizeof(info));

	if (code)
		return mswq_fail(error, code, "BPF program %u: %s", id, strerror(code));
	if (strcmp(info.name, MSWQ_PROGRAM) != 0 || info.nr_map_ids != MSWQ_MAPS)
		return mswq_fail(error, EINVAL, "BPF program %u is not a switch program: %s", id,
				 info.name);
	for (uint32_t i = 0; i < MSWQ_MAPS; i++) {
		int fd = mswq_sys_open(BPF_MAP_GET_FD_BY_ID, maps[i]);

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
	swq->prog = mswq_sys_open(BPF_PROG_GET_FD_BY_ID, id);
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
