/* SPDX-License-Identifier: BSD-2-Clause */
/* top_bed.h - two readings, a second apart, of one process. */
#ifndef UNIT_TOP_BED_H
#define UNIT_TOP_BED_H

#include "cli/stats.h"

#include "unit/stats_bed.h"

static struct cli_stats bed_stats;

static inline void bed_readings(void)
{
	static struct mrc_stats_segment now, before;
	struct cli_stats_process *p = &bed_stats.process[0];

	bed_segment(&before, 77);
	bed_segment(&now, 77);
	now.counter[0].value += 1250000000;
	now.counter[1].value += 12345;
	now.port[0].tx_bytes += 625000000;
	now.qp[0].psn_next += 300;
	bed_stats = (struct cli_stats){.dir = "/x", .n = 1};
	*p = (struct cli_stats_process){.pid = 77,
					.command = "train",
					.now = &now,
					.before = &before,
					.read_ns = 2000000000,
					.read_before_ns = 1000000000};
}

#endif
