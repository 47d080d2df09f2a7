/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * goodput_packets.h - packet runs of a job, with faults, for the long horizon: how long each step
 * takes without a fault and with one, and what is to be made of it.
 */
#ifndef SOFTMRC_STUDY_GOODPUT_PACKETS_H
#define SOFTMRC_STUDY_GOODPUT_PACKETS_H

#include "sim/run/step_effects.h"
#include "sim/scenario/scenario.h"

#include <jansson.h>

/* What there is of one scenario: its text, and what was measured. */
struct sim_packets {
	const char *name;
	const struct ms_changes *changes;
	const struct ms_scenario *scenario;
	bool quiet;
	struct ms_job_result *plain, *with;	   /* steps without faults, and of the last run */
	struct ms_effect effect[MS_STEPS_CLASSES]; /* of each rate; of 1 where not measured */
	/* The model against packet runs, with one fault of each measured rate. */
	uint32_t checked;		   /* runs */
	uint64_t checked_ns, predicted_ns; /* of all of them */
	struct ms_file_error error;
};

enum sim_packets_end {
	SIM_PACKETS_GOOD,
	SIM_PACKETS_WRONG,  /* error says what */
	SIM_PACKETS_CAUGHT, /* by a signal */
};

/*
 * sim_packets_measure runs the first job of a scenario: without faults, and with each that a rate
 * is to be measured of; then once more with each, of another rank and cable and at another moment,
 * to hold the model against. sim_packets_fini frees what it has taken, whatever it returned.
 */
enum sim_packets_end sim_packets_measure(struct sim_packets *p);
void sim_packets_fini(struct sim_packets *p);
/* sim_packets_error returns how far the model was from packets: a share of the time that faults
 * left, signed; 0 without a check. */
double sim_packets_error(const struct sim_packets *p);

#endif
