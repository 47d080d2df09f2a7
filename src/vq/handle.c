/* SPDX-License-Identifier: BSD-2-Clause */
#include "vq/handle.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/map.h"
#include "vq/sys.h"

#define PORTS_MAX 65536u

const char *const mvq_map_names[MVQ_MAPS] = {"vq_configs", "vq_states", "vq_holds"};
static const uint32_t value_bytes[MVQ_MAPS] = {sizeof(struct vq_config), sizeof(struct vq_state),
					       sizeof(struct vq_hold)};

int mvq_fail(struct mvq_error *error, int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return code;
}

static struct mvq *create(void)
{
	struct mvq *vq = malloc(sizeof(*vq));

	if (!vq)
		return NULL;
	*vq = (struct mvq){.prog = -1};
	for (int i = 0; i < MVQ_MAPS; i++)
		vq->map[i] = -1;
	return vq;
}

void mvq_close(struct mvq *vq)
{
	if (!vq)
		return;
	for (int i = 0; i < MVQ_MAPS; i++) {
		if (vq->map[i] >= 0)
			close(vq->map[i]);
	}
	if (vq->prog >= 0)
		close(vq->prog);
	free(vq);
}

uint32_t mvq_id(const struct mvq *vq)
{
	return vq->id;
}

static int number_of(int prog, uint32_t *id)
{
	struct bpf_prog_info info = {0};
	int code = mvq_sys_info(prog, &info, sizeof(info));

	*id = info.id;
	return code;
}

int mvq_load(uint32_t max_ports, struct mvq **out, struct mvq_error *error)
{
	struct mvq *vq;
	int code;

	if (max_ports < 1 || max_ports > PORTS_MAX)
		return mvq_fail(error, EINVAL, "ports of a switch program: %u; 1 to %u", max_ports,
				PORTS_MAX);
	vq = create();
	if (!vq)
		return mvq_fail(error, ENOMEM, "switch program: %s", strerror(ENOMEM));
	code = mvq_load_fds(vq, max_ports, error);
	if (!code && (code = number_of(vq->prog, &vq->id)) != 0)
		mvq_fail(error, code, "switch program: number: %s", strerror(code));
	if (code) {
		mvq_close(vq);
		return code;
	}
	*out = vq;
	return 0;
}

/* Takes a map of the program if it is one of ours; otherwise its descriptor is closed. */
static bool take_map(struct mvq *vq, int fd)
{
	struct bpf_map_info info = {0};

	if (mvq_sys_info(fd, &info, sizeof(info)) == 0) {
		for (int i = 0; i < MVQ_MAPS; i++) {
			if (vq->map[i] < 0 && info.value_size == value_bytes[i] &&
			    strcmp(info.name, mvq_map_names[i]) == 0) {
				vq->map[i] = fd;
				return true;
			}
		}
	}
	close(fd);
	return false;
}

static int open_maps(struct mvq *vq, uint32_t id, struct mvq_error *error)
{
	uint32_t maps[MVQ_MAPS + 1] = {0};
	struct bpf_prog_info info = {.map_ids = (uintptr_t)maps, .nr_map_ids = MVQ_MAPS + 1};
	int code = mvq_sys_info(vq->prog, &info, sizeof(info));

	if (code)
		return mvq_fail(error, code, "BPF program %u: %s", id, strerror(code));
	if (strcmp(info.name, MVQ_PROGRAM) != 0 || info.nr_map_ids != MVQ_MAPS)
		return mvq_fail(error, EINVAL, "BPF program %u is not a switch program: %s", id,
				info.name);
	for (uint32_t i = 0; i < MVQ_MAPS; i++) {
		int fd = mvq_sys_open(BPF_MAP_GET_FD_BY_ID, maps[i]);

		if (fd < 0)
			return mvq_fail(error, -fd, "BPF map %u: %s", maps[i], strerror(-fd));
		if (!take_map(vq, fd))
			return mvq_fail(error, EINVAL,
					"BPF program %u was loaded by another version", id);
	}
	vq->id = id;
	return 0;
}

int mvq_reopen(uint32_t id, struct mvq **out, struct mvq_error *error)
{
	struct mvq *vq = create();
	int code;

	if (!vq)
		return mvq_fail(error, ENOMEM, "switch program: %s", strerror(ENOMEM));
	vq->prog = mvq_sys_open(BPF_PROG_GET_FD_BY_ID, id);
	if (vq->prog < 0)
		code = mvq_fail(error, -vq->prog, "BPF program %u: %s", id, strerror(-vq->prog));
	else
		code = open_maps(vq, id, error);
	if (code) {
		mvq_close(vq);
		return code;
	}
	*out = vq;
	return 0;
}
