/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_trains.h - private to this module: when trains may leave. Two that meet on a link hold each
 * other up, and what is well seems slow. So the probers of one process know which links have a
 * train, and one whose way is not free waits for the next turn of its route. Pure.
 */
#ifndef SOFTMRC_PROBER_PROBE_TRAINS_H
#define SOFTMRC_PROBER_PROBE_TRAINS_H

#include "prober/probe_streams.h"

/*
 * probe_trains_slow_ns returns how long a train takes at the rate that every link is sure to have;
 * 0: nothing is called slow, for that rate is not known or the machine takes as long to send one.
 */
uint64_t probe_trains_slow_ns(const struct probe_host_cfg *cfg);
/* probe_trains_has says whether there are trains of a stream. */
bool probe_trains_has(const struct probe_stream *s);
/*
 * probe_trains_has_turn says whether a stream is to send one when its way is free: the plan has it
 * send one, which is noted in it, or it has had none and one that is spare may go before that.
 */
bool probe_trains_has_turn(struct probe_stream *s, const struct probe_host_cfg *cfg,
			   const struct probe_streams *streams);
/* probe_trains_has_way says whether no link of a route has a train in a step. */
bool probe_trains_has_way(const struct probe_common *c, const struct mm_route_of *of,
			  uint64_t step);
/* probe_trains_take_way says that a train leaves over the links of a route in a step. */
void probe_trains_take_way(struct probe_common *c, const struct probe_host_cfg *cfg,
			   const struct mm_route_of *of, uint64_t step);

#endif
