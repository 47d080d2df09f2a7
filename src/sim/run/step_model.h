/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_model.h - the long horizon: a training job over days, step by step, with faults at given
 * rates.
 *
 * This is a model and no simulation of packets. What a fault does to a step comes from packet runs
 * or from the configuration: how much longer steps take while it lasts, what is lost once when it
 * comes and once when it goes, or that the job is interrupted. step_model.h takes these from
 * packet runs and says how far the model is from others of them.
 *
 * The job. It makes progress at the pace of the worst fault that lasts. After every so much work
 * it writes a checkpoint, during which there is no progress. An interruption throws it back to the
 * last checkpoint that was written whole and costs a restart; another one meanwhile begins the
 * restart from there. So without other faults goodput is what Daly (2006) has in closed form.
 *
 * Faults come as Poisson processes, the rate of a class being that of one component times how many
 * of them a job of this size uses. They last for an exponentially distributed time. Faults that
 * last at once do not add up: a synchronous job waits for its slowest rank, and two faults rarely
 * hit the same.
 */
#ifndef SOFTMRC_SIM_RUN_STEP_MODEL_H
#define SOFTMRC_SIM_RUN_STEP_MODEL_H

#include "sim/workload/training_job.h"

#include <stdbool.h>
#include <stdint.h>

#define MS_STEPS_CLASSES 32u
#define MS_STEPS_ONE 1000000u
/* Faults of one trial; more are a mistake of units. */
#define MS_STEPS_FAULTS_MAX UINT64_C(100000000)

/* A class of faults. */
struct ms_steps_class {
	double per_gpu;	      /* components of a job, for each of its GPUs */
	double mtbf_ns;	      /* of one component; above 0 */
	uint64_t repair_ns;   /* mean */
	bool interrupts;      /* the job has to restart */
	uint32_t slow;	      /* step time while it lasts, of MS_STEPS_ONE: at least that */
	uint64_t onset_ns;    /* lost once when it comes */
	uint64_t recovery_ns; /* lost once when it goes */
	/*
	 * No progress until routing leads round it, or it has gone: so long. A job that waits
	 * longer than dies_ns has to restart; 0: it waits for ever.
	 */
	uint64_t outage_ns, dies_ns;
};

struct ms_steps_cfg {
	uint32_t gpus;
	uint64_t horizon_ns;
	uint64_t checkpoint_every_ns; /* of work; 0: ms_steps_best_ns */
	uint64_t checkpoint_ns, restart_ns;
	const struct ms_steps_class *classes;
	uint32_t n_classes;
	uint64_t seed;
};

/* Where the time of the horizon went: all of these but the first add up to it. */
struct ms_steps_result {
	uint64_t horizon_ns;
	uint64_t useful_ns; /* work that was kept, at the pace without faults */
	uint64_t slow_ns;   /* that this work took longer */
	uint64_t stalled_ns;
	uint64_t saving_ns;
	uint64_t lost_ns; /* work that was thrown away, with all it had taken */
	uint64_t restarting_ns;
	uint64_t faults, interruptions;
};

/* ms_steps_check returns what is wrong with a configuration; NULL: nothing. */
const char *ms_steps_check(const struct ms_steps_cfg *cfg);
/* ms_steps_run goes through one trial. false: out of memory, or MS_STEPS_FAULTS_MAX. */
bool ms_steps_run(const struct ms_steps_cfg *cfg, struct ms_steps_result *result);

/* ---- closed forms ---- */

/* ms_steps_mtbi_ns returns the mean time between two interruptions: one over the sum of all rates;
 * infinite when nothing interrupts. */
double ms_steps_mtbi_ns(const struct ms_steps_cfg *cfg);
/* ms_steps_best_ns returns the work between checkpoints that Young (1974) found best to first
 * order: the square root of 2 checkpoint MTBI. A checkpoint's time at least; the horizon without
 * interruptions. */
uint64_t ms_steps_best_ns(const struct ms_steps_cfg *cfg);
/* ms_steps_daly returns the goodput without other faults, by Daly (2006). */
double ms_steps_daly(const struct ms_steps_cfg *cfg);

/*
 * What a fault does to the steps of a job, taken from packet runs; and what the step-level model
 * would say of a packet run, to be held against it.
 *
 * The same job with the same seeds runs without the fault and with it, so that what is random in
 * its computes is the same in both, and differences of steps are the fault's.
 */
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
