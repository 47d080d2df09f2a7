/* SPDX-License-Identifier: BSD-2-Clause */
/* switch_program.h - private to this module: the queues of ports, and the switch program of
 * switchq/switchq.h on them. */
#ifndef SOFTMRC_LAB_SWITCH_PROGRAM_H
#define SOFTMRC_LAB_SWITCH_PROGRAM_H

#include "lab/lab_state.h"

/* ml_program_load loads the program for a new lab; without it lab->no_program says why. */
void ml_program_load(struct ml_lab *lab);
/* ml_program_open finds that of a lab that is up. 0, or -1. */
int ml_program_open(struct ml_lab *lab, struct ml_error *e);

/*
 * ml_program_port tells the program about a port, and of its faults; with netns >= 0, a descriptor
 * of the port's namespace, it attaches it too. 0, or -1.
 */
int ml_program_port(struct ml_lab *lab, uint32_t link, int netns, struct ml_error *e);

/*
 * ml_program_queue_ns returns what the slowest of all queues takes to drain when it is full; 0:
 * links have no rate, and there are no queues.
 */
uint64_t ml_program_queue_ns(const struct ml_lab *lab);

/* ml_program_htb writes tc lines that shape a port (build), or change its rate. */
void ml_program_htb(const struct ml_lab *lab, uint32_t link, const char *port, bool build,
		    char *text, size_t size);

#endif
