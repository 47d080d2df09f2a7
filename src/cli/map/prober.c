/* SPDX-License-Identifier: BSD-2-Clause */
/* prober.c - see prober.h. */
#include "cli/map/prober.h"

#include "lab/ip_batch.h"
#include "lab/netns.h"

#include <stdlib.h>

/* Routes in one step, of all hosts: what a core can send and take in within a part of it. */
#define ROUTES_PER_STEP 100u

struct prober {
	const struct ml_lab *lab;
	const struct mf_topology *t;
	struct mm_map *map;
	struct probe_host **host; /* NULL: not open */
	uint32_t *ifindex;	  /* planes for each host */
	uint16_t *udp_port;
	uint64_t rate_bit_s, now_ns;
	uint32_t steps_least;
	uint64_t link_bit_s;
	struct probe_common common; /* of all hosts */
};

/* ---- what hosts counted ---- */

static void take_route(void *ctx, const struct mm_route_of *of, uint32_t *memo,
		       const struct mm_counts *counts)
{
	struct prober *p = ctx;

	if (!mm_map_is_route(p->map, *memo, of))
		*memo = mm_map_route(p->map, of, p->now_ns);
	if (*memo != MM_NO_ROUTE)
		mm_map_add(p->map, *memo, of->witness, counts, p->now_ns);
}

static void take_plain(void *ctx, uint32_t host, uint32_t plane, uint32_t sent, uint32_t lost)
{
	struct prober *p = ctx;

	mm_map_plain(p->map, host, plane, sent, lost, p->now_ns);
}

/* Only what is under way says something: anybody may send what looks like a probe. */
static void take_stray(void *ctx, uint32_t host, uint32_t plane, const struct probe_packet *packet)
{
	struct prober *p = ctx;

	if (packet->from < p->t->n_hosts && probe_host_has(p->host[packet->from], packet))
		mm_map_stray(p->map, host, plane, packet->from, p->now_ns);
}

static void take_loop(void *ctx, uint32_t host, uint32_t plane, uint32_t to)
{
	struct prober *p = ctx;

	mm_map_loop(p->map, host, plane, to, p->now_ns);
}

/* A question counts if its sender has it under way: anybody can make one up. */
static void take_asked(void *ctx, uint32_t host, const struct probe_packet *packet)
{
	struct prober *p = ctx;

	if (packet->from < p->t->n_hosts && probe_host_asks(p->host[packet->from], packet))
		mm_map_asked(p->map, host, packet->from, p->now_ns);
}

/* ---- begin and end ---- */

/* What the slowest link of a lab is sure to carry: the pace, for that of hosts; 0: not shaped. */
static uint64_t sure_rate(const struct ml_lab *lab)
{
	const struct mf_topology *t = ml_lab_topology(lab);
	uint64_t of_host = t->cfg.links[MF_HOST_T0].bit_s, least = of_host;

	for (enum mf_link_kind k = MF_T0_T1; k < MF_LINK_KINDS; k++)
		if (mf_topology_cables(t, k) && t->cfg.links[k].bit_s < least)
			least = t->cfg.links[k].bit_s;
	return (uint64_t)((double)ml_lab_rate_scale(lab) * (double)least / (double)of_host);
}

/* All hosts take part. Which routes that makes, of all of them. */
static size_t count_routes(const struct mf_topology *t)
{
	const struct mm_plan_cfg cfg = {.watchers = PROBE_SHARE_USUAL};
	bool *live = malloc(t->n_hosts * sizeof(*live));
	size_t n = 0;

	for (uint32_t host = 0; live && host < t->n_hosts; host++)
		live[host] = true;
	/* Without room for them routes that come twice are counted twice. */
	for (uint32_t host = 0; live && host < t->n_hosts; host++)
		n += mm_plan_routes(t, &cfg, host, live, NULL, 0);
	free(live);
	return n;
}

/* Of trains to neighbours the way there is a route of its own; so many hosts ask each. */
static size_t count_ways_there(const struct mf_topology *t)
{
	return (size_t)t->n_hosts * t->cfg.planes * PROBE_SHARE_USUAL;
}

/* In the namespace of a host. */
static int open_one(void *context, size_t host, struct ml_error *e)
{
	struct prober *p = context;
	const struct probe_sink sink = {p,	    take_route, take_plain,
					take_stray, take_loop,	take_asked};
	const struct probe_host_cfg cfg = {.t = p->t,
					   .host = (uint32_t)host,
					   .share = PROBE_SHARE_USUAL,
					   .rate_bit_s = p->rate_bit_s,
					   .steps_least = p->steps_least,
					   .ifindex = p->ifindex + host * p->t->cfg.planes,
					   .udp_port = p->udp_port,
					   .link_bit_s = p->link_bit_s,
					   .common = &p->common};
	char name[ML_NETNS_MAX], why[160];

	if (ml_netns_enter(ml_lab_namespace(p->lab, (uint32_t)host, name), e))
		return -1;
	p->host[host] = probe_host_create(&cfg, &sink, why, sizeof(why));
	return p->host[host] ? 0 : ml_error_set(e, "%s: %s", name, why);
}

static int make_map(struct prober *p, uint32_t routes, struct ml_error *e)
{
	struct mm_cfg cfg;
	void *memory;
	uint32_t steps = 1;

	for (uint32_t host = 0; host < p->t->n_hosts; host++)
		if (probe_host_figures(p->host[host])->round_steps > steps)
			steps = probe_host_figures(p->host[host])->round_steps;
	cfg = mm_cfg_default(p->t, routes, steps * PROBE_STEP_NS);
	memory = malloc(mm_map_bytes(&cfg, p->t));
	p->map = memory ? mm_map_init(memory, &cfg, p->t) : NULL;
	return p->map ? 0 : ml_error_set(e, "no memory for a map of %u routes", routes);
}

static int fill(struct prober *p, struct ml_error *e)
{
	uint32_t n = p->t->n_hosts, planes = p->t->cfg.planes;
	size_t routes = count_routes(p->t);

	p->host = calloc(n, sizeof(struct probe_host *));
	p->udp_port = calloc(n, sizeof(*p->udp_port));
	p->ifindex = calloc((size_t)n * planes, sizeof(*p->ifindex));
	if (!p->host || !p->udp_port || !p->ifindex || !routes)
		return ml_error_set(e, "no memory for the probes of %u hosts", n);
	p->steps_least = (uint32_t)((routes + (size_t)n * planes) / ROUTES_PER_STEP + 1);
	for (uint32_t i = 0; i < n * planes; i++)
		p->ifindex[i] = ml_ifindex(mf_link_host_t0(p->t, i % planes, i / planes, false));
	if (ml_threads_run(n, open_one, p, e))
		return -1;
	return make_map(p, (uint32_t)(routes + count_ways_there(p->t)), e);
}

struct prober *prober_open(const struct ml_lab *lab, uint64_t rate_bit_s, struct ml_error *e)
{
	struct prober *p = calloc(1, sizeof(*p));

	if (!p) {
		ml_error_set(e, "no memory for a prober");
		return NULL;
	}
	p->lab = lab;
	p->t = ml_lab_topology(lab);
	p->rate_bit_s = rate_bit_s;
	p->link_bit_s = sure_rate(lab);
	if (fill(p, e) == 0)
		return p;
	prober_close(p);
	return NULL;
}

void prober_close(struct prober *p)
{
	if (!p)
		return;
	for (uint32_t host = 0; p->host && host < p->t->n_hosts; host++)
		probe_host_destroy(p->host[host]);
	free(p->host);
	free(p->ifindex);
	free(p->udp_port);
	free(p->map);
	free(p);
}

/* ---- a step ---- */

void prober_receive(struct prober *p, uint64_t now_ns)
{
	p->now_ns = now_ns;
	for (uint32_t host = 0; host < p->t->n_hosts; host++)
		probe_host_receive(p->host[host]);
}

void prober_send(struct prober *p)
{
	for (uint32_t host = 0; host < p->t->n_hosts; host++)
		probe_host_send(p->host[host]);
}

struct mm_map *prober_map(struct prober *p)
{
	return p->map;
}

void prober_figures(const struct prober *p, struct prober_figures *f)
{
	*f = (struct prober_figures){.hosts = p->t->n_hosts};
	for (uint32_t host = 0; host < p->t->n_hosts; host++) {
		const struct probe_figures *one = probe_host_figures(p->host[host]);
		uint64_t interval_ns = one->round_steps * PROBE_STEP_NS;

		f->routes += one->routes;
		f->interval_ns = interval_ns > f->interval_ns ? interval_ns : f->interval_ns;
		f->bit_s = one->bit_s > f->bit_s ? one->bit_s : f->bit_s;
		f->sent += one->sent;
		f->unsent += one->unsent;
		f->lost += one->lost;
		for (uint32_t v = 0; v < PROBE_VERDICTS; v++)
			f->got[v] += one->got[v];
	}
}
