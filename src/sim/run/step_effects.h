/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_effects.h - what a fault does to the steps of a job, taken from packet runs; and what the
 * step-level model would say of a packet run, to be held against it.
 *
 * The same job with the same seeds runs without the fault and with it, so that what is random in
 * its computes is the same in both, and differences of steps are the fault's.
 */
#ifndef SOFTMRC_SIM_RUN_STEP_EFFECTS_H
#define SOFTMRC_SIM_RUN_STEP_EFFECTS_H

#include "sim/run/step_model.h"
#include "sim/workload/training_job.h"

/* One fault in a packet run: when it came, and how long it lasted. */
struct ms_fault_time {
	uint64_t at_ns, for_ns;
};

/* What it did. */
struct ms_effect {
	bool interrupts;      /* the job did not come to its end */
	bool stops;	      /* no step came to its end while it lasted */
	uint32_t slow;	      /* of MS_STEPS_ONE: steps that lie inside it, over the same without */
	uint64_t onset_ns;    /* what the step took longer in which it came, beyond that */
	uint64_t recovery_ns; /* and that in which it went */
	uint32_t steps_inside; /* from which `slow` was taken */
};

/*
 * ms_effect_measure takes the effect of a fault from two runs of a job. A run with fewer steps than
 * the other was interrupted; one in which a single step took as long as the fault was stopped.
 * false: no whole step lies inside the fault, or none before it; then the fault has to last longer,
 * or come later.
 */
bool ms_effect_measure(const struct ms_job_result *without, const struct ms_job_result *with,
		       const struct ms_fault_time *fault, struct ms_effect *effect);

/* ms_effect_predict returns how long a run of a job is to take by the model when n faults come to
 * it: `without` is the run without any, effect[i] that of fault[i]. */
uint64_t ms_effect_predict(const struct ms_job_result *without, const struct ms_fault_time *fault,
			   const struct ms_effect *effect, uint32_t n);

#endif
