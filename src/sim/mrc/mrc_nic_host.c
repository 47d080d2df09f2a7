/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc_nic_host.c - making MRC's hosts and giving them memory: an engine comes when something first
 * happens at its host, with the EVs that this host uses, a random part of the paths of each plane.
 */
#include "base/bits.h"
#include "base/prng.h"
#include "sim/mrc/mrc_nic_state.h"

static uint8_t ignores_ecn(const struct ms_mrc_cfg *c)
{
	uint8_t all = MT_EV_IGNORES_MARKS | MT_EV_IGNORES_TRIMS | MT_EV_IGNORES_LOSS;

	return (uint8_t)((c->ev_feedback ? 0 : all) | (c->ecn_steering ? 0 : MT_EV_IGNORES_MARKS) |
			 (c->ev_probes ? 0 : MT_EV_NO_PROBES));
}

static bool set_profiles(struct ms_mrc_host *h)
{
	const struct ms_mrc *n = h->mrc;
	const struct ms_mrc_cfg *c = &n->cfg;
	uint32_t active = c->evs_active && c->evs_active < n->n_evs ? c->evs_active : n->n_evs;
	struct mt_ev_profile_cfg profile = {
		.evs = n->ev_sets +
		       (size_t)(h->nic.number % n->n_ev_sets) * n->n_evs * n->set.planes,
		.is_static = true,
		.n_evs = (uint16_t)(n->n_evs * n->set.planes),
		.n_active = (uint16_t)(active * n->set.planes),
		.min_active =
			(uint16_t)(c->min_active < active * n->set.planes ? c->min_active
									  : active * n->set.planes),
		.revive_probes = c->revive_probes,
		.ignores = ignores_ecn(c),
		.ordered = c->evs_ordered,
		.probe_interval_ns = c->probe_interval_ns,
		.probe_interval_max_ns = c->probe_interval_max_ns,
	};

	return mt_ev_profile_set(h->engine, 0, &profile) == MT_OK &&
	       mt_cc_profile_set(h->engine, 0, &c->cc) == MT_OK;
}

bool ms_mrc_grow_engine(struct ms_mrc_host *h)
{
	size_t size = mt_engine_memory_wanted(h->engine);
	void *chunk = ms_arena_alloc(&h->nic.worker->arena, size);

	if (!chunk) {
		h->nic.worker->no_memory = true;
		return false;
	}
	mt_engine_add_memory(h->engine, chunk, size);
	return true;
}

void ms_mrc_set_prefetch(struct ms_mrc_host *h, const struct ms_conn *c, bool gone)
{
	struct ms_nic_prefetch *a = &h->nic.set->nics->prefetch[h->nic.number];
	struct mt_piece pieces[MT_QP_PIECES];
	uint32_t n = mt_qp_memory(c->qp, pieces), first = 1;

	while (first < 1 + MS_PREFETCH_CONNS * MT_QP_PIECES &&
	       a->at[first] != (gone ? c->qp : NULL))
		first += MT_QP_PIECES;
	if (first >= 1 + MS_PREFETCH_CONNS * MT_QP_PIECES) {
		if (gone)
			return;
		first = 1 + a->next * MT_QP_PIECES;
		a->next = (uint16_t)((a->next + 1) % MS_PREFETCH_CONNS);
	}
	for (uint32_t i = 0; i < MT_QP_PIECES; i++) {
		bool is = i < n && !gone;

		a->at[first + i] = is ? pieces[i].at : NULL;
		a->size[first + i] = (uint16_t)(is ? pieces[i].size : 0);
	}
}

/* Of an engine's memory its first part is what every packet touches; rings come behind it. */
#define ENGINE_HOT 2048u

struct ms_nic_host *ms_mrc_host_open(struct ms_nic_set *set, struct ms_nic_worker *own,
				     uint32_t number, uint64_t now_ns)
{
	struct ms_mrc *m = (struct ms_mrc *)set;
	uint32_t slots = ms_workload_slots(set->workload, number);
	uint32_t outgoing = ms_workload_outgoing(set->workload, number);
	struct mt_env env = {.place = ms_conn_place};
	struct mt_engine_cfg cfg;
	struct mb_prng prng;
	struct ms_mrc_host *h;
	void *engine;

	mb_prng_init(&prng, m->cfg.seed + MS_HOST_SEED_STEP * (number + 1));
	ms_mrc_engine_cfg(&m->cfg, slots, slots - outgoing, &cfg);
	cfg.seed = mb_prng_u64(&prng);
	h = (struct ms_mrc_host *)ms_nic_host_alloc(set, own, number, sizeof(*h),
						    mt_engine_size(&cfg), &engine);
	if (!h)
		return NULL;
	h->mrc = m;
	env.ctx = h;
	h->engine = mt_engine_init(engine, &cfg, &env, now_ns);
	set->nics->prefetch[number].at[0] = h;
	set->nics->prefetch[number].size[0] = (uint16_t)(mb_align64(sizeof(*h)) + ENGINE_HOT);
	if (!set_profiles(h))
		ms_nic_report_violation(own, "host %u: its profiles are refused", number);
	for (uint32_t p = 0; p < set->planes; p++)
		if (set->dark[number] >> p & 1)
			mt_engine_port_set(h->engine, now_ns, p, false);
	return &h->nic;
}
