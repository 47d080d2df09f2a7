/* SPDX-License-Identifier: BSD-2-Clause */
/* ping_bed.h - two hosts, two planes of two EVs each. */
#ifndef UNIT_PING_BED_H
#define UNIT_PING_BED_H

#include "cli/ping/path.h"

#include <string.h>

#define BED_EVS 4u

static const struct ping_host bed_hosts[2] = {{.name = "one", .gid = {[15] = 1}},
					      {.name = "two", .gid = {[15] = 2}}};
static struct mrc_ctl_ev bed_evs[BED_EVS];
static struct ping_paths bed_paths;

static inline void bed_list_evs(void)
{
	for (uint32_t i = 0; i < BED_EVS; i++) {
		uint32_t value = 100 + i / 2;

		bed_evs[i] = (struct mrc_ctl_ev){.port = (uint8_t)(i % 2 + 1)};
		memcpy(bed_evs[i].val, &value, sizeof(value));
	}
}

static inline int bed_setup(void **state)
{
	(void)state;
	bed_list_evs();
	return ping_paths_make(&bed_paths, 2, bed_evs, BED_EVS, -1, -1);
}

static inline int bed_teardown(void **state)
{
	(void)state;
	ping_paths_fini(&bed_paths);
	return 0;
}

#endif
