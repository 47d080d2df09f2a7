/* SPDX-License-Identifier: BSD-2-Clause */
/* drain_plan.c - which EVs a drained part takes from which host, and who is left: see drain.h. */
#include "cli/lab/drain.h"

void drain_set_part(const struct mf_topology *t, const struct mf_target *part,
		    struct drain_set *set)
{
	for (uint32_t host = 0; host < set->hosts; host++)
		for (uint32_t n = 0; n < set->evs; n++)
			if (mf_ev_uses_part(t, host, mf_ev_nth(t, n), part))
				drain_set_of(set, host)[n] = 1;
}

bool drain_same_part(const struct mf_topology *t, const struct mf_target *a,
		     const struct mf_target *b)
{
	return a->kind == b->kind && a->links == b->links &&
	       mf_target_link(t, a, 0) >> 1 == mf_target_link(t, b, 0) >> 1;
}

static bool path_works(const struct mf_topology *t, const struct mf_pair *pair, uint32_t ev,
		       const bool *broken)
{
	for (uint32_t hop = 0; hop < mf_pair_links(pair); hop++) {
		uint32_t link = mf_path_link(t, pair, ev, hop);

		if (broken[link] || broken[mf_link_reverse(link)])
			return false;
	}
	return true;
}

static bool any_left(const struct mf_topology *t, const struct drain_set *denied,
		     const bool *broken, const struct mf_pair *pair)
{
	const uint8_t *own = drain_set_of(denied, pair->src);

	for (uint32_t n = 0; n < denied->evs; n++)
		if (!own[n] && path_works(t, pair, mf_ev_nth(t, n), broken))
			return true;
	return false;
}

bool drain_set_ends(const struct mf_topology *t, const struct drain_set *before,
		    const struct drain_set *after, const bool *broken, uint32_t *src, uint32_t *dst)
{
	for (*src = 0; *src < after->hosts; ++*src)
		for (*dst = 0; *dst < after->hosts; ++*dst) {
			struct mf_pair pair = mf_pair_of(t, *src, *dst);

			if (*src != *dst && !any_left(t, after, broken, &pair) &&
			    any_left(t, before, broken, &pair))
				return true;
		}
	return false;
}
