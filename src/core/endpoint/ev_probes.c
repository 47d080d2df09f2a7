/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_probes.c - queues the probes of a destination: of EVs that are ASSUMED_BAD, of the peer's
 * doubtful ports, and of every plane when a peer is heard again after a silence.
 *
 * A probe is sent as a packet of a QP that may send there, of another QP each time.
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

void mt_ev_sets_tick(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns)
{
	struct mt_qp *prober = mt_ev_sets_pick_prober(s, now_ns);
	bool silent = prober && mt_liveness_is_silent(&prober->peer->liveness, now_ns);
	uint16_t ev;

	while ((ev = mt_ev_set_next_probe(s, now_ns, silent)) != MT_EV_NONE)
		if (prober)
			mt_engine_queue_probe(e, prober, ev, MT_PROBE_REVIVAL);
	mt_port_status_tick(e, s, prober, now_ns);
	mt_ev_sets_arm_probes(e, s);
}
