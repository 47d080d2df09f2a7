/* SPDX-License-Identifier: BSD-2-Clause */
/* paths.c - the engine's path sets: one for each destination and EV profile in use. */
#include <string.h>

#include "base/assert.h"
#include "core/engine_state.h"
#include "core/qp.h"

struct mt_path_set *mt_paths_join(struct mt_engine *e, uint32_t profile, const struct mt_addr *peer,
				  struct mb_link *user)
{
	const struct mt_ev_profile_cfg *cfg = &e->ev_profiles[profile].cfg;
	struct mt_path_set **chain = mt_paths_chain(e, peer), *s;
	void *mem;

	for (s = *chain; s; s = s->chain)
		if (s->profile == profile && memcmp(&s->peer, peer, sizeof(*peer)) == 0)
			goto found;
	mem = mt_engine_alloc(e,
			      mt_path_set_size(cfg->n_evs, e->cfg.n_ports, cfg->path_ids != NULL));
	if (!mem)
		return NULL;
	s = mt_path_set_init(mem, cfg, e->cfg.n_ports, peer, &e->pool);
	s->profile = profile;
	mt_presence_init(&s->presence);
	mt_engine_paths_open(e, s, 0);
	mb_list_push(&e->path_sets, &s->link);
	s->chain = *chain;
	*chain = s;
found:
	s->refs++;
	mb_list_push(&s->users, user);
	return s;
}

void mt_paths_leave(struct mt_engine *e, struct mt_path_set *s, struct mb_link *user)
{
	struct mt_path_set **at = mt_paths_chain(e, &s->peer);

	mb_assert(s->refs > 0);
	mb_link_remove(user);
	if (--s->refs > 0)
		return;
	while (*at != s)
		at = &(*at)->chain;
	*at = s->chain;
	mb_timer_disarm(&e->path_timers, &s->timer);
	mb_link_remove(&s->link);
	mt_path_set_fini(s);
	mb_pool_put(&e->pool, s, mt_path_set_size(s->n_paths, s->n_ports, s->kin != NULL));
}

void mt_paths_arm(struct mt_engine *e, struct mt_path_set *s)
{
	uint64_t ev = mt_path_set_probe_deadline(s), plane = mt_planes_deadline(&s->planes);

	mb_timer_arm(&e->path_timers, &s->timer, ev < plane ? ev : plane);
}

/* A QP through which the destination can be probed; QPs take turns. */
static struct mt_qp *prober(struct mt_path_set *s)
{
	for (uint32_t n = 0; n < s->refs; n++) {
		struct mt_qp *qp = mb_container_of(s->users.next, struct mt_qp, path_user);

		mb_list_rotate(&s->users);
		if (mt_qp_may_send(qp))
			return qp;
	}
	return NULL;
}

/* REQ(req.ev.endpoint) */
void mt_paths_wake(struct mt_engine *e, struct mt_path_set *s, uint64_t now_ns)
{
	struct mt_control probe = {.kind = MT_CONTROL_PROBE, .qp = prober(s)};
	uint32_t planes = 0;

	for (uint8_t p = 0; p < s->n_ports && probe.qp; p++) {
		if (s->ports[p].usable == 0 || !(s->open_ports >> p & 1))
			continue;
		probe.path = mt_spray_control(&probe.qp->req.spray, s, p);
		if (s->paths[probe.path].port != p)
			continue;
		probe.cause.probe_id = mt_path_set_probe_id(s, probe.path);
		mt_engine_control(e, &probe);
		planes |= UINT32_C(1) << p;
	}
	mt_presence_wake(&s->presence, now_ns, planes);
}

void mt_paths_tick(struct mt_engine *e, struct mt_path_set *s, uint64_t now_ns)
{
	struct mt_control probe = {.kind = MT_CONTROL_PROBE, .qp = prober(s)};

	for (;;) {
		probe.path = mt_path_set_next_probe(s, now_ns);
		if (probe.path == MT_PATH_NONE)
			break;
		probe.cause.probe_id = mt_path_set_probe_id(s, probe.path);
		if (probe.qp)
			mt_engine_control(e, &probe);
	}
	mt_peer_ports_tick(e, s, probe.qp, now_ns);
	mt_paths_arm(e, s);
}
