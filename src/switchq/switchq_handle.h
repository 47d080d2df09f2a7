/* SPDX-License-Identifier: BSD-2-Clause */
/* switchq_handle.h - a loaded program as this module sees it: four descriptors and a number.
 * Private. */
#ifndef SOFTMRC_SWITCHQ_HANDLE_H
#define SOFTMRC_SWITCHQ_HANDLE_H

#include <stddef.h>
#include <stdint.h>

#include "switchq/switchq.h"

/* The maps of the program, by the names they have in bpf/. */
enum mswq_map {
	MSWQ_CONFIGS,
	MSWQ_STATES,
	MSWQ_HOLDS,
	MSWQ_MAPS,
};

struct mswq {
	int prog;
	int map[MSWQ_MAPS];
	uint32_t id;
};

extern const char *const mswq_map_names[MSWQ_MAPS];
#define MSWQ_PROGRAM "swq_egress"

/* mswq_fail writes a line to error and returns code. */
__attribute__((format(printf, 3, 4))) int mswq_fail(struct mswq_error *error, int code,
						    const char *format, ...);

/*
 * mswq_load_fds loads the program and sets swq->prog and swq->map. It is there twice: bpf_load.c
 * with libbpf and the compiled program in it, bpf_load_absent.c for builds that lack one of them.
 */
int mswq_load_fds(struct mswq *swq, uint32_t max_ports, struct mswq_error *error);

/* The object file that the build made from bpf/switchq.bpf.c, for bpf_load.c. */
extern const unsigned char mswq_object[];
extern const size_t mswq_object_bytes;

#endif
