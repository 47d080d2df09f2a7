/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c - names of faults and of reasons for losses, for displays and files. */
#include "sim/kernel/link_fault.h"

const char *ms_drop_name(enum ms_drop d)
{
	static const char *const names[MS_DROPS] = {
		[MS_DROP_DATA_FULL] = "data_full", [MS_DROP_CONTROL_FULL] = "control_full",
		[MS_DROP_LINK_DOWN] = "link_down", [MS_DROP_BLACKHOLE] = "blackhole",
		[MS_DROP_LOSS] = "loss",	   [MS_DROP_NO_ROUTE] = "no_route",
		[MS_DROP_HEADROOM] = "headroom",
	};

	return names[d];
}

const char *ms_fault_name(enum ms_fault_kind k)
{
	static const char *const names[MS_FAULT_KINDS] = {
		[MS_FAULT_DOWN] = "down", [MS_FAULT_UP] = "up",
		[MS_FAULT_LOSS] = "loss", [MS_FAULT_BLACKHOLE] = "blackhole",
		[MS_FAULT_RATE] = "rate", [MS_FAULT_CORRUPT] = "corrupt",
	};

	return names[k];
}
