/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watchdog.h - a process that takes a lab down when the one that it watches dies, however it dies:
 * it waits at the other end of a pipe.
 */
#ifndef SOFTMRC_LAB_WATCHDOG_H
#define SOFTMRC_LAB_WATCHDOG_H

#include "lab/lab_error.h"

/* ml_watchdog_start returns a descriptor for ml_watchdog_stop, or -1. */
int ml_watchdog_start(const char *lab, struct ml_error *e);
/* ml_watchdog_stop tells it that all is well, and closes the descriptor. */
void ml_watchdog_stop(int fd);

#endif
