/* SPDX-License-Identifier: BSD-2-Clause */
/* netns.h - named network namespaces, as ip-netns(8) keeps them below /run/netns. */
#ifndef SOFTMRC_LAB_NETNS_H
#define SOFTMRC_LAB_NETNS_H

#include "lab/lab_error.h"

#include <stdbool.h>
#include <stddef.h>
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

#endif
