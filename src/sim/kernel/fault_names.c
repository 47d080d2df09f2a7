/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_names.c - names of faults and of reasons for losses, for displays and files. */
#include "sim/kernel/sim_net.h"

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
