/* SPDX-License-Identifier: BSD-2-Clause */
/* memory_limit.h - does a run fit into this machine? */
#ifndef SOFTMRC_STUDY_MEMORY_LIMIT_H
#define SOFTMRC_STUDY_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * sim_memory_available returns what a process may still take: memory that the kernel calls
 * available, or less where a control group or a limit of the process says so. UINT64_MAX: not
 * known.
 */
uint64_t sim_memory_available(void);

#endif
