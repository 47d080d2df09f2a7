/* SPDX-License-Identifier: BSD-2-Clause */
/* engine.c - an engine's life, memory, profiles and timers; what leaves it is in engine_tx.c. */
#include <string.h>

#include "base/assert.h"
#include "base/bits.h"
#include "core/endpoint/endpoint.h"
#include "core/ext/ext.h"
#include "core/qp/halves.h"
#include "wire/packet.h"

#define MAX_QPS_LOG2 20u
#define MAX_MRS_LIMIT ((1u << 24) - 1)
#define MAX_PROFILES_LIMIT 1024u
#define MAX_BUFFERED_LIMIT (1u << 20)
#define RING_LOG2 16u
#define REVIVE_MAX 16u
/* An rto beyond the longest timeout, or a stamp unit beyond a millisecond, is a mistake. */
#define TIME_MAX_NS (UINT64_C(1) << 36)
#define TS_SHIFT_MAX 20u
/* MT_ENDPOINTS_MAX numbers fit above that many of the 24 bits. */
#define QPN_INDEX_BITS_MIN 14u

static bool pow2_valid(uint32_t n, uint32_t max_log2)
{
	return mb_is_pow2(n) && n <= UINT32_C(1) << max_log2;
}

static bool timing_valid(const struct mt_timing *t)
{
	return t->reorder_min_ns <= t->reorder_max_ns && t->reorder_max_ns <= TIME_MAX_NS &&
	       t->port_hold_ns <= TIME_MAX_NS && t->tail_probe_min_ns > 0 &&
	       t->tail_probe_min_ns <= TIME_MAX_NS && t->rto_min_ns <= TIME_MAX_NS &&
	       t->backpressure_ns > 0 && t->backpressure_ns <= TIME_MAX_NS &&
	       t->ep_quarantine_ns <= TIME_MAX_NS && t->port_notice_ns <= TIME_MAX_NS &&
	       t->no_port_ns <= TIME_MAX_NS && t->revival_gap_ns > 0;
}

static bool cfg_valid(const struct mt_engine_cfg *c)
{
	return c->n_ports >= 1 && c->n_ports <= MT_PORTS_MAX &&
	       pow2_valid(c->max_qps, MAX_QPS_LOG2) && c->max_mrs >= 1 &&
	       c->max_mrs <= MAX_MRS_LIMIT && c->max_profiles >= 1 &&
	       c->max_profiles <= MAX_PROFILES_LIMIT && pow2_valid(c->control_ring, RING_LOG2) &&
	       pow2_valid(c->event_ring, RING_LOG2) && pow2_valid(c->ep_requests, RING_LOG2) &&
	       c->endpoint < MT_ENDPOINTS_MAX && c->qpn_index_bits >= QPN_INDEX_BITS_MIN &&
	       c->qpn_index_bits <= 24 && c->max_buffered >= 1 &&
	       c->max_buffered <= MAX_BUFFERED_LIMIT && c->max_run >= 1 &&
	       c->max_run <= MT_RUN_MAX && c->ts_shift <= TS_SHIFT_MAX && timing_valid(&c->timing);
}

/* Hands out 64-byte aligned parts of one block; with a NULL block it only counts. */
struct carver {
	uint8_t *block;
	size_t used;
};

static void *carve(struct carver *c, size_t size)
{
	void *part = c->block ? c->block + c->used : NULL;

	c->used += mb_align64(size);
	return part;
}

/*
 * A QP has sixteen probes on their way at most, and hardly ever any; what many QPs to peers that
 * are gone want beyond this is not sent.
 */
#define PROBES_PER_QP 4u
#define PROBES_MIN 128u
/* A QP waits for a probe at least as long as tail_probe_min_ns: later answers are rare. */
#define PROBE_LIFE_WAITS 4u

static uint32_t probe_slots(const struct mt_engine_cfg *c)
{
	uint32_t n = PROBES_PER_QP * c->max_qps;

	n = n < MT_PROBES_MAX ? n : MT_PROBES_MAX;
	return n < PROBES_MIN ? PROBES_MIN : n;
}

static size_t engine_layout(struct mt_engine *e, const struct mt_engine_cfg *c)
{
	struct carver at = {.block = (uint8_t *)e};
	struct mt_control *controls;
	struct mt_ep_slot *ep_slots, **ep_chains;
	struct mt_probe *probes;

	carve(&at, sizeof(*e));
	controls = carve(&at, c->control_ring * sizeof(*controls));
	ep_slots = carve(&at, c->ep_requests * sizeof(*ep_slots));
	ep_chains = carve(&at, c->ep_requests * sizeof(struct mt_ep_slot *));
	probes = carve(&at, probe_slots(c) * sizeof(*probes));
	if (e) {
		mt_ep_init(&e->ep_table, ep_slots, ep_chains, c->ep_requests);
		mt_control_init(&e->controls, controls, c->control_ring);
		mt_probe_table_init(&e->probes, probes, probe_slots(c),
				    PROBE_LIFE_WAITS * c->timing.tail_probe_min_ns);
		e->events.mask = c->event_ring - 1;
		e->mrs.max = c->max_mrs;
	}
#define PART(field, count)                                                                     \
	do {                                                                                   \
		void *part =                                                                   \
			carve(&at, (size_t)(count) * sizeof(*((struct mt_engine *)0)->field)); \
		if (e)                                                                         \
			e->field = part;                                                       \
	} while (0)
	PART(events.events, c->event_ring);
	PART(mrs.mrs, (size_t)c->max_mrs + 1);
	PART(uplinks, c->n_ports);
	PART(qps, c->max_qps);
	PART(ev_set_buckets, c->max_qps); /* no more than one destination for each QP */
	PART(ev_profiles, c->max_profiles);
	PART(cc_profiles, c->max_profiles);
#undef PART
	return at.used;
}

size_t mt_engine_size(const struct mt_engine_cfg *cfg)
{
	return cfg_valid(cfg) ? engine_layout(NULL, cfg) : 0;
}

struct mt_engine *mt_engine_init(void *mem, const struct mt_engine_cfg *cfg,
				 const struct mt_env *env, uint64_t now_ns)
{
	struct mt_engine *e = mem;
	size_t size = mt_engine_size(cfg);
	struct mb_prng hash_prng;

	mb_assert(size > 0 && ((uintptr_t)mem & 63) == 0);
	memset(mem, 0, size);
	e->cfg = *cfg;
	e->env = *env;
	mb_prng_init(&e->prng, cfg->seed);
	mb_pool_init(&e->pool);
	mb_timers_init(&e->qp_timers);
	mb_timers_init(&e->ev_timers);
	mb_timers_init(&e->peer_timers);
	mb_link_init(&e->ready);
	mb_link_init(&e->no_room);
	e->turn_ns = UINT64_MAX;
	mb_link_init(&e->control);
	mb_link_init(&e->completions);
	mb_link_init(&e->limited);
	mb_link_init(&e->window_owners);
	mb_link_init(&e->ev_sets);
	mb_link_init(&e->probes_active);
	mb_link_init(&e->probes_idle);
	mb_link_init(&e->peers_waiting);
	engine_layout(e, cfg);
	mt_mr_table_init(&e->mrs);
	/* A generator of its own: what the engine draws for packets does not depend on this. */
	mb_prng_init(&hash_prng, ~cfg->seed);
	e->ev_set_hash_key = mb_prng_u64(&hash_prng);
	mt_local_ports_init(&e->ports, cfg->n_ports, now_ns);
	return e;
}

/* ---- memory ---- */

void mt_engine_add_memory(struct mt_engine *e, void *chunk, size_t size)
{
	mb_assert(((uintptr_t)chunk & 63) == 0);
	mb_pool_add(&e->pool, chunk, size);
}

size_t mt_engine_memory_used(const struct mt_engine *e)
{
	return e->pool.in_use;
}

size_t mt_engine_memory_wanted(const struct mt_engine *e)
{
	return e->pool.wanted;
}

/* ---- profiles ---- */

/* REQ(req.ev.set-size) */
static bool ev_profile_valid(const struct mt_engine *e, const struct mt_ev_profile_cfg *c)
{
	if (!c->evs || c->n_evs == 0 || c->n_evs > MT_EVS_MAX || c->n_active == 0 ||
	    c->n_active > c->n_evs || c->min_active == 0 || c->min_active > c->n_active)
		return false;
	if (c->revive_probes == 0 || c->revive_probes > REVIVE_MAX || c->probe_interval_ns == 0 ||
	    c->probe_interval_ns > c->probe_interval_max_ns ||
	    c->probe_interval_max_ns > TIME_MAX_NS || c->ignores >= MT_EV_IGNORES_END)
		return false;
	for (uint16_t i = 0; i < c->n_evs; i++)
		if (c->evs[i].port >= e->cfg.n_ports ||
		    (c->group_ids && c->group_ids[i] >= c->n_evs))
			return false;
	return true;
}

static size_t ev_profile_bytes(const struct mt_ev_profile_cfg *c)
{
	return c->n_evs * (sizeof(*c->evs) + (c->group_ids ? sizeof(*c->group_ids) : 0));
}

void mt_ev_profile_clear(struct mt_engine *e, uint32_t id)
{
	struct mt_ev_profile *p = &e->ev_profiles[id];

	mb_assert(id < e->cfg.max_profiles);
	mb_pool_put(&e->pool, p->copy, ev_profile_bytes(&p->cfg));
	mb_pool_put(&e->pool, p->denied, mt_ev_denied_bytes(p->cfg.n_evs));
	*p = (struct mt_ev_profile){0};
}

int mt_ev_profile_set(struct mt_engine *e, uint32_t id, const struct mt_ev_profile_cfg *cfg)
{
	struct mt_ev_profile *p;
	struct mt_ev *evs = NULL;

	if (id >= e->cfg.max_profiles || !ev_profile_valid(e, cfg))
		return MT_ERR_INVALID;
	p = &e->ev_profiles[id];
	if (!cfg->is_static)
		evs = mt_engine_alloc(e, ev_profile_bytes(cfg));
	if (!evs && !cfg->is_static)
		return MT_ERR_MEMORY;
	mt_ev_profile_clear(e, id);
	p->cfg = *cfg;
	p->copy = evs;
	if (cfg->is_static)
		return MT_OK;
	memcpy(evs, cfg->evs, cfg->n_evs * sizeof(*evs));
	p->cfg.evs = evs;
	if (cfg->group_ids) {
		p->cfg.group_ids = (const uint16_t *)(void *)(evs + cfg->n_evs);
		memcpy(evs + cfg->n_evs, cfg->group_ids, cfg->n_evs * sizeof(*cfg->group_ids));
	}
	return MT_OK;
}

int mt_cc_profile_set(struct mt_engine *e, uint32_t id, const struct mt_cc_profile_cfg *cfg)
{
	struct mt_range_error error;

	if (id >= e->cfg.max_profiles || !mt_cc_profile_check(cfg, &error))
		return MT_ERR_INVALID;
	mt_cc_profile_define(&e->cc_profiles[id], cfg);
	return MT_OK;
}

void mt_cc_profile_clear(struct mt_engine *e, uint32_t id)
{
	mb_assert(id < e->cfg.max_profiles);
	e->cc_profiles[id].set = false;
}

/* ---- timers ---- */

static uint64_t first_deadline(const struct mt_engine *e)
{
	uint64_t qp = mb_timers_deadline(&e->qp_timers);
	uint64_t ev = mb_timers_deadline(&e->ev_timers);
	uint64_t ep = mb_timers_deadline(&e->ep_table.timers);
	uint64_t memory = mt_memory_deadline(e);
	uint64_t peer = mb_timers_deadline(&e->peer_timers), uplink = mt_uplinks_deadline(e);
	uint64_t a = qp < ev ? qp : ev, b = ep < peer ? ep : peer;
	uint64_t turn = mt_ev_probes_deadline(e);

	a = a < memory ? a : memory;
	b = b < uplink ? b : uplink;
	b = b < turn ? b : turn;
	return a < b ? a : b;
}

uint64_t mt_engine_deadline(const struct mt_engine *e)
{
	uint64_t first = first_deadline(e);

	first = first < e->grace_ns ? e->grace_ns : first;
	return first < e->turn_ns ? first : e->turn_ns;
}

/*
 * A timer that is late by more than a reorder window tells that this engine was not run for a
 * while. The answers that it waits for may wait in the adapter's queues; as long again is given to
 * take them first. Only once: an adapter that is always late still makes progress.
 * REQ(req.retry.own-stop)
 */
static void note_stop(struct mt_engine *e, uint64_t now_ns)
{
	uint64_t first = first_deadline(e), due = first < now_ns ? first : now_ns;
	uint64_t late_ns = e->cfg.timing.reorder_min_ns;

	if (due >= e->grace_ns && now_ns - due > late_ns)
		e->grace_ns = now_ns + late_ns;
}

void mt_engine_tick(struct mt_engine *e, uint64_t now_ns)
{
	struct mb_timer *t;

	mt_engine_end_turn(e, now_ns);
	note_stop(e, now_ns);
	if (now_ns < e->grace_ns)
		return;
	while ((t = mb_timers_expire(&e->qp_timers, now_ns))) {
		struct mt_qp *qp = mb_container_of(t, struct mt_qp, timer);

		mb_assert(qp->engine == e && qp->ev_set);
		mt_qp_tick(qp, now_ns);
	}
	while ((t = mb_timers_expire(&e->ev_timers, now_ns)))
		mt_ev_sets_tick(e, mb_container_of(t, struct mt_ev_set, timer), now_ns);
	mt_ev_probes_tick(e, now_ns);
	mt_endpoint_tick(e, now_ns);
	mt_peers_tick(e, now_ns);
	mt_uplinks_tick(e, now_ns);
	mt_memory_tick(e, now_ns);
}

/* ---- events ---- */

static bool poll_send(struct mt_qp *qp, struct mt_event *ev)
{
	if (qp->ext && qp->ext->local_sq)
		return mt_local_wr_poll(qp, ev);
	return mt_sq_poll(&qp->req.sq, UINT64_MAX, ev);
}

static bool poll_recv(struct mt_rq *rq, struct mt_event *ev)
{
	if (!mt_rq_poll(rq, ev))
		return false;
	if (rq->srq)
		mt_srq_polled(rq->srq);
	return true;
}

/* REQ(ext.srq.last) */
static bool poll_last_wqe(struct mt_qp *qp, struct mt_event *ev)
{
	bool due = qp->last_wqe_unreported;

	qp->last_wqe_unreported = false;
	if (due)
		*ev = (struct mt_event){.type = MT_EVENT_LAST_WQE, .qp_user = qp->user};
	return due;
}

/*
 * One event of a QP: completions first, so that its failure is the last thing heard of it, and that
 * it has drained what follows the last completion. REQ(req.sqd.drained)
 */
static bool poll_qp(struct mt_qp *qp, struct mt_event *ev)
{
	if (poll_send(qp, ev) || poll_recv(&qp->rsp.rq, ev)) {
		mb_assert_slow(qp->state != RD_QPS_RESET);
		ev->qp_user = qp->user;
		return true;
	}
	if (qp->state == RD_QPS_SQD && qp->drain_unreported && !mt_qp_has_begun_wr(qp)) {
		qp->drain_unreported = false;
		*ev = (struct mt_event){.type = MT_EVENT_SQ_DRAINED, .qp_user = qp->user};
		return true;
	}
	if (!qp->failure_unreported)
		return poll_last_wqe(qp, ev);
	qp->failure_unreported = false;
	*ev = (struct mt_event){
		.type = MT_EVENT_QP,
		.status = qp->failure,
		.responder = qp->rsp.nak_due,
		.qp_user = qp->user,
	};
	return true;
}

uint32_t mt_engine_poll(struct mt_engine *e, struct mt_event *events, uint32_t n)
{
	uint32_t got = 0;

	while (got < n && e->events.head != e->events.tail)
		events[got++] = e->events.events[e->events.head++ & e->events.mask];
	while (got < n && mt_endpoint_poll(e, &events[got]))
		got++;
	while (got < n && mt_srq_poll(e, &events[got]))
		got++;
	while (got < n && !mb_link_is_empty(&e->completions)) {
		struct mt_qp *qp = mb_container_of(e->completions.next, struct mt_qp, completion);

		if (poll_qp(qp, &events[got]))
			got++;
		else
			mb_link_remove(&qp->completion);
	}
	/* A caller that takes few at a time is not to hear of one busy QP alone. */
	if (got == n && !mb_link_is_empty(&e->completions))
		mb_list_rotate(&e->completions);
	mb_assert(got <= n);
	return got;
}

/* ---- looking in ---- */

void mt_engine_stats(const struct mt_engine *e, struct mt_stats *stats)
{
	*stats = e->stats;
}

void mt_qp_info(const struct mt_qp *qp, struct mt_qp_info *info)
{
	const struct mt_requester *req = &qp->req;

	*info = (struct mt_qp_info){
		.state = qp->state,
		.qpn = qp->qpn,
		.dest_qpn = qp->attr.dest_qpn,
		.dest = qp->attr.dest,
		.psn_next = req->window.next,
		.psn_una = req->window.una,
		.psn_expected = qp->rsp.window.expected,
		.cwnd_bytes = req->cc.cwnd,
		.inflight_bytes = req->cc.inflight,
		.srtt_ns = req->rtt.smoothed_ns,
		.rtt_min_ns = req->rtt.smoothed_ns ? req->rtt.min_ns : 0,
		.reorder_window_ns = qp->engine->cfg.timing.reorder_max_ns,
		.lost_pending = req->window.lost + req->window.n_backoff,
	};
	if (qp->peer)
		info->heard_ns = qp->peer->liveness.rx_ns;
	if (qp->ext && qp->ext->rd_atomic)
		info->responses = (uint32_t)(qp->ext->rd_atomic->qp.req.sq.tail -
					     qp->ext->rd_atomic->qp.req.sq.done);
	if (!qp->ev_set)
		return;
	info->evs = qp->ev_set->n_evs;
	info->reorder_window_ns = mt_reorder_window(&qp->ev_set->reorder, &qp->engine->cfg.timing);
	for (uint16_t i = 0; i < qp->ev_set->n_evs; i++) {
		info->evs_good += mt_ev_is_usable(qp->ev_set, i);
		info->evs_bad += mt_ev_state_of(qp->ev_set, i) == MT_EV_ASSUMED_BAD;
	}
}

uint32_t mt_qp_memory(const struct mt_qp *qp, struct mt_piece pieces[MT_QP_PIECES])
{
	const struct mt_ev_set *s = qp->ev_set;

	pieces[0] = (struct mt_piece){qp, mt_qp_size(&qp->cap)};
	if (!s)
		return 1;
	pieces[1] = (struct mt_piece){s, mt_ev_set_size(s->n_evs, s->n_ports)};
	return 2;
}

bool mt_qp_ev_info(const struct mt_qp *qp, uint32_t i, struct mt_ev_info *info)
{
	const struct mt_ev_set *s = qp->ev_set;
	const struct mt_ev_fault *fault;
	uint16_t ev;

	if (!s || i >= s->n_evs)
		return false;
	ev = (uint16_t)i;
	fault = mt_ev_fault(s, ev);
	*info = (struct mt_ev_info){
		.ev = {mt_ev_value(s, ev), mt_ev_port(s, ev)},
		.state = mt_spray_skips(&qp->req.spray, ev) && mt_ev_is_usable(s, ev)
				 ? MT_EV_SKIP
				 : mt_ev_state_of(s, ev),
		.retired = fault ? fault->retired : 0,
		.revived = fault ? fault->revived : 0,
	};
	return true;
}

int mt_qp_ev_deny(struct mt_qp *qp, uint64_t now_ns, uint32_t i, bool deny)
{
	(void)now_ns;
	if (!qp->ev_set)
		return MT_ERR_STATE;
	if (i >= qp->ev_set->n_evs)
		return MT_ERR_INVALID;
	return mt_ev_sets_deny(qp->engine, qp->ev_set, (uint16_t)i, deny);
}
