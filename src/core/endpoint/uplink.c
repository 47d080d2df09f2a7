/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uplink.c - local ports whose link is up and that lead nowhere.
 *
 * A switch next to the host that drops everything silently takes a plane away from all destinations
 * at once. By EV health alone each of them would lose a packet on each of its EVs to learn that. So
 * losses to several destinations over one port are evidence about the port, as long as nothing is
 * answered that was sent on it after the first of them: then the port is left for all EV sets.
 *
 *	USED --- MT_UPLINK_DESTS destinations lost, nothing answered since ---> LEFT
 *	LEFT --- a probe to one of them was answered ---> USED, with all EVs that went bad by it
 *	LEFT --- a probe to another one was answered ---> USED, and not left again for a while
 *
 * The second case says that the fault is not that of the uplink, but farther on and common to those
 * that lost; so what they have learnt stays. Probes go to both kinds alternately, ever more rarely.
 * The last port that is up is never left. REQ(req.ev.uplink)
 */
#include "base/assert.h"
#include "base/bits.h"
#include "core/endpoint/endpoint.h"
#include "core/ev/spray.h"
#include "core/state/qp.h"

/* Sets that are looked at for one to be probed: most have EVs on all ports. */
#define SETS_TRIED 16u
/* In longest probe intervals, how long a port is not left after its evidence was refuted. */
#define REFUTED_INTERVALS 16u
#define DOUBLINGS_MAX 16u

/* QPs that wait for room have other ports to choose from now. */
static void update_all_ports(struct mt_engine *e, uint64_t now_ns)
{
	e->no_room_ports = UINT32_MAX;
	for (struct mb_link *l = e->ev_sets.next; l != &e->ev_sets; l = l->next)
		mt_ev_sets_update_ports(e, mb_container_of(l, struct mt_ev_set, link), now_ns);
}

static bool has_lost(const struct mt_uplink *u, const struct mt_ev_set *s)
{
	for (uint32_t i = 0; i < u->n_lost; i++)
		if (u->lost[i] == s)
			return true;
	return false;
}

/* REQ(ep.port.survive) */
static bool is_last(const struct mt_engine *e, uint32_t port)
{
	return (mt_local_ports_open(&e->ports) & ~(UINT32_C(1) << port)) == 0;
}

static void leave(struct mt_engine *e, uint32_t port, uint64_t now_ns)
{
	struct mt_uplink *u = &e->uplinks[port];

	mt_local_ports_set_suspect(&e->ports, port, true, now_ns);
	u->left_ns = now_ns;
	u->probes = 0;
	u->probe_due_ns = now_ns + u->lost[0]->shared->probe_interval_ns;
	update_all_ports(e, now_ns);
	e->stats.uplinks_left++;
}

bool mt_uplink_note_loss(struct mt_engine *e, struct mt_ev_set *s, uint32_t port, uint64_t sent_ns,
			 uint64_t now_ns)
{
	struct mt_uplink *u = &e->uplinks[port];

	mb_assert(port < e->cfg.n_ports && !mt_local_port_is_suspect(&e->ports, port));
	if (sent_ns <= u->answered_ns || now_ns < u->refuted_until_ns)
		return false;
	if (u->oldest_lost_ns <= u->answered_ns ||
	    now_ns - u->oldest_lost_ns > e->cfg.timing.port_notice_ns)
		u->n_lost = 0;
	if (u->n_lost == 0 || sent_ns < u->oldest_lost_ns)
		u->oldest_lost_ns = sent_ns;
	if (!has_lost(u, s) && u->n_lost < MT_UPLINK_DESTS)
		u->lost[u->n_lost++] = s;
	if (u->n_lost < MT_UPLINK_DESTS || is_last(e, port))
		return false;
	leave(e, port, now_ns);
	return true;
}

static void restore(struct mt_engine *e, const struct mt_ev_set *answered, uint32_t port,
		    uint64_t now_ns)
{
	struct mt_uplink *u = &e->uplinks[port];

	mt_local_ports_set_suspect(&e->ports, port, false, now_ns);
	if (!has_lost(u, answered))
		u->refuted_until_ns =
			now_ns + REFUTED_INTERVALS * answered->shared->probe_interval_max_ns;
	else
		for (struct mb_link *l = e->ev_sets.next; l != &e->ev_sets; l = l->next)
			mt_ev_sets_port_restored(e, mb_container_of(l, struct mt_ev_set, link),
						 port, u->left_ns);
	update_all_ports(e, now_ns);
	e->stats.uplinks_restored++;
}

void mt_uplink_answered(struct mt_engine *e, const struct mt_ev_set *s, uint32_t port,
			uint64_t sent_ns, uint64_t now_ns)
{
	struct mt_uplink *u = &e->uplinks[port];

	if (sent_ns > u->answered_ns)
		u->answered_ns = sent_ns;
	if (mt_local_port_is_suspect(&e->ports, port) && sent_ns >= u->left_ns)
		restore(e, s, port, now_ns);
}

/* ---- probes ---- */

static bool has_evs(const struct mt_ev_set *s, uint32_t port)
{
	return s->shared->own_ports >> port & 1;
}

/* A destination that lost, and any other one the next time. */
static struct mt_ev_set *pick_destination(struct mt_engine *e, const struct mt_uplink *u,
					  uint32_t port)
{
	struct mt_ev_set *s = NULL;

	if (u->n_lost > 0 && u->probes % 2 == 0)
		return u->lost[u->probes / 2 % u->n_lost];
	for (uint32_t n = mb_prng_below(&e->prng, SETS_TRIED); n > 0; n--)
		mb_list_rotate(&e->ev_sets);
	for (uint32_t n = 0; n < SETS_TRIED; n++) {
		s = mb_container_of(e->ev_sets.next, struct mt_ev_set, link);
		mb_list_rotate(&e->ev_sets);
		if (has_evs(s, port) && !has_lost(u, s))
			return s;
	}
	return has_evs(s, port) ? s : NULL;
}

static uint64_t probe_gap(const struct mt_engine *e, const struct mt_uplink *u,
			  const struct mt_ev_set *s)
{
	const struct mt_timing *t = &e->cfg.timing;
	/* Without a destination nothing is sent; some time has to pass even so. */
	uint64_t none =
		t->port_notice_ns > t->tail_probe_min_ns ? t->port_notice_ns : t->tail_probe_min_ns;
	uint64_t gap = s ? s->shared->probe_interval_ns : none;

	for (uint32_t n = 0; s && n < u->probes / 2 && gap < s->shared->probe_interval_max_ns; n++)
		gap *= 2;
	return gap;
}

static void send_probe(struct mt_engine *e, uint32_t port, uint64_t now_ns)
{
	struct mt_uplink *u = &e->uplinks[port];
	struct mt_ev_set *s = pick_destination(e, u, port);
	struct mt_qp *prober = s ? mt_ev_sets_pick_prober(s, now_ns) : NULL;

	u->probe_due_ns = now_ns + probe_gap(e, u, s);
	if (u->probes < 2 * DOUBLINGS_MAX)
		u->probes++;
	else
		u->probes--; /* the kinds go on alternately */
	if (prober)
		mt_engine_queue_probe(e, prober,
				      mt_spray_pick_probe(s, port, (uint16_t)mb_prng_u64(&e->prng)),
				      MT_PROBE_LOCAL_PORT);
}

uint64_t mt_uplinks_deadline(const struct mt_engine *e)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t ports = e->ports.suspect; ports; ports &= ports - 1) {
		uint64_t due = e->uplinks[mb_ctz64(ports)].probe_due_ns;

		first = due < first ? due : first;
	}
	return mb_link_is_empty(&e->ev_sets) ? UINT64_MAX : first;
}

void mt_uplinks_tick(struct mt_engine *e, uint64_t now_ns)
{
	if (mt_uplinks_deadline(e) > now_ns)
		return;
	for (uint32_t ports = e->ports.suspect; ports; ports &= ports - 1) {
		uint32_t port = mb_ctz64(ports);

		if (e->uplinks[port].probe_due_ns <= now_ns)
			send_probe(e, port, now_ns);
	}
}
