/* SPDX-License-Identifier: BSD-2-Clause */
/* top_fixture.h - two readings, a second apart, of one process. */
#ifndef UNIT_TOP_FIXTURE_H
#define UNIT_TOP_FIXTURE_H

#include "stats/stats_reader.h"

#include "unit/stats_fixture.h"

static struct stats_reader fixture_stats;

static inline void fixture_readings(void)
{
	static struct mrc_stats_segment now, before;
	struct stats_process *p = &fixture_stats.process[0];

	fixture_segment(&before, 77);
	fixture_segment(&now, 77);
	now.counter[0].value += 1250000000;
	now.counter[1].value += 12345;
	now.port[0].tx_bytes += 625000000;
	now.qp[0].psn_next += 300;
	fixture_stats = (struct stats_reader){.dir = "/x", .n = 1};
	*p = (struct stats_process){.pid = 77,
				    .fd = -1,
				    .command = "train",
				    .now = &now,
				    .before = &before,
				    .read_ns = 2000000000,
				    .read_before_ns = 1000000000};
}

#endif
