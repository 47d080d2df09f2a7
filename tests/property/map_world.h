/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map_world.h - a fabric that loses packets as it is told to, hosts that probe it by the plan, and
 * the map that they feed. Packets are dice: each link has shares for what it does to them.
 */
#ifndef PROPERTY_MAP_WORLD_H
#define PROPERTY_MAP_WORLD_H

#include "support/test.h"

#include "map/map.h"
#include "map/probe_plan.h"

#define WORLD_STEP_NS UINT64_C(10000000)
#define WORLD_ROUTES 4096u
#define WORLD_SICK 64u
#define WORLD_LATE 8u

/* What a host does beside telling the truth. */
enum world_host { WORLD_HONEST, WORLD_SILENT, WORLD_CRIES, WORLD_HIDES };

struct map_world {
	struct mf_topology t;
	struct mm_map *map;
	struct mm_route_of *route;
	uint32_t *number; /* of the route in the map */
	size_t routes;
	uint32_t *ppm[MM_SYMPTOMS]; /* by link */
	uint32_t background_ppm;
	enum world_host *host;
	uint32_t *late;		   /* steps by which a host's reports come late, below WORLD_LATE */
	struct mm_counts *waiting; /* WORLD_LATE for each route */
	uint32_t steps;
	uint64_t now_ns;
	struct mm_sick sick[WORLD_SICK];
	size_t n_sick;
};

void world_init(struct map_world *w, const struct mf_topology *t, uint32_t watchers);
void world_fini(struct map_world *w);
/* Lets the links of a target do something to a share of their packets. */
void world_fault(struct map_world *w, const char *target, enum mm_symptom symptom,
		 enum mf_direction direction, uint32_t ppm);
/* Ten milliseconds: each route has so many probes; then the map judges. */
void world_step(struct map_world *w, uint32_t probes);
/* Steps until a part of this name is called this, at most so often. Returns the steps; 0: never. */
uint32_t world_until(struct map_world *w, const char *name, enum mm_kind kind, uint32_t steps,
		     uint32_t probes);
/* The one of this name that is sick, or NULL. */
const struct mm_sick *world_find(const struct map_world *w, const char *name);
/* Fails with all that is sick, in words. */
_Noreturn void world_fail(const struct map_world *w, const char *what);

#endif
