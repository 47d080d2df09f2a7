/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/ud_peers.h"

#include <stdlib.h>
#include <string.h>

#include "host/engine_host.h"
#include "host/nic_tx.h"
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

static uint16_t count_paths(const struct mh_nic *nic)
{
	return (uint16_t)(nic->ports.n * nic->env.evs);
}

static bool is_same_peer(const struct mh_ud_peer *p, const struct rd_gid *dest, uint32_t endpoint)
{
	return p && p->endpoint == endpoint && memcmp(&p->dest, dest, sizeof(*dest)) == 0;
}

static uint32_t hash_to_set(const struct rd_gid *dest, uint32_t endpoint)
{
	uint32_t sum = endpoint;

	for (uint32_t i = 0; i < sizeof(dest->b); i++)
		sum = sum * 31 + dest->b[i];
	return (sum ^ sum >> 16) % MH_UD_PEER_SETS;
}

/* The place in a set for a new destination: a free one, else that of the one unused for longest. */
static struct mh_ud_peer **find_slot(struct mh_ud_peer **set)
{
	struct mh_ud_peer **place = NULL;

	for (uint32_t i = 0; i < MH_UD_PEER_WAYS; i++) {
		if (!set[i])
			return &set[i];
		if (set[i]->health.n_open == 0 && (!place || set[i]->used_ns < (*place)->used_ns))
			place = &set[i];
	}
	return place;
}

/* REQ(ud.health.bounded) */
static struct mh_ud_peer *create_peer(struct mh_nic *nic, const struct rd_gid *dest,
				      uint32_t endpoint, uint64_t now_ns)
{
	struct mh_ud_peers *peers = &nic->ud_peers;
	struct mh_ud_peer **place =
		find_slot(&peers->peer[(size_t)hash_to_set(dest, endpoint) * MH_UD_PEER_WAYS]);

	if (!place)
		return NULL;
	if (!*place)
		*place = malloc(sizeof(**place) + count_paths(nic) * sizeof((*place)->paths[0]));
	if (!*place)
		return NULL;
	(*place)->dest = *dest;
	(*place)->endpoint = endpoint;
	(*place)->number = (uint32_t)(place - peers->peer);
	(*place)->used_ns = now_ns;
	mh_ud_health_init(&(*place)->health, (*place)->paths, count_paths(nic), now_ns);
	return *place;
}

/* Asks on one path; what cannot be asked now is left out of the round. */
static void send_probe(struct mh_nic *nic, struct mh_ud_peer *p, uint16_t path, uint64_t now_ns)
{
	uint32_t port = path % nic->ports.n;
	struct mt_ep_request req = {
		.endpoint = (uint16_t)p->endpoint,
		.ev = {.value = mh_engine_ev(&nic->env, port, path / nic->ports.n),
		       .port = (uint8_t)port},
		.op = MW_EP_EV_PROBE,
		.tclass = MT_CLASS_CONTROL,
		.timeout_ns = mh_ud_health_probe_timeout(&p->health),
		.user = (uint64_t)p->number << USER_PEER_SHIFT | (uint64_t)path << USER_PATH_SHIFT |
			1,
	};

	memcpy(req.dst.b, p->dest.b, sizeof(req.dst.b));
	if (mt_engine_ep_request(nic->engine, now_ns, &req, NULL) != MT_OK)
		return;
	mh_ud_health_probe_sent(&p->health, path);
	nic->ud_peers.asked = true;
}

static void begin_round(struct mh_nic *nic, struct mh_ud_peer *p, uint64_t now_ns)
{
	uint16_t paths[MH_UD_ROUND_PROBES];
	uint32_t n;

	if (!mh_ud_health_is_due(&p->health, now_ns) || now_ns < nic->ud_peers.next_round_ns)
		return;
	nic->ud_peers.next_round_ns = now_ns + MH_UD_PEERS_ROUND_NS;
	n = mh_ud_health_choose_paths(&p->health, now_ns, paths);
	for (uint32_t i = 0; i < n; i++)
		send_probe(nic, p, paths[i], now_ns);
}

static struct mh_ud_peer *find_peer(const struct mh_nic *nic, const struct rd_gid *dest,
				    uint32_t endpoint)
{
	struct mh_ud_peer *const *set =
		&nic->ud_peers.peer[(size_t)hash_to_set(dest, endpoint) * MH_UD_PEER_WAYS];

	for (uint32_t i = 0; i < MH_UD_PEER_WAYS; i++)
		if (is_same_peer(set[i], dest, endpoint))
			return set[i];
	return NULL;
}

/* REQ(ud.health.endpoint) */
struct mh_ud_peer *mh_ud_peers_find(struct mh_nic *nic, struct mh_ud_peer *last,
				    const struct rd_gid *dest, uint32_t qpn, uint64_t now_ns)
{
	uint32_t endpoint = qpn >> MH_QPN_INDEX_BITS;
	struct mh_ud_peer *p =
		is_same_peer(last, dest, endpoint) ? last : find_peer(nic, dest, endpoint);

	if (!p)
		return create_peer(nic, dest, endpoint, now_ns);
	if (now_ns > p->used_ns + PEER_EXPIRY_NS && p->health.n_open == 0)
		mh_ud_health_init(&p->health, p->paths, count_paths(nic), now_ns);
	/* Who pumps may have looked at the clock before another one who posted. */
	if (now_ns > p->used_ns)
		p->used_ns = now_ns;
	begin_round(nic, p, now_ns);
	return p;
}

void mh_ud_peers_flush(struct mh_nic *nic, uint64_t now_ns)
{
	if (!nic->ud_peers.asked)
		return;
	nic->ud_peers.asked = false;
	mh_tx_run(nic, now_ns);
}

bool mh_ud_peers_deliver(struct mh_nic *nic, const struct mt_event *event, uint64_t now_ns)
{
	struct mh_ud_change change;
	struct mh_ud_peer *p;

	if (!(event->wr_id & 1))
		return false;
	p = nic->ud_peers.peer[event->wr_id >> USER_PEER_SHIFT];
	change =
		mh_ud_health_probe_ended(&p->health, (uint16_t)(event->wr_id >> USER_PATH_SHIFT),
					 event->ep_status == MT_EP_ANSWERED, event->rtt_ns, now_ns);
	nic->counts.ud_evs_retired += change.retired;
	nic->counts.ud_evs_revived += change.revived;
	if (p->health.doubtful && now_ns < p->used_ns + RECHECK_WINDOW_NS) {
		begin_round(nic, p, now_ns);
		mh_ud_peers_flush(nic, now_ns);
	}
	return true;
}

void mh_ud_peers_fini(struct mh_nic *nic)
{
	for (uint32_t i = 0; i < MH_UD_PEER_SETS * MH_UD_PEER_WAYS; i++)
		free(nic->ud_peers.peer[i]);
}
