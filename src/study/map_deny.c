/* SPDX-License-Identifier: BSD-2-Clause */
/* map_deny.c - what hosts deny themselves: see map_deny.h. */
#include "study/map_deny.h"

#include "fabric/fabric_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define S_NS UINT64_C(1000000000)
/* Somebody who follows advice does so a minute after it was given. */
#define ADVICE_NS (60 * S_NS)

int study_map_deny_init(struct study_map_deny *d, const struct mf_topology *t)
{
	*d = (struct study_map_deny){.t = t, .out = malloc(mf_ev_count(t))};
	return d->out ? 0 : ENOMEM;
}

void study_map_deny_fini(struct study_map_deny *d)
{
	for (uint32_t i = 0; i < d->n; i++)
		free(d->denier[i]);
	free(d->denier);
	free(d->out);
	*d = (struct study_map_deny){0};
}

/* ---- who decides ---- */

/* A host that has a part on its way up. False: nobody denies such a part. */
static bool host_below(const struct mf_topology *t, const struct mm_part *part, uint32_t *host)
{
	struct mf_link link;
	struct mf_node node;

	*host = 0;
	if (part->kind == MM_CABLE) {
		link = mf_link_at(t, part->id << 1);
		*host = link.kind == MF_HOST_T0 ? link.lower : link.lower * t->cfg.hosts_per_t0;
	} else if (part->kind == MM_SWITCH || part->kind == MM_TRANSCEIVER) {
		node = mf_node_at(t, part->id);
		*host = node.tier == MF_T0 ? node.index * t->cfg.hosts_per_t0 : 0;
	}
	return part->kind != MM_HOST && part->kind != MM_WITNESS;
}

static int add_denier(struct study_map_deny *d, uint32_t host)
{
	struct mm_policy_cfg cfg = {host, MM_POLICY_DENY_AFTER_USUAL_NS,
				    MM_POLICY_RETURN_AFTER_USUAL_NS, MM_POLICY_SHARE_USUAL};
	struct study_map_denier *one;

	for (uint32_t i = 0; i < d->n; i++)
		if (d->denier[i]->host == host)
			return 0;
	if (d->n == d->room) {
		uint32_t more = d->room ? 2 * d->room : 16;
		struct study_map_denier **grown =
			realloc(d->denier, more * sizeof(struct study_map_denier *));

		if (!grown)
			return ENOMEM;
		d->denier = grown;
		d->room = more;
	}
	one = calloc(1, sizeof(*one));
	if (!one)
		return ENOMEM;
	one->host = host;
	mm_policy_init(&one->policy[STUDY_MAP_ACT], d->t, &cfg);
	cfg.deny_after_ns += ADVICE_NS;
	mm_policy_init(&one->policy[STUDY_MAP_ADVICE], d->t, &cfg);
	d->denier[d->n++] = one;
	return 0;
}

static void forget_idle(struct study_map_deny *d)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < d->n; i++) {
		struct study_map_denier *one = d->denier[i];

		if (one->policy[STUDY_MAP_ACT].n_parts || one->policy[STUDY_MAP_ADVICE].n_parts)
			d->denier[kept++] = one;
		else
			free(one);
	}
	d->n = kept;
}

/* ---- what they decide ---- */

static void sum_up(struct study_map_deny *d, const struct mm_policy *p)
{
	memset(d->out, 0, mf_ev_count(d->t));
	for (uint32_t i = 0; i < p->n_parts; i++)
		for (uint32_t n = 0; p->part[i].state == MM_POLICY_DENIED && n < mf_ev_count(d->t);
		     n++)
			d->out[n] |=
				mm_policy_touches(p, &p->part[i].sick.part, mf_ev_nth(d->t, n));
}

static int list_denial(struct study_map_result *r, const struct study_map_denial *one)
{
	struct study_map_denial *grown =
		realloc(r->denial, (r->n_denials + (size_t)1) * sizeof(*grown));

	if (!grown)
		return ENOMEM;
	r->denial = grown;
	r->denial[r->n_denials++] = *one;
	return 0;
}

static void end_denial(struct study_map_result *r, const struct study_map_denial *of)
{
	for (uint32_t i = 0; i < r->n_denials; i++) {
		struct study_map_denial *one = &r->denial[i];

		if (one->policy == of->policy && one->host == of->host &&
		    one->to_ns == UINT64_MAX && mm_part_same(&one->part, &of->part))
			one->to_ns = of->to_ns;
	}
}

/* One decision of a host: it is made, and listed. */
static int decide(const struct study_map_look *look, const struct study_map_denier *by,
		  enum study_map_policy policy, const struct mm_policy_part *part)
{
	struct study_map_denial one = {.policy = policy,
				       .host = by->host,
				       .part = part->sick.part,
				       .from_ns = look->now_ns,
				       .to_ns = UINT64_MAX};

	if (part->state == MM_POLICY_DENIED) {
		one.to_ns = look->now_ns;
		end_denial(look->r, &one);
		return 0;
	}
	one.fault = look->fault_of(look->ctx, &one.part);
	return list_denial(look->r, &one);
}

static int look_at(struct study_map_deny *d, const struct study_map_look *look,
		   struct study_map_denier *by, enum study_map_policy policy)
{
	struct mm_policy *p = &by->policy[policy];
	struct mm_policy_part *part;
	int err = 0;

	mm_policy_see(p, look->sick, look->n_sick, look->cut, look->now_ns);
	if (p->n_parts == 0)
		return 0;
	sum_up(d, p);
	while (!err && (part = mm_policy_due(p, d->out, look->now_ns))) {
		err = decide(look, by, policy, part);
		mm_policy_done(p, part, true, look->now_ns);
		sum_up(d, p);
	}
	return err;
}

int study_map_deny_see(struct study_map_deny *d, const struct study_map_look *l)
{
	uint32_t host;
	int err = 0;

	for (size_t i = 0; i < l->n_sick && !err; i++)
		if (host_below(d->t, &l->sick[i].part, &host))
			err = add_denier(d, host);
	for (uint32_t i = 0; i < d->n && !err; i++) {
		err = look_at(d, l, d->denier[i], STUDY_MAP_ADVICE);
		if (!err)
			err = look_at(d, l, d->denier[i], STUDY_MAP_ACT);
	}
	forget_idle(d);
	return err;
}
