/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netns.h - named network namespaces, as ip-netns(8) keeps them below /run/netns; ip(8) and tc(8)
 * run in them, and threads that work in many of them.
 */
#ifndef SOFTMRC_LAB_NETNS_H
#define SOFTMRC_LAB_NETNS_H

#include "lab/lab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define ML_NETNS_DIR "/run/netns"
#define ML_NETNS_MAX 64u /* bytes of a name, its end included */

/* ml_netns_open returns a descriptor of the namespace, or -1 with a sentence. */
int ml_netns_open(const char *name, struct ml_error *e);

/* ml_netns_enter moves the calling thread, and only it, into the namespace. 0, or -1. */
int ml_netns_enter(const char *name, struct ml_error *e);

/*
 * ml_netns_list calls fn with each name that begins with prefix, in no order; fn must not delete.
 * Returns how many there were.
 */
size_t ml_netns_list(const char *prefix, void (*fn)(void *context, const char *name),
		     void *context);

/*
 * ml_netns_clear ends what runs in the namespaces whose name begins with prefix (SIGTERM, then
 * SIGKILL after 300 ms), deletes them, and sets *processes to how many were ended. 0, or -1.
 */
int ml_netns_clear(const char *prefix, size_t *processes, struct ml_error *e);

/* Below: for a thread that has entered a namespace. */

/* ml_netns_sysctl writes to /proc/sys/net/<name>. 0, or -1. */
int ml_netns_sysctl(const char *name, const char *value, struct ml_error *e);

/*
 * ml_netns_plain_port turns checksum and segmentation offloads of a port off, so that what crosses
 * it is what a wire would carry. 0, or -1.
 */
int ml_netns_plain_port(const char *ifname, struct ml_error *e);

/*
 * ---- ip(8) and tc(8) with a list of commands as standard input ----
 *
 * The program belongs to a process group of its own, so that Ctrl-C at a terminal reaches us and
 * not a half-read list.
 */

/*
 * ml_proc_batch runs `tool -batch -` ("ip" or "tc", found in PATH or the sbin folders) with `input`
 * in the network namespace of the calling thread, and waits. With `force` it goes on after lines
 * that fail. 0; -1 with the error of the tool and the line that it is about.
 */
int ml_proc_batch(const char *tool, const char *input, bool force, struct ml_error *e);

/* ml_proc_run runs a command and waits; its output is thrown away, errors go to `e`. */
int ml_proc_run(const char *const argv[], struct ml_error *e);

/* A list of commands that grows. ml_list_open never fails: without memory the process ends. */
struct ml_list {
	FILE *to; /* write lines here */
	char *text;
	size_t len;
};

void ml_list_open(struct ml_list *l);
/* ml_list_text returns what was written so far. */
const char *ml_list_text(struct ml_list *l);
void ml_list_close(struct ml_list *l);

/* ---- threads, so that the caller's own namespace never changes ---- */

/* ml_threads_fn does one item; it may enter a namespace. 0, or -1 with a sentence in `e`. */
typedef int (*ml_threads_fn)(void *context, size_t item, struct ml_error *e);

/*
 * ml_threads_run does items 0 .. n-1 on as many threads as the machine has cores, and waits. After
 * a failure no new item is begun. 0, or -1 with the first failure. Items that run at the same time
 * must not touch the same things.
 */
int ml_threads_run(size_t n, ml_threads_fn fn, void *context, struct ml_error *e);

/* ml_threads_call does fn(context, 0, e) on a thread of its own, and waits. */
int ml_threads_call(ml_threads_fn fn, void *context, struct ml_error *e);

#endif
