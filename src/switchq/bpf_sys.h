/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bpf_sys.h - the few requests of bpf(2) that work on what is loaded already; private to this
 * module.
 *
 * Loading needs libbpf, which a build may lack; maps and programs that are there do not. All
 * functions return 0 or an errno value unless they say otherwise.
 */
#ifndef SOFTMRC_SWITCHQ_SYS_H
#define SOFTMRC_SWITCHQ_SYS_H

#include <linux/bpf.h>
#include <stdint.h>

/* mswq_sys_map_get reads a value; with BPF_F_LOCK under the lock that is in it. */
int mswq_sys_map_get(int map, const void *key, void *value, uint64_t flags);
/* mswq_sys_map_set writes one: BPF_ANY, BPF_NOEXIST or BPF_EXIST. */
int mswq_sys_map_set(int map, const void *key, const void *value, uint64_t flags);
/* mswq_sys_map_delete removes one; ENOENT when there is none. */
int mswq_sys_map_delete(int map, const void *key);

/* mswq_sys_open opens a program (BPF_PROG_GET_FD_BY_ID) or map by number; a descriptor or
 * -errno. */
int mswq_sys_open(enum bpf_cmd cmd, uint32_t id);
/* mswq_sys_info fills info, of size bytes, with what the kernel knows of a program or map. */
int mswq_sys_info(int fd, void *info, uint32_t size);

#endif
