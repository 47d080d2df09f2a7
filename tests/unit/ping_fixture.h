/* SPDX-License-Identifier: BSD-2-Clause */
/* ping_fixture.h - two hosts, two planes of two EVs each. */
#ifndef UNIT_PING_FIXTURE_H
#define UNIT_PING_FIXTURE_H

#include "cli/ping/ping.h"

#include <string.h>

#define FIXTURE_EVS 4u

static const struct ping_host fixture_hosts[2] = {{.name = "one", .gid = {[15] = 1}},
						  {.name = "two", .gid = {[15] = 2}}};
static struct mrc_ctl_ev fixture_evs[FIXTURE_EVS];
static struct ping_paths fixture_paths;

static inline void fixture_list_evs(void)
{
	for (uint32_t i = 0; i < FIXTURE_EVS; i++) {
		uint32_t value = 100 + i / 2;

		fixture_evs[i] = (struct mrc_ctl_ev){.port = (uint8_t)(i % 2 + 1)};
		memcpy(fixture_evs[i].val, &value, sizeof(value));
	}
}

static inline int fixture_setup(void **state)
{
	(void)state;
	fixture_list_evs();
	return ping_paths_make(&fixture_paths, 2, fixture_evs, FIXTURE_EVS, -1, -1);
}

static inline int fixture_teardown(void **state)
{
	(void)state;
	ping_paths_fini(&fixture_paths);
	return 0;
}

#endif
