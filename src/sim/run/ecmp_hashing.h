/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ecmp_hashing.h - flows that are hashed onto links, as with ECMP: how much more than the mean the
 * most loaded link has to carry. Balls in bins, in closed form and by drawing.
 *
 * With n flows on m links a step of a collective takes as long as the link with most flows, so the
 * ratio of the worst link to the mean is by how much static hashing stretches what is bound by
 * bandwidth. Spraying over all links brings it to one.
 */
#ifndef SOFTMRC_SIM_RUN_ECMP_HASHING_H
#define SOFTMRC_SIM_RUN_ECMP_HASHING_H

#include <stdbool.h>
#include <stdint.h>

#define MS_HASHING_FLOWS_MAX 4096u
#define MS_HASHING_LINKS_MAX 4096u
#define MS_HASHING_GROUPS_MAX 65536u

struct ms_hashing_cfg {
	uint32_t flows; /* of a group, 1 .. MS_HASHING_FLOWS_MAX */
	uint32_t links; /* of a group, 1 .. MS_HASHING_LINKS_MAX */
	/* Neighbouring groups, as T0s: the worst link of all of them is asked for. 1 .. max */
	uint32_t groups;
};

struct ms_hashing {
	double mean_worst; /* flows on the worst link, in the mean */
	double over_mean;  /* that over flows / links */
	uint32_t p50, p99; /* flows on the worst link: half, and 99 % of all draws, have no more */
};

/* ms_hashing_exact computes the distribution; false: no memory, or a cfg out of range. */
bool ms_hashing_exact(const struct ms_hashing_cfg *cfg, struct ms_hashing *out);
/* ms_hashing_draw draws `trials` times; p50 and p99 are of the draws. false: as above. */
bool ms_hashing_draw(const struct ms_hashing_cfg *cfg, uint32_t trials, uint64_t seed,
		     struct ms_hashing *out);

#endif
