/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * demo_outcome.h - what both runs add up to: the figures of each fault, and the verdict with its
 * reasons.
 */
#ifndef SOFTMRC_DEMO_DEMO_OUTCOME_H
#define SOFTMRC_DEMO_DEMO_OUTCOME_H

#include "demo/demo_run.h"
#include "demo/step_stats.h"

#include <stdbool.h>
#include <stdint.h>

#define DEMO_CHECKS_MAX (8u + 3u * DEMO_FAULTS_MAX)

struct demo_check {
	bool pass;
	char text[200]; /* what was found; true either way */
};

/* One fault in figures. A figure with n == 0 means that no step lay in that time. */
struct demo_fault_figures {
	struct demo_figure before, during, after;
	uint64_t expect_ns; /* of a step during the fault; 0: arithmetic does not say */
	struct demo_figure tcp_before, tcp_during;
	uint64_t lost, lost_control;
	uint64_t trimmed;	       /* by switches */
	struct demo_counters counters; /* differences */
};

struct demo_outcome {
	struct demo_fault_figures fault[DEMO_FAULTS_MAX];
	struct demo_check check[DEMO_CHECKS_MAX];
	uint32_t checks;
	bool pass;
	/* TCP finished so many steps with the losses of the fault-free run. */
	uint32_t tcp_steps_equal;
};

/* The facts that the verdict needs, apart from how they came about. */
struct demo_facts {
	bool lost_counted; /* the stage counts what faults destroy */
	bool healthy_done, faulty_done;
	const char *healthy_trouble, *faulty_trouble;
	bool healthy_agree, faulty_agree; /* all ranks of the run have one digest */
	const char *healthy_sha256, *faulty_sha256;
	double final_loss, bigram_bits;
	bool tcp_done; /* finished all steps */
	bool tcp_agree;
	const char *tcp_sha256; /* when tcp_done */
	uint32_t tcp_steps, tcp_steps_equal;
};

/* demo_outcome_make draws the sum of two runs; `faulty` may not have been started (n == 0). */
void demo_outcome_make(struct demo_outcome *o, const struct demo_run *healthy,
		       const struct demo_run *faulty);

/* demo_outcome_evaluate adds the checks and the verdict for facts and faults. */
void demo_outcome_evaluate(struct demo_outcome *o, const struct demo_facts *facts,
			   const struct demo_script *script);

#endif
