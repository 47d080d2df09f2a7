/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * script.h - which faults strike, where, and at which training steps.
 *
 * Faults strike and clear by step, not by time, so that a slow machine too gets whole steps before,
 * during and after each. How many steps that is follows from how long a step should take.
 */
#ifndef SOFTMRC_DEMO_FAULT_SCRIPT_H
#define SOFTMRC_DEMO_FAULT_SCRIPT_H

#include "lab/lab_fault.h"

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
	bool trims;	       /* switches trim and mark */
};

/* What must be seen of a fault, or the demo has failed. */
enum demo_signs {
	DEMO_SIGN_LOST = 1u << 0,    /* data packets were destroyed */
	DEMO_SIGN_RETIRED = 1u << 1, /* EVs were retired */
	DEMO_SIGN_ICRC = 1u << 2,    /* receivers refused packets */
	DEMO_SIGN_QUEUES = 1u << 3,  /* switches trimmed */
};

#define DEMO_LAB_FAULTS_MAX 8u

/* What a fault is in the lab. */
struct demo_lab_fault {
	struct mf_fault fault[DEMO_LAB_FAULTS_MAX];
	uint32_t n;
	char off[MF_LINK_NAME_BYTES]; /* a switch that is switched off; empty: none */
	bool incast;		      /* seven hosts write to one that has no rank */
};

struct demo_fault {
	const char *kind; /* the word in --script */
	char title[64];	  /* for the live view */
	char brief[24];	  /* for the table, at most 17 columns */
	bool certain;	  /* takes every packet of its paths, so that senders can leave them */
	uint32_t signs;	  /* enum demo_signs */
	struct mrc_fault_rule rule;	   /* on loopback: as it goes into the fault table */
	struct demo_lab_fault lab;	   /* in the lab */
	uint32_t flap_down_ms, flap_up_ms; /* 0: the fault is steady */
	uint32_t strike_step, clear_step;  /* when so many steps are done */
	/*
	 * Bandwidth left: an all-reduce takes `slower_num / slower_den` times as long. 0 / 0 where
	 * arithmetic gives no exact figure.
	 */
	uint32_t slower_num, slower_den;
};

/* A kind of fault that a stage offers. */
struct demo_kind {
	const char *name;
	const char *help;
	/* What the fault needs, so that the job can go on and a path can be retired. */
	uint32_t planes_min, paths_min;
	void (*describe)(struct demo_fault *f, const struct demo_shape *shape);
	bool needs_trims; /* only switches that trim and mark can do it, or show it */
};

struct demo_kinds {
	const struct demo_kind *kind;
	size_t n;
};

/* The faults of each stage, in the order in which they strike: on loopback, and in the lab. */
extern const struct demo_kinds demo_loopback_kinds;
extern const struct demo_kinds demo_lab_kinds;

struct demo_script {
	struct demo_fault fault[DEMO_FAULTS_MAX];
	uint32_t n;
	uint32_t steps;
};

/* demo_fault_set_title and demo_fault_set_brief write the texts of a fault, for those who describe
 * one. */
__attribute__((format(printf, 2, 3))) void demo_fault_set_title(struct demo_fault *f,
								const char *format, ...);
__attribute__((format(printf, 2, 3))) void demo_fault_set_brief(struct demo_fault *f,
								const char *format, ...);

/*
 * demo_script_make writes the script for a list of fault names with commas between; NULL: all that
 * the shape leaves possible. steps: of the job, 0: as many as fit the faults. Returns 0, or -1 with
 * a message (naming flag, value, allowed) in error.
 */
int demo_script_make(struct demo_script *s, const struct demo_kinds *kinds, const char *names,
		     const struct demo_shape *shape, uint32_t steps, char *error,
		     size_t error_size);

/* demo_script_step_ns returns how long the all-reduce of a step takes at full bandwidth. */
uint64_t demo_script_step_ns(const struct demo_shape *shape);

#endif
