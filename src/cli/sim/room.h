/* SPDX-License-Identifier: BSD-2-Clause */
/* room.h - does a run fit into this machine? */
#ifndef SOFTMRC_CLI_SIM_ROOM_H
#define SOFTMRC_CLI_SIM_ROOM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * sim_room_bytes returns what a process may still take: memory that the kernel calls available, or
 * less where a control group or a limit of the process says so. UINT64_MAX: not known.
 */
uint64_t sim_room_bytes(void);

#endif
