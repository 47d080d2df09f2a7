/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * script.h - which faults strike, where, and at which training steps.
 *
 * Faults strike and clear by step, not by time, so that a slow machine too gets whole steps before,
 * during and after each. How many steps that is follows from how long a step should take.
 */
#ifndef SOFTMRC_CLI_DEMO_SCRIPT_H
#define SOFTMRC_CLI_DEMO_SCRIPT_H

#include <mrc/fault.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define DEMO_FAULTS_MAX 16u
#define DEMO_CERTAIN_PPM 1000000u

/* The network and the job, as far as arithmetic needs them. */
struct demo_shape {
	uint32_t ranks, planes, paths;
	uint64_t pace_bps;     /* of a port */
	uint64_t vector_bytes; /* summed over all ranks in each step */
};

struct demo_fault {
	const char *kind;		   /* the word in --script */
	char title[64];			   /* for the live view */
	char brief[24];			   /* for the table, at most 17 columns */
	struct mrc_fault_rule rule;	   /* as it goes into the fault table */
	uint32_t flap_down_ms, flap_up_ms; /* 0: the fault is steady */
	uint32_t strike_step, clear_step;  /* when so many steps are done */
	/*
	 * Bandwidth left: an all-reduce takes `slower_num / slower_den` times as long. 0 / 0 where
	 * arithmetic gives no exact figure.
	 */
	uint32_t slower_num, slower_den;
};

/* demo_fault_is_certain: it takes every packet of its paths, so that senders can leave them. */
static inline bool demo_fault_is_certain(const struct demo_fault *f)
{
	return f->rule.kind == MRC_FAULT_DROP && f->rule.chance_ppm == DEMO_CERTAIN_PPM;
}

struct demo_script {
	struct demo_fault fault[DEMO_FAULTS_MAX];
	uint32_t n;
	uint32_t steps;
};

/*
 * demo_script_make writes the script for a list of fault names with commas between; NULL: all that
 * the shape leaves possible. steps: of the job, 0: as many as fit the faults. Returns 0, or -1 with
 * a message (naming flag, value, allowed) in error.
 */
int demo_script_make(struct demo_script *s, const char *names, const struct demo_shape *shape,
		     uint32_t steps, char *error, size_t error_size);

/* demo_script_step_ns returns how long the all-reduce of a step takes at full bandwidth. */
uint64_t demo_script_step_ns(const struct demo_shape *shape);

/* demo_script_print_kinds prints the faults there are, a line each. */
void demo_script_print_kinds(FILE *to);

#endif
