/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_profiles.c - what a controller changes of an EV profile while QPs use it.
 *
 * A profile says what its sets are made of. Those that are there follow here: EVs keep their index,
 * which the windows of QPs refer to, so nothing in flight notices.
 */
#include <string.h>

#include "base/assert.h"
#include "core/endpoint/endpoint.h"
#include "core/engine.h"

static struct mt_ev_profile *find_ev(struct mt_engine *e, uint32_t id, uint32_t i)
{
	struct mt_ev_profile *p;

	if (id >= e->cfg.max_profiles)
		return NULL;
	p = &e->ev_profiles[id];
	return p->cfg.evs && i < p->cfg.n_evs ? p : NULL;
}

/* Sets that were made of the profile as it was defined last; earlier ones have EVs of their own. */
static bool set_follows(const struct mt_ev_set *s, const struct mt_ev_profile *p)
{
	return s->shared == p->shared;
}

static bool is_last_allowed(const struct mt_ev_profile *p, uint16_t ev)
{
	uint32_t allowed = 0;

	for (uint16_t i = 0; i < p->cfg.n_evs; i++)
		allowed += i != ev && !mt_ev_profile_denies(p, i);
	return allowed == 0;
}

/* What says which EVs are denied is made when the first is; false: there is no memory for it. */
static bool has_denials(struct mt_engine *e, struct mt_ev_profile *p)
{
	size_t bytes = mt_ev_denied_bytes(p->cfg.n_evs);

	if (p->denied)
		return true;
	p->denied = mt_engine_alloc(e, bytes);
	if (!p->denied)
		return false;
	memset(p->denied, 0, bytes);
	return true;
}

/*
 * The profile changes last: what found no memory is done again, and denying an EV twice is once.
 */
int mt_ev_profile_deny(struct mt_engine *e, uint32_t id, uint32_t i, bool deny)
{
	struct mt_ev_profile *p = find_ev(e, id, i);
	uint16_t ev = (uint16_t)i;

	if (!p)
		return MT_ERR_INVALID;
	if (mt_ev_profile_denies(p, ev) == deny)
		return MT_OK;
	if (deny && is_last_allowed(p, ev))
		return MT_ERR_STATE;
	if (!has_denials(e, p))
		return MT_ERR_MEMORY;
	for (struct mb_link *l = e->ev_sets.next; l != &e->ev_sets; l = l->next) {
		struct mt_ev_set *s = mb_container_of(l, struct mt_ev_set, link);
		int r = set_follows(s, p) ? mt_ev_sets_deny(e, s, ev, deny) : MT_OK;

		if (r != MT_OK)
			return r;
	}
	if (deny)
		p->denied[ev / 64] |= UINT64_C(1) << ev % 64u;
	else
		p->denied[ev / 64] &= ~(UINT64_C(1) << ev % 64u);
	return MT_OK;
}

/* What was lost on the old path says nothing about the new one. */
static void forget_loss(struct mt_engine *e, struct mt_ev_set *s, uint16_t ev)
{
	struct mt_ev_change change = {.ev = ev, .state = MT_EV_GOOD, .cause = MT_EV_BY_OPERATOR};

	if (!mt_ev_clear_of_loss(s, ev))
		return;
	mt_engine_report_ev(e, s, &change);
	mt_ev_sets_arm_probes(e, s);
}

int mt_ev_profile_replace(struct mt_engine *e, uint32_t id, uint32_t i, uint32_t value)
{
	struct mt_ev_profile *p = find_ev(e, id, i);

	if (!p || p->cfg.is_static)
		return MT_ERR_INVALID;
	p->copy[i].value = value;
	if (!p->shared)
		return MT_OK;
	mt_ev_shared_set_value(p->shared, (uint16_t)i, value);
	for (struct mb_link *l = e->ev_sets.next; l != &e->ev_sets; l = l->next) {
		struct mt_ev_set *s = mb_container_of(l, struct mt_ev_set, link);

		if (set_follows(s, p))
			forget_loss(e, s, (uint16_t)i);
	}
	return MT_OK;
}

uint32_t mt_ev_profile_states(const struct mt_engine *e, uint32_t id, uint8_t *states)
{
	const struct mt_ev_profile *p;

	if (id >= e->cfg.max_profiles || !e->ev_profiles[id].cfg.evs)
		return 0;
	p = &e->ev_profiles[id];
	for (uint16_t i = 0; i < p->cfg.n_evs; i++)
		states[i] = mt_ev_profile_denies(p, i) ? MT_EV_DENIED : MT_EV_STATES;
	for (struct mb_link *l = e->ev_sets.next; l != &e->ev_sets; l = l->next) {
		const struct mt_ev_set *s = mb_container_of(l, struct mt_ev_set, link);

		if (!set_follows(s, p))
			continue;
		for (uint16_t i = 0; i < p->cfg.n_evs; i++)
			if (states[i] == MT_EV_STATES || states[i] == MT_EV_GOOD)
				states[i] = (uint8_t)mt_ev_state_of(s, i);
	}
	return p->cfg.n_evs;
}
