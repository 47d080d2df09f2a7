/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_state.h - private to this module: a lab in memory, and its file.
 *
 * The file says what cannot be derived: topology, pace, programs, faults, switches that are off. It
 * is written before anything is built, whole under another name and then renamed, so that a crash
 * at any moment leaves a file that can be read. One lock, the folder's, is held by whoever changes
 * a lab.
 */
#ifndef SOFTMRC_LAB_LAB_STATE_H
#define SOFTMRC_LAB_LAB_STATE_H

#include "lab/lab.h"
#include "lab/netns.h"
#include "switchq/switchq.h"

#define ML_STATE_DIR "/run/softmrc/lab"
#define ML_PREFIX_MAX 24u

struct ml_lab {
	char name[ML_LAB_NAME_MAX];
	char prefix[ML_PREFIX_MAX]; /* of namespaces: "mrc-NAME-" */
	char *topology_what;	    /* as ml_options.topology, owned */
	char *topology_text;	    /* of a file; NULL: a preset; owned */
	struct mf_topology t;
	uint64_t pace_bps;
	char sid_device[8];
	bool building;	      /* nobody finished it yet */
	pid_t owner;	      /* goes with this process; 0: with none */
	uint32_t program;     /* of the kernel, for mswq_reopen; 0: none */
	char no_program[256]; /* why there is none */
	struct mswq *swq;
	struct mf_fault fault[ML_FAULTS_MAX];
	size_t faults;
	struct ml_port_state *port; /* n_links, from the faults; owned */
	bool *off;		    /* n_nodes; owned */
	int watchdog;		    /* pipe to the process that watches us, or -1 */
};

/* ml_state_lock waits for the lock; returns a descriptor whose closing unlocks, or -1. */
int ml_state_lock(struct ml_error *e);
/* ml_state_name checks a lab's name. 0, or -1 with what is allowed. */
int ml_state_name(const char *name, struct ml_error *e);
/* ml_state_create returns a lab of this name and topology (a preset or, with text, a file). */
struct ml_lab *ml_state_create(const char *name, const char *topology, struct ml_error *e);
void ml_state_destroy(struct ml_lab *lab);

int ml_state_write(const struct ml_lab *lab, struct ml_error *e);
/* ml_state_read returns the lab of a file. NULL: there is none (*missing), or it cannot be read. */
struct ml_lab *ml_state_read(const char *name, bool *missing, struct ml_error *e);
/* ml_state_reload brings faults and switches that are off up to date with the file. 0, or -1. */
int ml_state_reload(struct ml_lab *lab, struct ml_error *e);
void ml_state_remove(const char *name);

#endif
