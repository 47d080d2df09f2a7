/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_history.h - what went on during a run, for curves over time: what each part of the workload
 * placed, marks, cuts, drops, retransmissions, EVs in trouble, and what named links carried.
 *
 * Nobody knows beforehand how long a run takes, so samples are taken often at first; whenever there
 * is no room for more, every other one is given up and time between them doubles.
 */
#ifndef SOFTMRC_STUDY_RUN_HISTORY_H
#define SOFTMRC_STUDY_RUN_HISTORY_H

#include "sim/scenario/scenario.h"

#include <jansson.h>

#define SIM_HISTORY_SAMPLES 512u
#define SIM_HISTORY_LINKS 16u
/* Between two samples, at first. */
#define SIM_HISTORY_FIRST_NS 500u
/* Of more flows than these only the sum over all is kept. */
#define SIM_HISTORY_FLOWS_MAX 8192u

struct sim_sample {
	uint64_t at_ns;
	uint64_t placed_bytes[MS_PARTS_MAX];
	uint64_t marks, trims, drops, retransmits, evs_bad;
	uint64_t link_bytes[SIM_HISTORY_LINKS];
};

struct sim_history {
	const struct ms_scenario *scenario;
	uint64_t every_ns, next_ns;
	uint32_t n, n_parts, n_links;
	bool whole; /* one curve for all parts: there are too many flows */
	uint32_t link[SIM_HISTORY_LINKS];
	struct sim_sample sample[SIM_HISTORY_SAMPLES];
};

/* sim_history_begin begins a history with a sample at time 0; the first of the links that the
 * scenario names for its series are in it. */
void sim_history_begin(struct sim_history *h, const struct ms_scenario *s);
/* sim_history_sample takes a sample when one is due; at edges of the run. */
void sim_history_sample(struct sim_history *h, struct ms_run *run, uint64_t now_ps);
/* sim_history_end takes the last sample; the run is over. */
void sim_history_end(struct sim_history *h, struct ms_run *run);
/*
 * sim_history_json returns the curves: `time_us`, where each interval ends, and for each interval
 * `gbps` (an array for each part), `total_gbps` (their sum), `links` (Gb/s by name), `marks`,
 * `trims`, `drops`, `retransmits`; `evs_bad` at its end.
 */
json_t *sim_history_json(const struct sim_history *h);

#endif
