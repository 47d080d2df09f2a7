/* SPDX-License-Identifier: BSD-2-Clause */
/* sim_fault_name.h - the words by which tests write the simulator's faults. */
#ifndef SIM_FAULT_NAME_H
#define SIM_FAULT_NAME_H

#include "sim/kernel/sim_net.h"

static inline const char *fault_name(uint32_t kind)
{
	static const char *const names[MS_FAULT_KINDS] = {
		[MS_FAULT_DOWN] = "down", [MS_FAULT_UP] = "up",
		[MS_FAULT_LOSS] = "loss", [MS_FAULT_BLACKHOLE] = "blackhole",
		[MS_FAULT_RATE] = "rate", [MS_FAULT_CORRUPT] = "corrupt",
	};

	return kind < MS_FAULT_KINDS ? names[kind] : "?";
}

#endif
