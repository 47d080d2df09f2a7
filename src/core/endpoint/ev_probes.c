/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_probes.c - queues the probes of a destination: of EVs that are ASSUMED_BAD, of the peer's
 * doubtful ports, and of every plane when a peer is heard again after a silence.
 *
 * A probe is sent as a packet of a QP that may send there, of another QP each time.
 *
 * With 10,000 destinations behind links that are dead the probes of all bad EVs would be millions a
 * second. So those of an engine have a budget, one for each revival_gap_ns, of which a burst may be
 * saved up. Sets that find none left wait for their turn: first those whose destination is in use,
 * one after the other, then the others. The longer a destination is idle, the more rarely its bad
 * EVs are probed; the next packet to it makes them due. REQ(req.ev.probe-budget)
 */
#include "base/assert.h"
#include "base/bits.h"
#include "core/endpoint/endpoint.h"
#include "core/state/qp.h"

/* So many QPs are looked at for one whose peer answers: thousands may go to one that is silent. */
#define PROBERS_TRIED 16u

static struct mt_qp *next_user(struct mt_ev_set *s)
{
	struct mt_qp *qp = mb_container_of(s->users.next, struct mt_qp, ev_set_user);

	mb_assert(qp->ev_set == s);
	mb_list_rotate(&s->users);
	return qp;
}

/* Probes that may be saved up: those of all bad EVs of a few destinations. */
#define BURST 1024u
/* Of these, so many are left for destinations that are in use. */
#define IDLE_LEAVES 512u
/* Those that wait go on when there are so many: each time an adapter has to wake up. */
#define BATCH 16u
/* In longest probe intervals, for how long a destination is in use after it was heard last. */
#define IDLE_INTERVALS 16u
/* Of the intervals of one that is idle. */
#define STRETCH_MAX 64u

/*
 * A QP through which the destination can be probed, of a peer that answers if there is one. Where
 * all are silent, the one that was chosen goes behind the others: one of these may be back.
 */
struct mt_qp *mt_ev_sets_pick_prober(struct mt_ev_set *s, uint64_t now_ns)
{
	struct mt_qp *found = NULL;

	for (uint32_t n = 0; n < s->refs && !(found && n >= PROBERS_TRIED); n++) {
		struct mt_qp *qp = next_user(s);

		if (!mt_qp_may_send(qp))
			continue;
		if (!mt_liveness_is_silent(&qp->peer->liveness, now_ns))
			return qp;
		found = found ? found : qp;
	}
	if (!found)
		return NULL;
	mb_link_remove(&found->ev_set_user);
	mb_list_push(&s->users, &found->ev_set_user);
	return found;
}

/* A QP through which this peer can be probed. */
static struct mt_qp *pick_prober_of(const struct mt_peer *p)
{
	for (uint32_t n = 0; n < p->ev_set->refs; n++) {
		struct mt_qp *qp = next_user(p->ev_set);

		if (qp->peer == p && mt_qp_may_send(qp))
			return qp;
	}
	return NULL;
}

/* REQ(req.ev.endpoint) */
void mt_peer_resume(struct mt_engine *e, struct mt_peer *peer, uint64_t now_ns)
{
	struct mt_qp *prober = pick_prober_of(peer);
	struct mt_ev_set *s = peer->ev_set;
	uint32_t planes = 0;

	for (uint32_t open = prober ? s->open_ports : 0; open; open &= open - 1) {
		uint8_t p = (uint8_t)mb_ctz64(open);
		uint16_t ev;

		if (s->ports[p].usable == 0)
			continue;
		ev = mt_spray_pick_control(&prober->req.spray, s, p);
		if (mt_ev_port(s, ev) != p)
			continue;
		mt_engine_queue_probe(e, prober, ev, MT_PROBE_RESUMPTION);
		planes |= UINT32_C(1) << p;
	}
	mt_liveness_resume(&peer->liveness, now_ns, planes);
}

/* ---- the budget ---- */

/* When n probes of those to be saved up are there. */
static uint64_t saved_up_ns(const struct mt_engine *e, uint32_t n)
{
	uint64_t rest_ns = (BURST - n) * (uint64_t)e->cfg.timing.revival_gap_ns;

	return e->revival_due_ns > rest_ns ? e->revival_due_ns - rest_ns : 0;
}

/* Whether a probe may be sent now. */
static bool may_probe(const struct mt_engine *e, bool is_idle, uint64_t now_ns)
{
	return saved_up_ns(e, is_idle ? IDLE_LEAVES + 1 : 1) <= now_ns;
}

static void count_probe(struct mt_engine *e, uint64_t now_ns)
{
	if (e->revival_due_ns < now_ns)
		e->revival_due_ns = now_ns;
	e->revival_due_ns += e->cfg.timing.revival_gap_ns;
}

/* For how long nothing was to be sent to the destination or came from there. */
static uint64_t idle_ns(const struct mt_ev_set *s, uint64_t now_ns)
{
	uint64_t idle = now_ns;

	for (const struct mb_link *l = s->peers.next; l != &s->peers; l = l->next) {
		const struct mt_liveness *p =
			&mb_container_of(l, const struct mt_peer, link)->liveness;
		uint64_t ns = now_ns > p->rx_ns ? now_ns - p->rx_ns : 0;

		if (p->waiting > 0)
			return 0;
		idle = ns < idle ? ns : idle;
	}
	return idle;
}

static void set_stretch(struct mt_ev_set *s, uint64_t now_ns)
{
	uint64_t n = idle_ns(s, now_ns) / (IDLE_INTERVALS * s->shared->probe_interval_max_ns);

	s->stretch = (uint8_t)(n < 1 ? 1 : n < STRETCH_MAX ? n : STRETCH_MAX);
}

static bool is_idle(const struct mt_ev_set *s)
{
	return s->stretch > 1;
}

static struct mb_link *turns(struct mt_engine *e, const struct mt_ev_set *s)
{
	return is_idle(s) ? &e->probes_idle : &e->probes_active;
}

/* Sends the probes that are due and may be sent. Nobody goes before those that wait. */
static void probe_bad_evs(struct mt_engine *e, struct mt_ev_set *s, struct mt_qp *prober,
			  uint64_t now_ns, bool is_its_turn)
{
	bool silent = prober && mt_liveness_is_silent(&prober->peer->liveness, now_ns);
	bool may_go = is_its_turn || mb_link_is_empty(turns(e, s));

	while (may_go && may_probe(e, is_idle(s), now_ns)) {
		uint16_t ev = mt_ev_set_next_probe(s, now_ns, silent);

		if (ev == MT_EV_NONE)
			return;
		if (!prober)
			continue;
		mt_engine_queue_probe(e, prober, ev, MT_PROBE_REVIVAL);
		count_probe(e, now_ns);
	}
	if (mt_ev_set_probe_deadline(s) <= now_ns)
		mb_list_push(turns(e, s), &s->probe_turn);
}

static void probe_destination(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns,
			      bool is_its_turn)
{
	struct mt_qp *prober = mt_ev_sets_pick_prober(s, now_ns);

	mb_link_remove(&s->probe_turn);
	set_stretch(s, now_ns);
	probe_bad_evs(e, s, prober, now_ns, is_its_turn);
	mt_port_status_tick(e, s, prober, now_ns);
	mt_ev_sets_arm_probes(e, s);
}

void mt_ev_sets_tick(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns)
{
	probe_destination(e, s, now_ns, false);
}

/* ---- those that wait ---- */

uint64_t mt_ev_probes_deadline(const struct mt_engine *e)
{
	if (!mb_link_is_empty(&e->probes_active))
		return saved_up_ns(e, BATCH);
	return mb_link_is_empty(&e->probes_idle) ? MB_NEVER : saved_up_ns(e, IDLE_LEAVES + BATCH);
}

static void take_turns(struct mt_engine *e, struct mb_link *list, bool idle, uint64_t now_ns)
{
	while (!mb_link_is_empty(list) && may_probe(e, idle, now_ns))
		probe_destination(e, mb_container_of(list->next, struct mt_ev_set, probe_turn),
				  now_ns, true);
}

void mt_ev_probes_tick(struct mt_engine *e, uint64_t now_ns)
{
	if (mt_ev_probes_deadline(e) > now_ns)
		return;
	take_turns(e, &e->probes_active, false, now_ns);
	take_turns(e, &e->probes_idle, true, now_ns);
}
