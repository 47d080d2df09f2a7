/* SPDX-License-Identifier: BSD-2-Clause */
/* goodput_trials.h - the long horizon of a job: trials of the step-level model, and what came of
 * them. */
#ifndef SOFTMRC_STUDY_GOODPUT_TRIALS_H
#define SOFTMRC_STUDY_GOODPUT_TRIALS_H

#include "study/goodput_packets.h"
#include "ui/text_buffer.h"

/* One size of the job under one way of getting round faults, over all trials. */
struct sim_goodput_point {
	uint32_t gpus;
	uint64_t outage_ns; /* 0: as measured in packets */
	uint32_t trials;
	double goodput, goodput_error; /* mean, and its standard error */
	double daly;		       /* closed form of checkpoints and restarts alone */
	double mtbi_formula_h;
	double checkpoint_every_s;
	struct ms_steps_result sum;
};

/* sim_goodput_point goes through the trials of a point; false: a signal, *p has those that are
 * done; or no memory, then p->trials is 0. */
bool sim_goodput_point(const struct sim_packets *packets, uint32_t gpus, uint64_t outage_ns,
		       struct sim_goodput_point *p);
/* sim_goodput_json makes the result. */
json_t *sim_goodput_json(const struct sim_packets *packets, const struct sim_goodput_point *p,
			 size_t n, bool partial);
/* sim_goodput_text appends it for eyes. */
void sim_goodput_text(const json_t *result, struct ui_text *out);

#endif
