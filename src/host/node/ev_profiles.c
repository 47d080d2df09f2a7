/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_profiles.c - EV profiles of a state as the engine takes them: defined anew, or, where only EVs
 * have changed, one EV after the other, so that running QPs follow.
 */
#include <errno.h>
#include <string.h>

#include "host/node/profiles.h"

/* A profile in the state that it is part of. */
struct profile_view {
	const struct mn_state *s;
	const struct mn_ev_profile *p;
	const struct mn_ev *evs;
};

static struct profile_view view_of(const struct mn_state *s, uint32_t id)
{
	return (struct profile_view){s, &s->ev[id], &s->evs[s->ev[id].first]};
}

/* EV i of a profile as the engine has it. */
static struct mt_ev engine_ev(const struct mh_nic *nic, const struct profile_view *v, uint32_t i)
{
	const struct mn_ev *ev = &v->evs[i];
	uint32_t port = ev->port - 1u;

	return (struct mt_ev){
		.value = mh_ev_number_sent(&nic->env, port, mn_ev_number(v->s, v->p, ev)),
		.port = (uint8_t)port};
}

/* The list of an AUTO profile names those of the device's EVs that are denied. */
static bool list_denies(const struct mh_nic *nic, const struct profile_view *v,
			const struct mt_ev *ev)
{
	for (uint32_t k = 0; k < v->p->n_evs; k++) {
		const struct mn_ev *denied = &v->evs[k];
		uint32_t number;

		memcpy(&number, denied->val, sizeof(number));
		if (denied->port == ev->port + 1u &&
		    mh_ev_number_sent(&nic->env, ev->port, number) == ev->value)
			return true;
	}
	return false;
}

/*
 * What a profile is for this process: ports that the device has not, if the state was made for
 * another, make it unusable here.
 */
static uint16_t engine_evs(const struct mh_nic *nic, const struct profile_view *v,
			   struct mt_ev evs[MT_EVS_MAX])
{
	uint16_t own = mh_engine_evs(&nic->env, evs);

	if (v->p->mode == MN_MODE_AUTO)
		return v->p->count && v->p->count < own ? (uint16_t)v->p->count : own;
	for (uint32_t i = 0; i < v->p->n_evs; i++) {
		if (v->evs[i].port < 1 || v->evs[i].port > nic->env.n_ports)
			return 0;
		evs[i] = engine_ev(nic, v, i);
	}
	return (uint16_t)v->p->n_evs;
}

static bool is_denied(const struct mh_nic *nic, const struct profile_view *v,
		      const struct mt_ev *ev, uint32_t i)
{
	return v->p->mode == MN_MODE_AUTO ? list_denies(nic, v, ev) : v->evs[i].denied;
}

uint32_t mh_node_ev_denied(const struct mh_nic *nic, uint32_t profile, bool denied[MT_EVS_MAX])
{
	struct profile_view v = view_of(&nic->node->now, profile);
	struct mt_ev evs[MT_EVS_MAX];
	uint32_t n = engine_evs(nic, &v, evs);

	for (uint32_t i = 0; i < n; i++)
		denied[i] = is_denied(nic, &v, &evs[i], i);
	return n;
}

/*
 * Those that are allowed again come first, or the last one that was allowed before could not be
 * denied. That one stays in use, whatever the state says: it may be of a device with more EVs.
 */
static int apply_denials(struct mh_nic *nic, uint32_t id, const struct profile_view *v,
			 const struct mt_ev *evs, uint16_t n)
{
	int result = MT_OK;

	for (int deny = 0; deny < 2; deny++)
		for (uint16_t i = 0; i < n && result != MT_ERR_MEMORY; i++) {
			if (is_denied(nic, v, &evs[i], i) != (deny != 0))
				continue;
			MH_ENGINE_CALL(nic, result,
				       mt_ev_profile_deny(nic->engine, id, i, deny != 0));
			/* Datagrams have the device's own EVs. */
			if (id == MN_OWN_PROFILE)
				mu_path_deny(nic->ud, i, deny != 0);
		}
	return result == MT_ERR_MEMORY ? ENOMEM : 0;
}

static int define(struct mh_nic *nic, uint32_t id, const struct profile_view *v)
{
	struct mt_ev evs[MT_EVS_MAX];
	struct mt_ev_profile_cfg cfg;
	uint16_t n = engine_evs(nic, v, evs);
	int result;

	if (n == 0) {
		mt_ev_profile_clear(nic->engine, id);
		return 0;
	}
	mh_engine_ev_cfg(&nic->env, evs, n, &cfg);
	if (v->p->min_active)
		cfg.min_active = (uint16_t)(v->p->min_active < n ? v->p->min_active : n);
	MH_ENGINE_CALL(nic, result, mt_ev_profile_set(nic->engine, id, &cfg));
	return result == MT_OK ? apply_denials(nic, id, v, evs, n) : mh_engine_errno(result);
}

/* A profile whose EVs keep their places and ports is followed by the QPs that use it. */
static bool is_same_shape(const struct profile_view *a, const struct profile_view *b)
{
	if (a->p->mode != b->p->mode || a->p->count != b->p->count ||
	    a->p->min_active != b->p->min_active)
		return false;
	for (uint32_t i = 0; a->p->mode != MN_MODE_AUTO && i < a->p->n_evs; i++)
		if (a->evs[i].port != b->evs[i].port)
			return false;
	return true;
}

static int follow(struct mh_nic *nic, uint32_t id, const struct profile_view *was,
		  const struct profile_view *v)
{
	struct mt_ev evs[MT_EVS_MAX], old[MT_EVS_MAX];
	uint16_t n = engine_evs(nic, v, evs);

	if (n == 0 || engine_evs(nic, was, old) != n)
		return define(nic, id, v);
	for (uint16_t i = 0; i < n; i++)
		if (evs[i].value != old[i].value)
			mt_ev_profile_replace(nic->engine, id, i, evs[i].value);
	return apply_denials(nic, id, v, evs, n);
}

static bool is_same(const struct profile_view *a, const struct profile_view *b)
{
	return a->p->n_evs == b->p->n_evs &&
	       memcmp(a->evs, b->evs, a->p->n_evs * sizeof(*a->evs)) == 0 &&
	       a->p->fmt == b->p->fmt && a->p->n_fields == b->p->n_fields &&
	       memcmp(a->p->field, b->p->field, sizeof(a->p->field)) == 0 &&
	       memcmp(&a->s->fmt[a->p->fmt], &b->s->fmt[b->p->fmt], sizeof(a->s->fmt[0])) == 0;
}

int mh_ev_profile_apply(struct mh_nic *nic, uint32_t id, const struct mn_state *now,
			const struct mn_state *next)
{
	struct profile_view was = view_of(now, id), v = view_of(next, id);

	if (v.p->state != MN_ONLINE) {
		if (was.p->state == MN_ONLINE)
			mt_ev_profile_clear(nic->engine, id);
		return 0;
	}
	if (was.p->state != MN_ONLINE || !is_same_shape(&was, &v))
		return define(nic, id, &v);
	return is_same(&was, &v) ? 0 : follow(nic, id, &was, &v);
}
