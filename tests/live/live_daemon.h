/* SPDX-License-Identifier: BSD-2-Clause */
/* live_daemon.h - mrcd, with a store in a folder of the test's own. */
#ifndef LIVE_LIVE_DAEMON_H
#define LIVE_LIVE_DAEMON_H

#include <sys/types.h>

#define LIVE_PATIENCE_MS 60000

/*
 * live_daemon_start runs the program with the keys of [device] that are given, and waits until it
 * answers; the case fails if it does not.
 */
pid_t live_daemon_start(const char *program, const char *dir, const char *device);
/* live_daemon_stop ends it by a signal and waits for that. */
void live_daemon_stop(pid_t daemon, int signal);

#endif
