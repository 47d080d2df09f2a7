/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crowd.h - the programs of a scenario: each in a process group of its own, in its host's
 * namespace, what it prints in a file.
 */
#ifndef SOFTMRC_CLI_LAB_CROWD_H
#define SOFTMRC_CLI_LAB_CROWD_H

#include "cli/lab/scenario.h"
#include "lab/hosts.h"
#include "lab/ipv4.h"

#define CROWD_MAX 256u

struct crowd_member {
	const struct scenario_program *program;
	uint32_t host;
	pid_t pid;    /* 0: ended */
	int status;   /* exit status; 128 + signal */
	bool overdue; /* had to be killed */
	uint64_t ran_ns;
};

struct crowd {
	char folder[ML_HOST_PATH_MAX]; /* of what they print: the lab's, with which it goes */
	struct crowd_member member[CROWD_MAX];
	uint32_t members;
};

/* crowd_open begins with nobody; crowd_end is its end. */
void crowd_open(struct crowd *c, const struct ml_lab *lab);

/* crowd_start runs a program on all its hosts. 0, or -1. */
int crowd_start(struct crowd *c, const struct ml_lab *lab, const struct scenario_program *program,
		uint64_t now_ns, struct ml_error *e);
/* crowd_look notes who has ended; true while anybody runs who is not in the background. */
bool crowd_look(struct crowd *c, uint64_t now_ns);
/* crowd_end kills those that still run; those not in the background are overdue. */
void crowd_end(struct crowd *c);
/* crowd_said returns what a member printed, for the caller to free; NULL without memory. */
char *crowd_said(const struct crowd *c, uint32_t member);

#endif
