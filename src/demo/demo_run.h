/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * demo_run.h - one training run under the demo's eyes: starts the processes, follows their steps
 * and counters, strikes and clears the faults of the script, keeps what happened.
 */
#ifndef SOFTMRC_DEMO_DEMO_RUN_H
#define SOFTMRC_DEMO_DEMO_RUN_H

#include "demo/cpu_load.h"
#include "demo/demo_ui.h"
#include "demo/demo_view.h"
#include "demo/fault_script.h"
#include "demo/recovery_times.h"
#include "demo/run_dir.h"
#include "demo/stage.h"
#include "demo/stats_watch.h"
#include "demo/training_processes.h"

#include <stdbool.h>
#include <stdint.h>

/* What one fault did, from its strike until the next one struck or the run ended. */
struct demo_fault_log {
	enum demo_phase phase;
	bool by_time; /* cleared because steps took too long */
	bool down;    /* the rule is on, for a fault that flaps */
	bool told;    /* its times were said */
	uint64_t strike_ns, clear_ns, end_ns;
	struct demo_counters at_strike, at_end;
	struct demo_hits hits;
	struct demo_fabric fabric_at_strike, fabric_at_end;
	struct demo_times times;
	bool tcp_can_feel;	      /* the kernel lets TCP feel a fault of this kind */
	uint32_t tcp_connections_hit; /* of the ring's planes x ranks */
};

struct demo_run_cfg {
	const char *title;
	const char *name; /* of its directory */
	const char *program;
	const char *data;
	uint64_t seed;
	struct demo_stage *stage; /* kept by the caller until demo_run_fini */
	const struct demo_script *script;
	bool with_faults;
	bool with_tcp;
};

enum demo_run_result {
	DEMO_RUN_DONE,
	DEMO_RUN_FAILED, /* trouble says why */
	DEMO_RUN_INTERRUPTED,
};

#define DEMO_RATE_SAMPLES 10u

struct demo_run {
	struct demo_run_cfg cfg;
	struct demo_job job, tcp;
	bool begun; /* on the stage */
	struct demo_watch watch;
	struct demo_sums sums;
	struct demo_fault_log fault[DEMO_FAULTS_MAX];
	uint32_t current; /* fault that struck last, or script->n */
	struct demo_bad_evs bad;
	struct demo_lateness late; /* how late the demo's own loop was woken */
	uint64_t start_ns, end_ns;
	uint32_t tcp_steps;	   /* steps that TCP had finished when the job was done */
	struct demo_fabric fabric; /* at the end of the run */
	bool digests_agree;	   /* all ranks of the job ended alike */
	bool tcp_digests_agree;
	double idle; /* share of the machine during the run */
	char error[600];
	/* for the view */
	struct demo_cpu cpu_start, cpu_last;
	double idle_now;
	uint64_t sample_ns[DEMO_RATE_SAMPLES];
	uint64_t sample_bytes[DEMO_RATE_SAMPLES][DEMO_PLANES_MAX];
	uint32_t samples;
	double plane_bps[DEMO_PLANES_MAX];
	uint32_t said_step;
};

/* demo_run_execute runs to the end. demo_run_fini frees what the run keeps. */
enum demo_run_result demo_run_execute(struct demo_run *run, const struct demo_run_cfg *cfg,
				      const struct demo_rundir *dir, struct demo_ui *ui);
void demo_run_fini(struct demo_run *run);

#endif
