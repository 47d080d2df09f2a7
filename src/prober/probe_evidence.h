/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_evidence.h - what a host counted since it began, of bounded size: counters of routes and
 * planes that only grow, as Prometheus wants them, and begin again once they are forgotten. Pure,
 * but for the memory of one block.
 */
#ifndef SOFTMRC_PROBER_PROBE_EVIDENCE_H
#define SOFTMRC_PROBER_PROBE_EVIDENCE_H

#include "map/map.h"

/* Routes with counters; what is beyond is counted as left out. */
#define PROBE_EVIDENCE_ROUTES 1024u
/* Others whose probes were seen, and T0s that plain packets went round to. */
#define PROBE_EVIDENCE_SEEN 16u
/* A route that was not probed for so many steps, a minute, has gone to another host. */
#define PROBE_EVIDENCE_KEPT_STEPS 6000u
/*
 * What was not wrong with a route for so many steps, ten minutes, is no longer told of it: or each
 * packet that is lost by chance would be a series for long.
 */
#define PROBE_EVIDENCE_BAD_KEPT_STEPS 60000u

struct probe_evidence_route {
	struct mm_route_of of;
	uint64_t known, bad[MM_SYMPTOMS];
	uint64_t bad_step[MM_SYMPTOMS]; /* when last, if it was */
	uint64_t step;			/* when last; 0: the place is free */
};

/* How often something was seen on a plane about a host (its probes) or a T0 (loops to it). */
struct probe_evidence_seen {
	uint32_t plane, about;
	uint64_t times; /* 0: the place is free */
};

struct probe_evidence_plain {
	uint64_t sent, lost;
};

struct probe_evidence {
	struct probe_evidence_route route[PROBE_EVIDENCE_ROUTES];
	struct probe_evidence_seen stray[PROBE_EVIDENCE_SEEN], loop[PROBE_EVIDENCE_SEEN];
	struct probe_evidence_plain plain[MF_PLANES_MAX];
	uint64_t step;	   /* now; at least 1 */
	uint64_t left_out; /* reports for which there was no room */
};

/* probe_evidence_init makes it empty. */
void probe_evidence_init(struct probe_evidence *e);
/* probe_evidence_step forgets routes that are no longer probed, and what was wrong with one long
 * ago; to be called in each step. */
void probe_evidence_step(struct probe_evidence *e);
/* probe_evidence_route adds counts of a route; *memo is where it was the last time. */
void probe_evidence_route(struct probe_evidence *e, const struct mm_route_of *of, uint32_t *memo,
			  const struct mm_counts *counts);
void probe_evidence_plain(struct probe_evidence *e, uint32_t plane, uint32_t sent, uint32_t lost);
/* The first PROBE_EVIDENCE_SEEN pairs of plane and host, or T0, count; others are left out. */
void probe_evidence_stray(struct probe_evidence *e, uint32_t plane, uint32_t host);
void probe_evidence_loop(struct probe_evidence *e, uint32_t plane, uint32_t t0);

#endif
