/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_turns.h - private to this module: whose turn it is to send a train over what may be slow.
 * Two trains that meet on a link hold each other up, so each step has its own of the hosts that
 * share in a link, and its own kind of routes. Hosts that take their steps together keep out of
 * each other's way without a word. Pure.
 *
 * - One host after the other sends what its doubts want: in turns of three a train to a switch and
 *   back, which tells cables apart, one to a neighbour, which tells the directions of a host's
 *   cable, and one that goes round, which tells those of cables between switches. A kind that has
 *   nothing to tell gives its turn to the next.
 * - While it is the hosts of other T0s that do so, hosts of a T0 ask neighbours, all at once: each
 *   another one, so that no two of these trains meet.
 */
#ifndef SOFTMRC_PROBER_PROBE_TURNS_H
#define SOFTMRC_PROBER_PROBE_TURNS_H

#include "prober/probe_streams.h"

enum probe_turn_kind { PROBE_TURN_SHORT, PROBE_TURN_PEER, PROBE_TURN_ROUND, PROBE_TURN_KINDS };

/* Zeros: the first turn comes first. */
struct probe_turns {
	enum probe_turn_kind kind;	 /* that is next */
	uint32_t next[PROBE_TURN_KINDS]; /* the stream to begin with */
};

/*
 * probe_turns_take returns the stream of a host that is to send a train in a step, or NULL; the
 * next time it is another's turn.
 */
struct probe_stream *probe_turns_take(struct probe_turns *turns, const struct probe_host_cfg *cfg,
				      const struct probe_streams *streams,
				      const struct mm_doubts *doubts, uint64_t step);

#endif
