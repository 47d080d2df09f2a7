/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switchq_handle.h - a loaded program as this module sees it: four descriptors and a number.
 * Private.
 */
#ifndef SOFTMRC_SWITCHQ_HANDLE_H
#define SOFTMRC_SWITCHQ_HANDLE_H

#include "switchq/switchq.h"

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

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

/*
 * The few requests of bpf(2) that work on what is loaded already; private to this module.
 *
 * Loading needs libbpf, which a build may lack; maps and programs that are there do not. All
 * functions return 0 or an errno value unless they say otherwise.
 */

/* mswq_sys_map_get reads a value; with BPF_F_LOCK under the lock that is in it. */
int mswq_sys_map_get(int map, const void *key, void *value, uint64_t flags);
/* mswq_sys_map_set writes one: BPF_ANY, BPF_NOEXIST or BPF_EXIST. */
int mswq_sys_map_set(int map, const void *key, const void *value, uint64_t flags);
/* mswq_sys_map_delete removes one; ENOENT when there is none. */
int mswq_sys_map_delete(int map, const void *key);

#endif
