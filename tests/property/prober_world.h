/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prober_world.h - the probers of all hosts of a fabric and the map that they fill, as `mrc map`
 * has them, on a network that this is: packets take time, wait behind others and come to harm. It
 * has a clock of its own, so that how long a name takes does not depend on the machine.
 *
 * Programs that use it wrap the sockets of the prober (property/map.cmake).
 */
#ifndef PROPERTY_PROBER_WORLD_H
#define PROPERTY_PROBER_WORLD_H

#include "../unit/fabric_fixture.h"

#include "map/map.h"

/* What the links of a target do in one direction or both. */
struct prober_fault {
	const char *target;
	enum mf_direction direction;
	enum mm_symptom symptom;
	uint32_t ppm;	/* of the packets; of MM_SLOWED none */
	uint64_t bit_s; /* of MM_SLOWED: what a link carries */
};

/*
 * prober_world_begin makes one of a preset, as a lab with that pace, in which a route is probed
 * once in so many steps at least; prober_world_begin_at one whose hosts may send so much as probes;
 * prober_world_end frees it.
 */
void prober_world_begin(const char *preset, uint64_t pace_bit_s, uint32_t steps_least);
void prober_world_begin_at(const char *preset, uint64_t pace_bit_s, uint32_t steps_least,
			   uint64_t rate_bit_s);
void prober_world_end(void);
void prober_world_fault(const struct prober_fault *fault);
/* prober_world_pause lets time pass in which nobody gets to do anything. */
void prober_world_pause(uint64_t ns);
/*
 * prober_world_step lets 10 ms pass, more where sending took longer, and returns what is sick then,
 * *n of them.
 */
const struct mm_sick *prober_world_step(size_t *n);
const struct mf_topology *prober_world_topology(void);

#endif
