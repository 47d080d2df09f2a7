/* SPDX-License-Identifier: BSD-2-Clause */
/* ecmp_routing.c - see worker.h. */
#include "sim/kernel/worker.h"

#include <stdlib.h>

/* ---- what is known ---- */

bool ms_routing_add_change(struct ms_net *net, const struct ms_fault *f)
{
	struct ms_routing *r = &net->routing;
	const struct ms_route_change change = {
		.at_ps = f->at_ps + net->cfg.reconverge_ps,
		.link = f->link,
		.down = f->kind == MS_FAULT_DOWN,
	};

	if (f->kind != MS_FAULT_DOWN && f->kind != MS_FAULT_UP)
		return true;
	if (!r->dead)
		r->dead = calloc(net->units.t.n_links, sizeof(*r->dead));
	return r->dead && ms_grow_add(&r->change, &change);
}

static void apply_change(struct ms_routing *r, const struct ms_route_change *c)
{
	uint16_t *dead = &r->dead[c->link];

	if (c->down) {
		r->n_dead += *dead == 0;
		++*dead;
	} else if (*dead > 0) {
		--*dead;
		r->n_dead -= *dead == 0;
	}
}

/* REQ(sim.ecmp.reconverge) */
void ms_routing_apply_changes(struct ms_net *net)
{
	struct ms_routing *r = &net->routing;
	uint64_t now_ps = net->window * net->window_ps;

	while (r->first < r->change.n && r->change.at[r->first].at_ps <= now_ps)
		apply_change(r, &r->change.at[r->first++]);
	if (r->first == r->change.n)
		r->first = r->change.n = 0;
}

/* ---- the choice ---- */

/* A destination, as a switch sees it. */
struct dst {
	uint32_t plane, t0, pod;
};

static bool is_link_dead(const struct ms_net *net, uint32_t link)
{
	return net->routing.dead[link] > 0;
}

/* Whether a T1 reaches the T1 of its number in the destination's pod by its uplink v. */
static bool over_t2(const struct ms_net *net, const struct dst *d, uint32_t t1, uint32_t v)
{
	const struct mf_topology *t = &net->units.t;
	uint32_t far = d->pod * t->cfg.t1s + t1 % t->cfg.t1s;

	return !is_link_dead(net, mf_link_t1_t2(t, d->plane, t1, v, false)) &&
	       !is_link_dead(net, mf_link_t1_t2(t, d->plane, far, v, true));
}

/* Whether a T0 reaches the destination's T0 by its uplink k. */
static bool over_t1(const struct ms_net *net, const struct dst *d, uint32_t t0, uint32_t k)
{
	const struct mf_topology *t = &net->units.t;
	uint32_t pod = mf_t0_pod(t, t0);

	if (is_link_dead(net, mf_link_t0_t1(t, d->plane, t0, k, false)) ||
	    is_link_dead(net, mf_link_t0_t1(t, d->plane, d->t0, k, true)))
		return false;
	if (pod == d->pod)
		return true;
	for (uint32_t v = 0; v < t->cfg.t1_uplinks; v++)
		if (over_t2(net, d, pod * t->cfg.t1s + k, v))
			return true;
	return false;
}

static bool is_uplink_alive(const struct ms_net *net, const struct ms_unit *unit,
			    const struct dst *d, uint32_t uplink)
{
	return unit->tier == MF_T0 ? over_t1(net, d, unit->index, uplink)
				   : over_t2(net, d, unit->index, uplink);
}

/* One of n, evenly, by 32 random bits. */
static uint32_t one_of(uint32_t hash, uint32_t n)
{
	return (uint32_t)((uint64_t)hash * n >> 32);
}

static uint32_t among_alive(const struct ms_net *net, const struct ms_unit *unit,
			    const struct ms_packet *p, uint32_t hash, uint32_t n)
{
	const struct mf_topology *t = &net->units.t;
	struct dst d = {.plane = unit->plane, .t0 = mf_host_t0(t, p->dst)};
	uint32_t count = 0, chosen;

	d.pod = mf_t0_pod(t, d.t0);
	for (uint32_t i = 0; i < n; i++)
		count += is_uplink_alive(net, unit, &d, i);
	if (count == 0)
		return one_of(hash, n);
	chosen = one_of(hash, count);
	for (uint32_t i = 0; i < n; i++)
		if (is_uplink_alive(net, unit, &d, i) && chosen-- == 0)
			return i;
	return 0;
}

/* REQ(sim.ecmp.hash) */
uint32_t ms_ecmp_uplink(const struct ms_net *net, const struct ms_unit *unit,
			const struct ms_packet *p)
{
	uint32_t n = unit->ports - unit->downlinks;
	uint64_t own = ms_mix(net->cfg.seed ^ unit->first_port * UINT64_C(0x9E3779B97F4A7C15));
	uint32_t hash = (uint32_t)(ms_mix(own ^ p->ev) >> 32);

	return net->routing.n_dead ? among_alive(net, unit, p, hash, n) : one_of(hash, n);
}
