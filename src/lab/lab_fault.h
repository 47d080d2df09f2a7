/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_fault.h - what a list of faults as a whole means for each port.
 *
 * Nothing but the list is remembered: what a port has to do follows from all faults that are in
 * force, so lifting one never disturbs another.
 */
#ifndef SOFTMRC_LAB_LAB_FAULT_H
#define SOFTMRC_LAB_LAB_FAULT_H

#include "fabric/fault.h"
#include "lab/lab_error.h"

#define ML_FAULTS_MAX 256u

/* ml_error_from makes a sentence of an error of the fabric, and returns -1. */
int ml_error_from(struct ml_error *e, const struct mf_error *why);

/* ml_fault_read is mf_fault_text with a sentence as error. 0, or -1. */
int ml_fault_read(const struct mf_topology *t, const char *target, const char *text,
		  struct mf_fault *f, struct ml_error *e);

/* ml_node_find reads the name of a host or switch. 0, or -1 with a sentence. */
int ml_node_find(const struct mf_topology *t, const char *name, uint32_t *node, struct ml_error *e);

/* ml_fault_same_target says whether two are about the same thing: the later one replaces the
 * earlier. */
bool ml_fault_same_target(const struct mf_fault *a, const struct mf_fault *b);

/* What a port does to what it sends. */
struct ml_port_state {
	bool down, blackhole;
	uint32_t loss_ppm, corrupt_ppm, duplicate_ppm, reorder_ppm;
	uint64_t rate_bps; /* 0: as the topology says */
	uint32_t peer;	   /* the link whose port is at the other end of the cable */
};

/*
 * ml_faults_apply computes port[0 .. n_links - 1], by link sent on, from all faults. The targets
 * are known to exist.
 */
void ml_faults_apply(const struct mf_topology *t, const struct mf_fault *fault, size_t n,
		     struct ml_port_state *port);

/* ml_fault_needs_bpf says whether only the switch program can do it. */
bool ml_fault_needs_bpf(enum mf_fault_kind kind);

#endif
