/* SPDX-License-Identifier: BSD-2-Clause */
/* handle.h - a loaded program as this room sees it: four descriptors and a number. Private. */
#ifndef SOFTMRC_VQ_HANDLE_H
#define SOFTMRC_VQ_HANDLE_H

#include <stddef.h>
#include <stdint.h>

#include "vq/vq.h"

/* The maps of the program, by the names they have in bpf/. */
enum mvq_map {
	MVQ_CONFIGS,
	MVQ_STATES,
	MVQ_HOLDS,
	MVQ_MAPS,
};

struct mvq {
	int prog;
	int map[MVQ_MAPS];
	uint32_t id;
};

extern const char *const mvq_map_names[MVQ_MAPS];
#define MVQ_PROGRAM "vq_egress"

/* mvq_fail writes a line to error and returns code. */
__attribute__((format(printf, 3, 4))) int mvq_fail(struct mvq_error *error, int code,
						   const char *format, ...);

/*
 * mvq_load_fds loads the program and sets vq->prog and vq->map. It is there twice: load.c with
 * libbpf and the compiled program in it, load_absent.c for builds that lack one of them.
 */
int mvq_load_fds(struct mvq *vq, uint32_t max_ports, struct mvq_error *error);

/* The object file that the build made from bpf/vq.bpf.c, for load.c. */
extern const unsigned char mvq_object[];
extern const size_t mvq_object_bytes;

#endif
