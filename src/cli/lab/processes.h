/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crowd.h - the programs of a scenario: each in a process group of its own, in its host's
 * namespace, what it prints in a file.
 */
#ifndef SOFTMRC_CLI_LAB_PROCESSES_H
#define SOFTMRC_CLI_LAB_PROCESSES_H

#include "cli/lab/lab_scenario.h"
#include "lab/host_env.h"
#include "lab/lab_ipv4.h"

#define PROCESSES_MAX 256u

struct process_state {
	const struct scenario_program *program;
	uint32_t host;
	pid_t pid;    /* 0: ended */
	int status;   /* exit status; 128 + signal */
	bool overdue; /* had to be killed */
	uint64_t ran_ns;
};

struct crowd {
	char folder[ML_HOST_PATH_MAX]; /* of what they print: the lab's, with which it goes */
	struct process_state member[PROCESSES_MAX];
	uint32_t members;
};

/* processes_open begins with nobody; processes_stop is its end. */
void processes_open(struct crowd *c, const struct ml_lab *lab);

/* processes_start runs a program on all its hosts. 0, or -1. */
int processes_start(struct crowd *c, const struct ml_lab *lab,
		    const struct scenario_program *program, uint64_t now_ns, struct ml_error *e);
/* processes_poll notes who has ended; true while anybody runs who is not in the background. */
bool processes_poll(struct crowd *c, uint64_t now_ns);
/* processes_stop kills those that still run; those not in the background are overdue. */
void processes_stop(struct crowd *c);
/* processes_output returns what a member printed, for the caller to free; NULL without memory. */
char *processes_output(const struct crowd *c, uint32_t member);

#endif
