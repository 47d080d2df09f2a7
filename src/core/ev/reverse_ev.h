/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reverse_ev.h - by which EVs answers go back.
 *
 * A path set keeps one EV of each plane that is known to have reached the peer: data sent on it
 * were acknowledged, or a probe on it was answered. Who sends data learns this by the way. Who only
 * receives tests a random EV each round trip, of one plane after the other, as long as something
 * arrives; there is no timer. What one QP learns serves all that share the set.
 * See docs/design/0013-ways-back.md.
 */
#ifndef SOFTMRC_CORE_EV_REVERSE_EV_H
#define SOFTMRC_CORE_EV_REVERSE_EV_H

#include "base/prng.h"
#include "core/ev/ev_set.h"

/*
 * A round trip is at least so many times the shortest wait for an answer: tests are to be few
 * beside the data, whose receiver may be busy.
 */
#define MT_REVERSE_EV_WAITS 32u

/* mt_reverse_ev_set: something sent on this path has reached the peer. */
static inline void mt_reverse_ev_set(struct mt_ev_set *s, uint16_t ev)
{
	s->ports[s->evs[ev].port].reverse_ev = ev;
}

/* mt_reverse_ev_get returns that path of a port while it may be used, else MT_EV_NONE. */
static inline uint16_t mt_reverse_ev_get(const struct mt_ev_set *s, uint32_t port)
{
	uint16_t ev = s->ports[port].reverse_ev;

	return ev != MT_EV_NONE && mt_ev_is_usable(&s->evs[ev]) && mt_ev_is_open(s, ev)
		       ? ev
		       : MT_EV_NONE;
}

/* mt_reverse_ev_postpone puts the next test off for a round trip, as the set or else timing knows
 * it. */
static inline void mt_reverse_ev_postpone(struct mt_ev_set *s, const struct mt_timing *t,
					  uint64_t now_ns)
{
	uint64_t wait_ns = MT_REVERSE_EV_WAITS * t->tail_probe_min_ns;

	s->reverse_ev_next_ns = now_ns + (s->probe_rtt_ns < wait_ns ? wait_ns : s->probe_rtt_ns);
}

/* mt_reverse_ev_candidate returns a random path of the plane whose turn it is; MT_EV_NONE: none. */
uint16_t mt_reverse_ev_candidate(struct mt_ev_set *s, struct mb_prng *prng);

#endif
