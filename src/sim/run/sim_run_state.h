/* SPDX-License-Identifier: BSD-2-Clause */
/* sim_run_state.h - what a run consists of; for run/ only. */
#ifndef SOFTMRC_SIM_RUN_SIM_RUN_STATE_H
#define SOFTMRC_SIM_RUN_SIM_RUN_STATE_H

#include "sim/kernel/rank_link.h"
#include "sim/run/sim_run.h"

struct ms_run {
	struct ms_run_cfg cfg;
	struct ms_workload *workload;
	struct ms_nics *nics;
	struct ms_mrc *mrc;   /* NULL: no workload uses it */
	struct ms_roce *roce; /* likewise */
	struct ms_net *net;
	struct ms_flow_record *merged; /* of all ranks; NULL: this process alone */
};

/* ms_run_ideal_ns returns what theory allows at best until the last flow is over; 0: unknown. */
uint64_t ms_run_ideal_ns(const struct ms_run *run);
/* ms_run_record fills in what is known of a flow. */
void ms_run_record(const struct ms_run *run, uint32_t id, struct ms_flow_record *r);

#endif
