/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scenario_build.h - how what a scenario file says becomes what a run takes. Each of these is
 * called once, in this order; false: *s->error says what is wrong.
 */
#ifndef SOFTMRC_SIM_SCENARIO_SCENARIO_BUILD_H
#define SOFTMRC_SIM_SCENARIO_SCENARIO_BUILD_H

#include "fabric/topology_toml.h"
#include "sim/scenario/scenario.h"

/* ms_scenario_refuse says what is wrong in a line of the scenario, 0: as a whole. Returns false. */
#define ms_scenario_refuse(s, line, ...) ms_file_set_error((s)->error, (s)->name, line, __VA_ARGS__)

/*
 * ms_scenario_topology_from begins a fabric with the file that topology.file or topology.htsim
 * names; what the scenario itself says of it comes on top.
 */
bool ms_scenario_topology_from(struct ms_scenario *s, struct mf_topology_file *f);
/* ms_scenario_run_defaults fills s->run for s->fabric and s->queues. */
void ms_scenario_run_defaults(struct ms_scenario *s);
/* These fill in what a new element of a [[table]] has by default. */
void ms_scenario_workload_defaults(struct ms_scenario_workload *w);
void ms_scenario_fault_defaults(struct ms_scenario_fault *f);
void ms_scenario_job_defaults(struct ms_scenario_job *j);
void ms_scenario_rate_defaults(struct ms_scenario_rate *r);
void ms_scenario_goodput_defaults(struct ms_scenario_goodput *g);
/* ms_scenario_workloads makes s->run.workload, reading the files that are named. */
bool ms_scenario_workloads(struct ms_scenario *s);
/* ms_scenario_jobs adds a part for each job to s->run.workload. */
bool ms_scenario_jobs(struct ms_scenario *s);
/* ms_scenario_goodput_build reads what [goodput] and [[rate]] say. */
bool ms_scenario_goodput_build(struct ms_scenario *s);
/* ms_scenario_is_graph says whether a workload is of a kind that ms_scenario_graph makes. */
bool ms_scenario_is_graph(const struct ms_scenario_workload *w);
/* ms_scenario_graph makes s->graph[part] of a workload of such a kind, reading what it names. */
bool ms_scenario_graph(struct ms_scenario *s, uint32_t part);
/* ms_scenario_fault_events makes s->run.faults of [[fault]] and [[random]]. */
bool ms_scenario_fault_events(struct ms_scenario *s);
/* ms_scenario_failure adds a cable above a T1 that is down from the beginning. */
bool ms_scenario_failure(struct ms_scenario *s, uint32_t t1, uint32_t uplink);

#endif
