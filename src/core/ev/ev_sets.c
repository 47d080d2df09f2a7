/* SPDX-License-Identifier: BSD-2-Clause */
/* paths.c - the engine's path sets: one for each destination and EV profile in use. */
#include <string.h>

#include "base/assert.h"
#include "core/engine/engine_state.h"
#include "core/qp/qp.h"

struct mt_ev_set *mt_ev_sets_acquire(struct mt_engine *e, uint32_t profile,
				     const struct rd_gid *peer, struct mb_link *user)
{
	const struct mt_ev_profile_cfg *cfg = &e->ev_profiles[profile].cfg;
	struct mt_ev_set **chain = mt_ev_sets_bucket(e, peer), *s;
	void *mem;

	for (s = *chain; s; s = s->chain)
		if (s->profile == profile && memcmp(&s->peer, peer, sizeof(*peer)) == 0)
			goto found;
	mem = mt_engine_alloc(e,
			      mt_ev_set_size(cfg->n_evs, e->cfg.n_ports, cfg->group_ids != NULL));
	if (!mem)
		return NULL;
	s = mt_ev_set_init(mem, cfg, e->cfg.n_ports, peer, &e->pool);
	s->profile = profile;
	mt_liveness_init(&s->liveness);
	mt_engine_update_ev_ports(e, s, 0);
	mb_list_push(&e->ev_sets, &s->link);
	s->chain = *chain;
	*chain = s;
found:
	s->refs++;
	mb_list_push(&s->users, user);
	return s;
}

void mt_ev_sets_release(struct mt_engine *e, struct mt_ev_set *s, struct mb_link *user)
{
	struct mt_ev_set **at = mt_ev_sets_bucket(e, &s->peer);

	mb_assert(s->refs > 0);
	mb_link_remove(user);
	if (--s->refs > 0)
		return;
	while (*at != s)
		at = &(*at)->chain;
	*at = s->chain;
	mb_timer_disarm(&e->ev_timers, &s->timer);
	mb_link_remove(&s->link);
	mt_ev_set_fini(s);
	mb_pool_put(&e->pool, s, mt_ev_set_size(s->n_evs, s->n_ports, s->groups != NULL));
}

void mt_ev_sets_arm_probes(struct mt_engine *e, struct mt_ev_set *s)
{
	uint64_t ev = mt_ev_set_probe_deadline(s), plane = mt_peer_ports_deadline(&s->peer_ports);

	mb_timer_arm(&e->ev_timers, &s->timer, ev < plane ? ev : plane);
}

/* A QP through which the destination can be probed; QPs take turns. */
static struct mt_qp *pick_prober(struct mt_ev_set *s)
{
	for (uint32_t n = 0; n < s->refs; n++) {
		struct mt_qp *qp = mb_container_of(s->users.next, struct mt_qp, ev_set_user);

		mb_list_rotate(&s->users);
		if (mt_qp_may_send(qp))
			return qp;
	}
	return NULL;
}

/* REQ(req.ev.endpoint) */
void mt_ev_sets_resume(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns)
{
	struct mt_control probe = {.kind = MT_CONTROL_PROBE, .qp = pick_prober(s)};
	uint32_t planes = 0;

	for (uint8_t p = 0; p < s->n_ports && probe.qp; p++) {
		if (s->ports[p].usable == 0 || !(s->open_ports >> p & 1))
			continue;
		probe.index = mt_spray_pick_control(&probe.qp->req.spray, s, p);
		if (s->evs[probe.index].port != p)
			continue;
		probe.cause.probe_id = mt_ev_new_probe_id(s, probe.index);
		mt_engine_queue_control(e, &probe);
		planes |= UINT32_C(1) << p;
	}
	mt_liveness_resume(&s->liveness, now_ns, planes);
}

void mt_ev_sets_tick(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns)
{
	struct mt_control probe = {.kind = MT_CONTROL_PROBE, .qp = pick_prober(s)};

	for (;;) {
		probe.index = mt_ev_set_next_probe(s, now_ns);
		if (probe.index == MT_EV_NONE)
			break;
		probe.cause.probe_id = mt_ev_new_probe_id(s, probe.index);
		if (probe.qp)
			mt_engine_queue_control(e, &probe);
	}
	mt_port_status_tick(e, s, probe.qp, now_ns);
	mt_ev_sets_arm_probes(e, s);
}
