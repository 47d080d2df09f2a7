/* SPDX-License-Identifier: BSD-2-Clause */
/* route_text.h - what a route is, as labels of a time series. */
#ifndef SOFTMRC_MAP_ROUTE_TEXT_H
#define SOFTMRC_MAP_ROUTE_TEXT_H

#include "map/map.h"

#define MM_LABEL_BYTES 48u

/*
 * Kinds of routes are those of probe_plan.h: "t0" and "t1", "turn" (up by one T1 and down by
 * another), "t2", "peer".
 */
struct mm_route_labels {
	uint32_t host, plane, t0; /* that probes, the first plane, the host's T0 there */
	const char *kind;
	char via[MM_LABEL_BYTES]; /* "", "t1-2", "t1-2,t0-1,t1-0", "t1-2,t2-5", "host5" */
};

/* mm_route_labels_of fills in the labels of a route that mm_plan_routes made. */
void mm_route_labels_of(const struct mf_topology *t, const struct mm_route_of *of,
			struct mm_route_labels *labels);
/*
 * mm_route_read makes a route of such labels, which may be anybody's. False: there is no such route
 * in this fabric; *of is not to be used.
 */
bool mm_route_read(const struct mf_topology *t, const struct mm_route_labels *labels,
		   struct mm_route_of *of);
/* mm_symptom_name returns "lost", "corrupted", "duplicated", "reordered", "slowed"; a constant. */
const char *mm_symptom_name(enum mm_symptom symptom);

#endif
