/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_spare.h - private to this module: what a host may send beside its plan, for what is in
 * doubt. It is what the plan leaves of the host's rate, saved up for half a second: in any time a
 * host sends no more than its rate, and half a second of it once. Pure.
 */
#ifndef SOFTMRC_PROBER_PROBE_SPARE_H
#define SOFTMRC_PROBER_PROBE_SPARE_H

#include "prober/probe_streams.h"

struct probe_spare {
	uint64_t bytes;
};

/* probe_spare_step_bytes returns what may be sent in a step at so many bits a second. */
uint64_t probe_spare_step_bytes(uint64_t bit_s);
/* probe_spare_init begins with all that can be saved up: nothing was sent before. */
void probe_spare_init(struct probe_spare *s, const struct probe_host_cfg *cfg);
/* probe_spare_step adds what the plan leaves of a step. */
void probe_spare_step(struct probe_spare *s, const struct probe_host_cfg *cfg, uint64_t plan_bit_s);
/* probe_spare_take takes so many bytes. False: there are fewer, and none were taken. */
bool probe_spare_take(struct probe_spare *s, uint64_t bytes);

/* probe_spare_is_short says of a route that it goes to a switch and back: those tell most. */
bool probe_spare_is_short(const struct mm_route_of *of);
/*
 * probe_spare_pairs returns how many pairs of a route in doubt may leave in a step beside that of
 * the plan: 22 where it is short, two to a neighbour, four where it goes round; where there are but
 * two T0s and two T1s seven to the T0 and ten where it goes round; and where the rate of links is
 * known no more than a quarter of one for all that cross it together.
 */
uint32_t probe_spare_pairs(const struct probe_host_cfg *cfg, const struct mm_route_of *of);

#endif
