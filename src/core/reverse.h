/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reverse.h - by which EVs answers go back.
 *
 * A path set keeps one EV of each plane that is known to have reached the peer: data sent on it
 * were acknowledged, or a probe on it was answered. Who sends data learns this by the way. Who only
 * receives tests a random EV each round trip, of one plane after the other, as long as something
 * arrives; there is no timer. What one QP learns serves all that share the set.
 * See docs/design/0013-ways-back.md.
 */
#ifndef SOFTMRC_CORE_REVERSE_H
#define SOFTMRC_CORE_REVERSE_H

#include "base/prng.h"
#include "core/path_set.h"

/*
 * A round trip is at least so many times the shortest wait for an answer: tests are to be few
 * beside the data, whose receiver may be busy.
 */
#define MT_REVERSE_WAITS 32u

/* mt_reverse_proved: something sent on this path has reached the peer. */
static inline void mt_reverse_proved(struct mt_path_set *s, uint16_t path)
{
	s->ports[s->paths[path].port].reverse = path;
}

/* mt_reverse_of returns that path of a port while it may be used, else MT_PATH_NONE. */
static inline uint16_t mt_reverse_of(const struct mt_path_set *s, uint32_t port)
{
	uint16_t path = s->ports[port].reverse;

	return path != MT_PATH_NONE && mt_path_usable(&s->paths[path]) && mt_path_open(s, path)
		       ? path
		       : MT_PATH_NONE;
}

/* mt_reverse_later puts the next test off for a round trip, as the set or else timing knows it. */
static inline void mt_reverse_later(struct mt_path_set *s, const struct mt_timing *t,
				    uint64_t now_ns)
{
	uint64_t wait_ns = MT_REVERSE_WAITS * t->tail_probe_min_ns;

	s->reverse_next_ns = now_ns + (s->probe_rtt_ns < wait_ns ? wait_ns : s->probe_rtt_ns);
}

/* mt_reverse_candidate returns a random path of the plane whose turn it is; MT_PATH_NONE: none. */
uint16_t mt_reverse_candidate(struct mt_path_set *s, struct mb_prng *prng);

#endif
