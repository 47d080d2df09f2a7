/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prober.h - the probers of all hosts of a lab in one process: a socket stays in the network
 * namespace in which it was made, so one thread sends and receives for every host. What comes back,
 * and what does not, goes to a map.
 */
#ifndef SOFTMRC_CLI_MAP_PROBER_H
#define SOFTMRC_CLI_MAP_PROBER_H

#include "lab/lab.h"
#include "prober/probe_host.h"

struct prober;

/* What the probes of all hosts came to. */
struct prober_figures {
	uint32_t hosts, routes;
	uint64_t interval_ns; /* from one pair of a route to the next */
	uint64_t bit_s;	      /* of the host that sends most */
	uint64_t sent, unsent, lost;
	uint64_t got[PROBE_VERDICTS];
};

/*
 * prober_open plans the probes of every host, which may send rate_bit_s each, and opens their
 * sockets and the map. NULL and a sentence: no memory, or a namespace that is gone. The lab must
 * outlive it; prober_close frees it, and may be given NULL.
 */
struct prober *prober_open(const struct ml_lab *lab, uint64_t rate_bit_s, struct ml_error *e);
void prober_close(struct prober *p);

/*
 * A step, once every PROBE_STEP_NS: prober_receive fills the map with what came to every host, and
 * prober_send sends what is due. A judgement between the two does not wait for what is sent, which
 * takes as long as a step where something is in doubt.
 */
void prober_receive(struct prober *p, uint64_t now_ns);
void prober_send(struct prober *p);

/* prober_map returns the map that the prober fills, for mm_map_judge. */
struct mm_map *prober_map(struct prober *p);
/* prober_figures adds up what all hosts have counted until now. */
void prober_figures(const struct prober *p, struct prober_figures *f);

#endif
