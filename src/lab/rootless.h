/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rootless.h - a lab without rights: a user namespace in which this process is root, with a /run of
 * its own for the names of network namespaces. Everything in it goes away with its last process.
 */
#ifndef SOFTMRC_LAB_ROOTLESS_H
#define SOFTMRC_LAB_ROOTLESS_H

#include "lab/lab_error.h"

#include <sys/types.h>

/*
 * ml_rootless_enter moves this process into new user, mount and network namespaces. The process
 * must have one thread only. 0; -1 where the system forbids it: nothing useful can be done after
 * a failure that comes late, so the caller exits.
 */
int ml_rootless_enter(struct ml_error *e);

/*
 * ml_rootless_join moves this process, which must have one thread, into those that process `pid`
 * of the same user has entered. 0, or -1.
 */
int ml_rootless_join(pid_t pid, struct ml_error *e);

#endif
