/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map_hour.h - the map of a large fabric through an hour of faults: how soon each is named, who is
 * accused falsely, what probes cost, and what a job gains by it.
 *
 * What judges is src/map itself, a map for each plane. What is simulated is what probes meet, and
 * that on the level of outcomes: faults come by Poisson processes and each probe of a route is lost
 * with the chance that the faults of its links give it; no packet has a time of its own, none
 * waits, and what a fault does to a probe is decided when it is sent. Hosts report by exception:
 * routes on which something was lost, and of those that share a link with them so many as tell
 * where it was; of all others nothing is heard, as nothing is to be said. Losses alone are
 * simulated, no damage, no exchanged cables.
 */
#ifndef SOFTMRC_STUDY_MAP_HOUR_H
#define SOFTMRC_STUDY_MAP_HOUR_H

#include "map/map.h"
#include "map/probe_plan.h"
#include "sim/scenario/scenario.h"

/*
 * Probes are those of src/prober. The map judges with each step while something is new, and that a
 * probe is lost is known so long after it was sent: all that is said is later.
 */
#define STUDY_MAP_WAIT_NS (MM_PROBE_WAIT_STEPS * MM_PROBE_STEP_NS)
/* Each step looks at those that go on or were lately: time grows with their square. */
#define STUDY_MAP_FAULTS_MAX 100000u

/* A class of faults. Those of hosts and GPUs end jobs, and are not the map's to mend. */
struct study_map_class {
	const char *name, *source;
	uint32_t of;	   /* enum ms_class: a cable, a T0, a T1 */
	uint32_t loss_ppm; /* 1,000,000: it is dead */
	double mtbf_ns;	   /* of one component */
	uint64_t repair_ns;
	uint32_t slow;	      /* of MS_STEPS_ONE: steps of a job meanwhile */
	uint32_t denied_slow; /* and when what it crosses is denied */
	uint64_t once_ns;     /* that a job loses when it comes and goes */
};

struct study_map_fault {
	uint32_t class;
	struct mm_part part;
	uint64_t at_ns, until_ns;
	uint64_t named_ns; /* when it was named rightly; 0: never */
};

struct study_map_cfg {
	const struct mf_topology *t; /* two tiers */
	uint32_t watchers;
	uint64_t horizon_ns, seed;
	uint32_t background_ppb; /* probes that are lost where nothing is wrong, in 10^9 */
	const struct study_map_class *classes;
	uint32_t n_classes;
	bool (*stop)(void); /* NULL: never */
};

/* What is done about a part that was named. */
enum study_map_policy {
	STUDY_MAP_NONE,	  /* nothing: the fault lasts until it is repaired */
	STUDY_MAP_ADVICE, /* the policy's advice, followed a minute later */
	STUDY_MAP_ACT,	  /* what mrcd does with map.policy = "act" and its other defaults */
	STUDY_MAP_POLICIES
};
extern const char *const study_map_policy_names[STUDY_MAP_POLICIES];

/* That hosts below a part denied it themselves. */
struct study_map_denial {
	enum study_map_policy policy;
	uint32_t host; /* one of them */
	struct mm_part part;
	uint32_t fault;		 /* UINT32_MAX: the part was not at fault */
	uint64_t from_ns, to_ns; /* to: UINT64_MAX while it is denied */
};

struct study_map_result {
	struct study_map_fault *fault; /* by when they came; study_map_fini frees them */
	uint32_t n_faults;
	struct study_map_denial *denial; /* by when they began; freed with the faults */
	uint32_t n_denials;
	uint32_t misnamed; /* another part that shares links with one at fault was named */
	uint32_t false_accusations;
	uint64_t routes, routes_most; /* of all hosts, and of one */
	uint64_t reports, judgements;
	uint64_t passed_ns; /* of the horizon */
};

/*
 * study_map_hour goes through it. 0; ENOMEM; E2BIG: more than STUDY_MAP_FAULTS_MAX faults; EINTR:
 * stop said so, *r has what passed.
 */
int study_map_hour(const struct study_map_cfg *cfg, struct study_map_result *r);
void study_map_fini(struct study_map_result *r);

/* ---- what a job gains: map_pace.c ---- */

/*
 * study_map_pace returns the share of full pace at which a job goes between two times that waits
 * for its slowest rank: at the pace of the worst fault that lasts and is not denied, or of the
 * worst denial, less what each fault costs once. A denial of what was not at fault costs nothing.
 */
double study_map_pace(const struct study_map_cfg *cfg, const struct study_map_result *r,
		      enum study_map_policy policy, uint64_t from_ns, uint64_t to_ns);

/* ---- routes of the fabric: map_fabric.c ---- */

/* All routes of all hosts, and which cross each directed link. */
struct study_map_fabric {
	const struct mf_topology *t;
	struct mm_route_of *route;
	uint32_t routes, most; /* of all hosts; of one */
	uint32_t *first;       /* n_links + 1: where in `over` those of a link begin */
	uint32_t *over;
};

/* study_map_fabric_init plans for all hosts. 0 or ENOMEM. */
int study_map_fabric_init(struct study_map_fabric *f, const struct mf_topology *t,
			  uint32_t watchers);
void study_map_fabric_fini(struct study_map_fabric *f);

/* ---- faults: map_faults.c ---- */

/* study_map_faults draws those of the horizon, in order. 0, ENOMEM or E2BIG: too many. */
int study_map_faults(const struct study_map_cfg *cfg, struct study_map_result *r);
/* study_map_plane returns the plane of a part; a cable's or a switch's. */
uint32_t study_map_plane(const struct mf_topology *t, const struct mm_part *part);

#endif
