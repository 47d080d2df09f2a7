/* SPDX-License-Identifier: BSD-2-Clause */
/* ud_peers.c - where datagrams went lately, and the rounds of probes that tell which paths lead
 * there. */
#include <stdlib.h>
#include <string.h>

#include "ud/ud_private.h"
#include "wire/headers.h"

/* What was learnt of a destination is forgotten when nothing went there for so long. */
#define PEER_EXPIRY_NS UINT64_C(10000000000)
/* Doubts are settled without waiting for datagrams, if some went there not longer ago than this. */
#define RECHECK_WINDOW_NS UINT64_C(1000000000)

/* A probe's number in the engine: odd, as those of other requests are not; destination, path. */
#define USER_PATH_SHIFT 1u
#define USER_PEER_SHIFT 17u

_Static_assert(sizeof(struct rd_gid) == sizeof(((struct mt_ep_request *)0)->dst.b),
	       "both are addresses");

static bool is_same_peer(const struct mu_peer *p, const struct rd_gid *dest, uint32_t endpoint)
{
	return p && p->endpoint == endpoint && memcmp(&p->dest, dest, sizeof(*dest)) == 0;
}

/*
 * find_place returns the place of a destination, or that for a new one: a free one, else that of
 * the one unused for longest; NULL: probes are under way to all that could give way.
 */
static struct mu_peer **find_place(struct mu_engine *e, const struct rd_gid *dest,
				   uint32_t endpoint)
{
	struct mu_peer **place = NULL, **set;
	uint32_t sum = endpoint;

	for (uint32_t i = 0; i < sizeof(dest->b); i++)
		sum = sum * 31 + dest->b[i];
	set = &e->peer[(size_t)((sum ^ sum >> 16) % MU_PEER_SETS) * MU_PEER_WAYS];
	for (uint32_t i = 0; i < MU_PEER_WAYS; i++) {
		if (is_same_peer(set[i], dest, endpoint))
			return &set[i];
		if (set[i] && set[i]->health.n_open > 0)
			continue;
		if (!place || (*place && (!set[i] || set[i]->used_ns < (*place)->used_ns)))
			place = &set[i];
	}
	return place;
}

/* create_peer makes a destination in a place, or returns NULL. REQ(ud.health.bounded) */
static struct mu_peer *create_peer(struct mu_engine *e, struct mu_peer **place,
				   const struct rd_gid *dest, uint32_t endpoint, uint64_t now_ns)
{
	struct mu_peer *p = *place;

	if (!p)
		p = malloc(sizeof(*p) + mu_health_size(e->cfg.n_evs, e->cfg.n_ports));
	if (!p)
		return NULL;
	*place = p;
	p->dest = *dest;
	p->endpoint = endpoint;
	p->number = (uint32_t)(place - e->peer);
	p->used_ns = now_ns;
	mu_health_init(&p->health, p->mem, &e->cfg, dest, now_ns);
	return p;
}

/* Asks on one path; what cannot be asked now is left out of the round. */
static void send_probe(struct mu_engine *e, struct mu_peer *p, uint16_t path, uint64_t now_ns)
{
	struct mt_ep_request req = {
		.endpoint = (uint16_t)p->endpoint,
		.ev = e->evs[path],
		.op = MW_EP_EV_PROBE,
		.tclass = MW_DSCP_CONTROL,
		.timeout_ns = mu_health_probe_timeout(&p->health),
		.user = (uint64_t)p->number << USER_PEER_SHIFT | (uint64_t)path << USER_PATH_SHIFT |
			1,
	};

	memcpy(req.dst.b, p->dest.b, sizeof(req.dst.b));
	if (mt_engine_ep_request(e->cfg.engine, now_ns, &req, NULL) != MT_OK)
		return;
	mu_health_probe_sent(&p->health, path);
	e->has_probes = true;
}

static void begin_round(struct mu_engine *e, struct mu_peer *p, uint64_t now_ns)
{
	uint16_t paths[MU_ROUND_PROBES];
	uint32_t n;

	if (!mu_health_is_due(&p->health, now_ns) || now_ns < e->next_round_ns)
		return;
	e->next_round_ns = now_ns + MU_PEERS_ROUND_NS;
	n = mu_health_choose_evs(&p->health, now_ns, paths);
	for (uint32_t i = 0; i < n; i++)
		if (!mu_is_path_denied(e, paths[i]))
			send_probe(e, p, paths[i], now_ns);
}

/* REQ(ud.health.endpoint) */
struct mu_peer *mu_peers_find(struct mu_engine *e, struct mu_peer *last, const struct rd_gid *dest,
			      uint32_t qpn, uint64_t now_ns)
{
	uint32_t endpoint = qpn >> e->cfg.qpn_index_bits;
	struct mu_peer *p = last, **place;

	if (!is_same_peer(p, dest, endpoint)) {
		place = find_place(e, dest, endpoint);
		if (!place || !is_same_peer(*place, dest, endpoint))
			return place ? create_peer(e, place, dest, endpoint, now_ns) : NULL;
		p = *place;
	}
	if (now_ns > p->used_ns + PEER_EXPIRY_NS && p->health.n_open == 0)
		mu_health_init(&p->health, p->mem, &e->cfg, dest, now_ns);
	/* A thread that polls may have read the clock before another one that posted since. */
	if (now_ns > p->used_ns)
		p->used_ns = now_ns;
	begin_round(e, p, now_ns);
	return p;
}

void mu_peers_flush(struct mu_engine *e, uint64_t now_ns)
{
	if (!e->has_probes)
		return;
	e->has_probes = false;
	e->env.tx_probes(e->env.ctx, now_ns);
}

bool mu_deliver_probe(struct mu_engine *e, const struct mt_event *event, uint64_t now_ns)
{
	struct mu_peer *p;

	if (!(event->wr_id & 1))
		return false;
	p = e->peer[event->wr_id >> USER_PEER_SHIFT];
	mu_health_probe_ended(&p->health, (uint16_t)(event->wr_id >> USER_PATH_SHIFT),
			      event->ep_status == MT_EP_ANSWERED, event->rtt_ns, now_ns,
			      &e->counts);
	if (p->health.doubtful && now_ns < p->used_ns + RECHECK_WINDOW_NS) {
		begin_round(e, p, now_ns);
		mu_peers_flush(e, now_ns);
	}
	return true;
}
