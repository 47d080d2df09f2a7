/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loopback_stage.h - the stage that needs no privilege: all hosts are processes in this machine's
 * own network, host `rank` has port 127.0.<plane>.<rank+1> in each plane, and the port drivers of
 * the processes do the faults to packets on their way out, told by a table that all of them map.
 */
#ifndef SOFTMRC_DEMO_LOOPBACK_STAGE_H
#define SOFTMRC_DEMO_LOOPBACK_STAGE_H

#include <string.h>

#include "demo/fault_table.h"
#include "demo/stage.h"

struct demo_loopback {
	struct demo_stage stage;
	struct demo_faults faults;
	char table[256]; /* its path; empty: no run */
};

/* demo_loopback_init makes the stage; there is nothing to undo but the end of its runs. */
void demo_loopback_init(struct demo_loopback *l, const struct demo_shape *shape);

/*
 * demo_loopback_rule writes the rule that does a fault to packets. False: its kind or targets are
 * none that port drivers can do.
 */
bool demo_loopback_rule(const struct demo_shape *shape, const struct demo_fault *fault,
			struct mrc_fault_rule *rule);

/* demo_loopback_gid writes the GID of a rank: its address on plane 0, 127.0.0.<rank+1>. */
static inline void demo_loopback_gid(uint8_t gid[16], uint32_t rank)
{
	static const uint8_t local[16] = {[10] = 0xff, [11] = 0xff, [12] = 127};

	memcpy(gid, local, sizeof(local));
	gid[15] = (uint8_t)(rank + 1);
}

#endif
