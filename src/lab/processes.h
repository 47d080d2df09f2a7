/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * processes.h - the programs of a scenario: each in a process group of its own, in its host's
 * namespace, what it prints in a file.
 */
#ifndef SOFTMRC_LAB_PROCESSES_H
#define SOFTMRC_LAB_PROCESSES_H

#include "lab/host_env.h"
#include "lab/lab_ipv4.h"
#include "lab/scenario.h"

#define ML_PROCESSES_MAX 256u

struct ml_process {
	const struct ml_scenario_program *program;
	uint32_t host;
	pid_t pid;    /* 0: ended */
	int status;   /* exit status; 128 + signal */
	bool overdue; /* had to be killed */
	uint64_t ran_ns;
};

struct ml_processes {
	char folder[ML_HOST_PATH_MAX]; /* of what they print: the lab's, with which it goes */
	struct ml_process member[ML_PROCESSES_MAX];
	uint32_t members;
};

/* ml_processes_open begins with nobody; ml_processes_stop is its end. */
void ml_processes_open(struct ml_processes *c, const struct ml_lab *lab);

/* ml_processes_start runs a program on all its hosts. 0, or -1. */
int ml_processes_start(struct ml_processes *c, const struct ml_lab *lab,
		       const struct ml_scenario_program *program, uint64_t now_ns,
		       struct ml_error *e);
/* ml_processes_poll notes who has ended; true while anybody runs who is not in the background. */
bool ml_processes_poll(struct ml_processes *c, uint64_t now_ns);
/* ml_processes_stop kills those that still run; those not in the background are overdue. */
void ml_processes_stop(struct ml_processes *c);
/*
 * ml_processes_output returns what a member printed, for the caller to free; NULL without memory.
 */
char *ml_processes_output(const struct ml_processes *c, uint32_t member);

#endif
