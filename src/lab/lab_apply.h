/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_apply.h - private to this module: makes namespaces, cables and ports what they should be.
 * Building a lab, rebooting a switch, swapping cables and lifting a fault are the same work on more
 * or fewer parts.
 */
#ifndef SOFTMRC_LAB_LAB_APPLY_H
#define SOFTMRC_LAB_LAB_APPLY_H

#include "lab/lab_state.h"

/* What is to be done to a port. */
enum {
	ML_DO_BUILD = 1, /* its interface does not exist yet, nor does the far end's */
	ML_DO_UP = 2,	 /* it was down: everything that went with that is said again */
	ML_DO_DOWN = 4,
	ML_DO_FAULTS = 8, /* filters, rate, switch program */
};

/* What is to be done: owned by whoever made it; ml_work_init and ml_work_fini. */
struct ml_work {
	uint8_t *port;			    /* n_links of ML_DO_... */
	bool *node;			    /* n_nodes: the namespace is new */
	const struct ml_port_state *before; /* n_links: what ports did; NULL: all are new */
	ml_progress_fn progress;	    /* or NULL */
	void *context;
};

int ml_work_init(struct ml_work *todo, const struct ml_lab *lab, struct ml_error *e);
void ml_work_fini(struct ml_work *todo);

/* ml_port_exists says whether a port's interface is to exist: neither end's switch is off. */
bool ml_port_exists(const struct ml_lab *lab, uint32_t link);

/* ml_apply does it, as lab->port says. 0, or -1 after the first failure. */
int ml_apply(struct ml_lab *lab, const struct ml_work *todo, struct ml_error *e);

/* ml_delete_cables deletes the cables of these ports, and with them both ends. 0, or -1. */
int ml_delete_cables(struct ml_lab *lab, const uint32_t *link, size_t n, struct ml_error *e);

/* ml_counters_kernel is ml_lab_counters by the kernel's own statistics alone. 0, or -1. */
int ml_counters_kernel(struct ml_lab *lab, struct ml_counters *counters, struct ml_error *e);

/* ml_link_rate returns what the link carries by the topology, without faults; 0: no limit. */
uint64_t ml_link_rate(const struct ml_lab *lab, uint32_t link);

#endif
