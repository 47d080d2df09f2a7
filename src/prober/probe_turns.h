/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_turns.h - private to this module: whose turn it is to send a train over what may be slow.
 * Two trains that meet on a link hold each other up, so each step has its own kind of routes, by
 * which hosts that take their steps together keep out of each other's way. Pure.
 *
 * - To a switch and back, which tells cables apart: all hosts at once, those of a T0 by different
 *   uplinks.
 * - To a neighbour, which tells the directions of a host's cable: all at once, each another one;
 *   twice as often as the others, for it takes three of these to be sure.
 * - Round by way of another T0, which tells the directions of cables between switches: one host,
 *   and where there are but two T0s and two T1s to go up and down by one of each T0: both go up by
 *   the same T1, and so meet on no link.
 *
 * Kinds that have nothing to tell have no steps. Which kind a step has is decided for all hosts by
 * the first that asks.
 */
#ifndef SOFTMRC_PROBER_PROBE_TURNS_H
#define SOFTMRC_PROBER_PROBE_TURNS_H

#include "prober/probe_streams.h"

/*
 * probe_turns_take returns the stream of a host that is to send a train in a step, or NULL.
 * next[] is the host's own: the streams to begin with, zeros at first.
 */
struct probe_stream *probe_turns_take(uint32_t next[PROBE_TURN_KINDS],
				      const struct probe_host_cfg *cfg,
				      const struct probe_streams *streams,
				      struct probe_common *common, uint64_t step);

#endif
