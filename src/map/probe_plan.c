/* SPDX-License-Identifier: BSD-2-Clause */
/* probe_plan.c - see probe_plan.h. */
#include "map/probe_plan.h"

#include <string.h>

#include "base/assert.h"
#include "base/prng.h"
#include "fabric/usid.h"

#define NS_PER_S UINT64_C(1000000000)

/* Equal inputs, equal answers, on every host. */
static uint64_t mix(uint64_t z)
{
	struct mb_prng r;

	mb_prng_init(&r, z);
	return mb_prng_u64(&r);
}

static uint64_t weight(uint32_t host, uint64_t what)
{
	return mix(mix(what) ^ host);
}

struct planning {
	const struct mf_topology *t;
	const struct mm_plan_cfg *cfg;
	uint32_t host;
	const bool *live;
	struct mm_route_of *out;
	size_t n, max;
	size_t of_plane;       /* where those of this plane begin */
	const uint8_t *shares; /* of the host's T0, or NULL: to be worked out */
};

/* What there is to share in on a T0: its uplinks on all planes, then its hosts as neighbours. */
static uint64_t shared_uplink(const struct mf_topology *t, uint32_t plane, uint32_t t0, uint32_t up)
{
	return mf_link_t0_t1(t, plane, t0, up, false);
}

static uint64_t shared_peer(uint32_t peer)
{
	return UINT64_C(2) << 32 | peer;
}

static size_t place_of(const struct mf_topology *t, uint32_t plane, uint32_t up)
{
	return ((size_t)plane * t->cfg.t1s + up) * t->cfg.hosts_per_t0;
}

/* Whether the host is among the watchers of what hosts first .. first + n - 1 could watch. */
static bool shares_in(const struct planning *p, uint64_t what, uint32_t first, uint32_t n,
		      uint32_t but)
{
	uint64_t own = weight(p->host, what);
	uint32_t before = 0;

	for (uint32_t h = first; h < first + n; h++) {
		uint64_t other;

		if (h == p->host || h == but || !p->live[h])
			continue;
		other = weight(h, what);
		before += other > own || (other == own && h < p->host);
	}
	return before < p->cfg->watchers;
}

/* The same, by what was worked out for all hosts of the T0. */
static bool shares_on_t0(const struct planning *p, uint64_t what, size_t place, uint32_t but)
{
	uint32_t own = p->t->cfg.hosts_per_t0, first = p->host / own * own;

	if (p->shares)
		return p->shares[place + (p->host - first)];
	return shares_in(p, what, first, own, but);
}

/* Two uplinks that are each other's return path make one route twice. */
static bool has(const struct planning *p, const uint32_t *link, uint32_t links)
{
	for (size_t i = p->of_plane; i < p->n && i < p->max; i++)
		if (p->out[i].links == links &&
		    memcmp(p->out[i].link, link, links * sizeof(*link)) == 0)
			return true;
	return false;
}

static void put(struct planning *p, uint32_t peer, const uint32_t *link, uint32_t links)
{
	struct mm_route_of *r;

	if (has(p, link, links) || p->n++ >= p->max)
		return;
	r = &p->out[p->n - 1];
	*r = (struct mm_route_of){.witness = p->host, .peer = peer, .links = links};
	for (uint32_t i = 0; i < links; i++)
		r->link[i] = link[i];
}

static void plan_t0(struct planning *p, uint32_t plane)
{
	uint32_t link[MM_ROUTE_LINKS];

	put(p, MM_NO_HOST, link,
	    mm_route_up(p->t, p->host, plane, &(struct mm_route_top){.tier = 0}, link));
}

static void plan_turn(struct planning *p, uint32_t plane, uint32_t up, uint32_t through,
		      uint32_t down)
{
	uint32_t link[MM_ROUTE_LINKS];

	put(p, MM_NO_HOST, link, mm_route_turn(p->t, p->host, plane, up, through, down, link));
}

static void plan_uplink(struct planning *p, uint32_t plane, uint32_t uplink)
{
	const struct mf_topology *t = p->t;
	uint32_t t0 = mf_host_t0(t, p->host), pod = mf_t0_pod(t, t0);
	uint32_t cable = mf_link_t0_t1(t, plane, t0, uplink, false);
	uint64_t draw = weight(p->host, UINT64_C(1) << 32 | cable);
	const struct mm_route_top top = {.tier = 1, .uplink = uplink};
	uint32_t link[MM_ROUTE_LINKS];
	uint32_t other, through;

	if (!shares_on_t0(p, shared_uplink(t, plane, t0, uplink), place_of(t, plane, uplink),
			  MM_NO_HOST))
		return;
	put(p, MM_NO_HOST, link, mm_route_up(t, p->host, plane, &top, link));
	if (t->cfg.t1s < 2 || t->cfg.t0s < 2)
		return;
	other = (uplink + 1 + (uint32_t)(draw >> 32) % (t->cfg.t1s - 1)) % t->cfg.t1s;
	through = t0 - pod * t->cfg.t0s;
	through = pod * t->cfg.t0s + (through + 1 + (uint32_t)draw % (t->cfg.t0s - 1)) % t->cfg.t0s;
	plan_turn(p, plane, uplink, through, other);
	plan_turn(p, plane, other, through, uplink);
}

/* The cables from the pod's T1s to T2s. */
static void plan_t2s(struct planning *p, uint32_t plane, uint32_t k, uint32_t v)
{
	const struct mf_topology *t = p->t;
	uint32_t t0 = mf_host_t0(t, p->host), pod = mf_t0_pod(t, t0);
	uint32_t cable = mf_link_t1_t2(t, plane, pod * t->cfg.t1s + k, v, false);
	const struct mm_route_top top = {.tier = 2, .uplink = k, .t1_uplink = v};
	uint32_t link[MM_ROUTE_LINKS];

	if (shares_in(p, cable, pod * t->hosts_per_pod, t->hosts_per_pod, MM_NO_HOST))
		put(p, MM_NO_HOST, link, mm_route_up(t, p->host, plane, &top, link));
}

static void plan_peer(struct planning *p, uint32_t peer)
{
	const struct mf_topology *t = p->t;
	uint32_t first = mf_host_t0(t, peer) * t->cfg.hosts_per_t0;

	if (!shares_on_t0(p, shared_peer(peer),
			  place_of(t, t->cfg.planes, 0) +
				  (size_t)(peer - first) * t->cfg.hosts_per_t0,
			  peer))
		return;
	for (uint32_t plane = 0; plane < t->cfg.planes; plane++) {
		uint32_t link[MM_ROUTE_LINKS];

		put(p, peer, link, mm_route_peer(t, p->host, plane, peer, link));
	}
}

size_t mm_plan_routes(const struct mf_topology *t, const struct mm_plan_cfg *cfg, uint32_t host,
		      const bool *live, struct mm_route_of *out, size_t max)
{
	return mm_plan_routes_by(t, cfg, host, live, NULL, out, max);
}

size_t mm_plan_routes_by(const struct mf_topology *t, const struct mm_plan_cfg *cfg, uint32_t host,
			 const bool *live, const uint8_t *shares, struct mm_route_of *out,
			 size_t max)
{
	struct planning p = {t, cfg, host, live, out, 0, max, 0, shares};
	uint32_t first = mf_host_t0(t, host) * t->cfg.hosts_per_t0;

	mb_assert(host < t->n_hosts && cfg->watchers > 0);
	for (uint32_t plane = 0; plane < t->cfg.planes; plane++) {
		p.of_plane = p.n;
		plan_t0(&p, plane);
		for (uint32_t up = 0; up < t->cfg.t1s; up++)
			plan_uplink(&p, plane, up);
		for (uint32_t k = 0; k < t->cfg.t1s; k++)
			for (uint32_t v = 0; v < t->cfg.t1_uplinks; v++)
				plan_t2s(&p, plane, k, v);
	}
	for (uint32_t peer = first; peer < first + t->cfg.hosts_per_t0; peer++)
		if (peer != host && live[peer])
			plan_peer(&p, peer);
	return p.n;
}

/* ---- for all hosts of a T0 ---- */

size_t mm_plan_shares_bytes(const struct mf_topology *t)
{
	return place_of(t, t->cfg.planes, 0) + (size_t)t->cfg.hosts_per_t0 * t->cfg.hosts_per_t0;
}

/* The next host after those that were taken: largest weight, then lowest number. */
static uint32_t next_watcher(const uint64_t *weights, const uint8_t *taken, uint32_t n)
{
	uint32_t best = n;

	for (uint32_t i = 0; i < n; i++)
		if (!taken[i] && (best == n || weights[i] > weights[best]))
			best = i;
	return best;
}

static void share(const struct mm_plan_cfg *cfg, uint64_t what, uint32_t first, uint32_t n,
		  uint32_t but, uint8_t *shares)
{
	uint64_t weights[MM_SHARES_HOSTS_MAX];

	for (uint32_t i = 0; i < n; i++) {
		weights[i] = weight(first + i, what);
		shares[i] = first + i == but; /* for the search only */
	}
	for (uint32_t i = 0; i < cfg->watchers; i++) {
		uint32_t next = next_watcher(weights, shares, n);

		if (next < n)
			shares[next] = 1;
	}
	if (but != MM_NO_HOST)
		shares[but - first] = 0;
}

void mm_plan_shares(const struct mf_topology *t, const struct mm_plan_cfg *cfg, uint32_t t0,
		    uint8_t *shares)
{
	uint32_t n = t->cfg.hosts_per_t0, first = t0 * n;

	mb_assert(n <= MM_SHARES_HOSTS_MAX && t->cfg.tiers == 2);
	for (uint32_t plane = 0; plane < t->cfg.planes; plane++)
		for (uint32_t up = 0; up < t->cfg.t1s; up++)
			share(cfg, shared_uplink(t, plane, t0, up), first, n, MM_NO_HOST,
			      shares + place_of(t, plane, up));
	for (uint32_t peer = first; peer < first + n; peer++)
		share(cfg, shared_peer(peer), first, n, peer,
		      shares + place_of(t, t->cfg.planes, 0) + (size_t)(peer - first) * n);
}

struct mm_plan_load mm_plan_load_of(const struct mm_plan_cfg *cfg, size_t routes)
{
	struct mm_plan_load load = {.interval_ns = cfg->interval_ns};
	uint64_t bits = UINT64_C(8) * cfg->bytes * routes;

	if (bits * NS_PER_S / cfg->interval_ns > cfg->bit_s_max)
		load.interval_ns = bits * NS_PER_S / cfg->bit_s_max + 1;
	load.probes_s = routes * NS_PER_S / load.interval_ns;
	load.bit_s = bits * NS_PER_S / load.interval_ns;
	return load;
}

uint32_t mm_route_usids(const struct mf_topology *t, const struct mm_route_of *route,
			uint32_t first, uint16_t usids[MM_ROUTE_USIDS], uint32_t *plane)
{
	uint32_t n = 0;

	*plane = mf_link_plane(t, route->link[first]);
	for (uint32_t i = first; i < route->links; i++) {
		struct mf_node at = mf_node_at(t, mf_link_to(t, route->link[i]).node);

		if (at.tier == MF_HOST) {
			usids[n++] = mf_usid_dst(t, *plane, at.index);
			break;
		}
		usids[n++] = mf_usid_switch(t, at);
	}
	return n;
}
