/* SPDX-License-Identifier: BSD-2-Clause */
/* net_health.h - what the network did to a measurement, read from this process's own statistics. */
#ifndef SOFTMRC_CLI_PERF_NET_HEALTH_H
#define SOFTMRC_CLI_PERF_NET_HEALTH_H

#include "stats/stats_reader.h"

struct perf_health {
	bool known; /* false: statistics are not kept; all else is 0 */
	uint64_t retransmits, lost, trimmed, timeouts, drops;
	uint32_t planes;
	uint64_t sent[MRC_STATS_PORTS], received[MRC_STATS_PORTS]; /* bytes */
	bool up[MRC_STATS_PORTS];
	uint8_t address[MRC_STATS_PORTS][16];
	char interface[MRC_STATS_PORTS][16];
	uint32_t evs_good, evs_skip, evs_bad, evs_denied; /* of all QPs */
};

/* perf_health_of adds up one segment. */
void perf_health_of(const struct mrc_stats_segment *s, struct perf_health *h);
/* perf_health_since returns later - earlier; states are those of later. */
struct perf_health perf_health_since(const struct perf_health *later,
				     const struct perf_health *earlier);

/*
 * perf_health_read reads this process's statistics after waiting until they are newer than now, a
 * twentieth of a second as a rule.
 */
void perf_health_read(struct stats_reader *stats, struct perf_health *h);

#endif
