/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_host.c - making NICs and taking them down: an engine comes when something first happens at
 * its host, with the EVs that this host uses, a random part of the paths of each plane.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/prng.h"
#include "core/stats.h"
#include "fabric/ev_routing.h"
#include "fabric/fabric_link.h"
#include "sim/mrc/mrc_nic_state.h"

#define PS_PER_S UINT64_C(1000000000000)
/* Seeds of hosts that are next to each other are far apart. */
#define SEED_STEP UINT64_C(0x9E3779B97F4A7C15)

/* ---- hosts ---- */

/* Draws the EVs of each plane without repeating one: the first steps of a shuffle. */
static void choose_evs(const struct ms_nics *n, uint32_t *order, struct mb_prng *prng,
		       struct mt_ev *evs)
{
	const struct mf_topology *t = &n->cfg.topology;
	uint32_t per_plane = mf_ev_count(t) / n->planes;

	for (uint32_t p = 0; p < n->planes; p++) {
		for (uint32_t i = 0; i < per_plane; i++)
			order[i] = i;
		for (uint32_t i = 0; i < n->n_evs; i++) {
			uint32_t j = i + mb_prng_below(prng, per_plane - i), first = order[i];

			order[i] = order[j];
			order[j] = first;
			evs[i * n->planes + p] = (struct mt_ev){
				.value = mf_ev_nth(t, order[i] * n->planes + p),
				.port = (uint8_t)p,
			};
		}
	}
}

/*
 * Hosts share sets, but none of those on the same T0, where the same uplinks would be loaded twice:
 * hosts with the same number modulo this.
 */
#define EV_SETS_MAX 4096u

static bool open_ev_sets(struct ms_nics *n)
{
	uint32_t *order = calloc(mf_ev_count(&n->cfg.topology) / n->planes, sizeof(*order));
	size_t set = (size_t)n->n_evs * n->planes;
	struct mb_prng prng;

	mb_prng_init(&prng, n->cfg.seed);
	n->n_ev_sets = n->hosts < EV_SETS_MAX ? n->hosts : EV_SETS_MAX;
	n->ev_sets = calloc(n->n_ev_sets * set, sizeof(*n->ev_sets));
	for (uint32_t i = 0; order && n->ev_sets && i < n->n_ev_sets; i++)
		choose_evs(n, order, &prng, n->ev_sets + i * set);
	free(order);
	return order && n->ev_sets;
}

static uint8_t ignores_ecn(const struct ms_nic_cfg *c)
{
	uint8_t all = MT_EV_IGNORES_MARKS | MT_EV_IGNORES_TRIMS | MT_EV_IGNORES_LOSS;

	return (uint8_t)((c->ev_feedback ? 0 : all) | (c->ecn_steering ? 0 : MT_EV_IGNORES_MARKS) |
			 (c->ev_probes ? 0 : MT_EV_NO_PROBES));
}

static bool set_profiles(struct ms_host *h)
{
	struct ms_nics *n = h->nics;
	const struct ms_nic_cfg *c = &n->cfg;
	uint32_t active = c->evs_active && c->evs_active < n->n_evs ? c->evs_active : n->n_evs;
	struct mt_ev_profile_cfg profile = {
		.evs = n->ev_sets + (size_t)(h->number % n->n_ev_sets) * n->n_evs * n->planes,
		.is_static = true,
		.n_evs = (uint16_t)(n->n_evs * n->planes),
		.n_active = (uint16_t)(active * n->planes),
		.min_active = (uint16_t)(c->min_active < active * n->planes ? c->min_active
									    : active * n->planes),
		.revive_probes = c->revive_probes,
		.ignores = ignores_ecn(c),
		.probe_interval_ns = c->probe_interval_ns,
		.probe_interval_max_ns = c->probe_interval_max_ns,
	};

	return mt_ev_profile_set(h->engine, 0, &profile) == MT_OK &&
	       mt_cc_profile_set(h->engine, 0, &c->cc) == MT_OK;
}

bool ms_nic_grow_engine(struct ms_host *h)
{
	size_t size = mt_engine_memory_wanted(h->engine);
	void *chunk = ms_arena_alloc(&h->worker->arena, size);

	if (!chunk) {
		h->worker->no_memory = true;
		return false;
	}
	mt_engine_add_memory(h->engine, chunk, size);
	return true;
}

void ms_nic_set_prefetch(struct ms_host *h, const struct ms_conn *c, bool gone)
{
	struct ms_ahead *a = &h->nics->ahead[h->number];
	struct mt_piece pieces[MT_QP_PIECES];
	uint32_t n = mt_qp_memory(c->qp, pieces), first = 1;

	while (first < 1 + MS_AHEAD_CONNS * MT_QP_PIECES && a->at[first] != (gone ? c->qp : NULL))
		first += MT_QP_PIECES;
	if (first >= 1 + MS_AHEAD_CONNS * MT_QP_PIECES) {
		if (gone)
			return;
		first = 1 + a->turn * MT_QP_PIECES;
		a->turn = (uint16_t)((a->turn + 1) % MS_AHEAD_CONNS);
	}
	for (uint32_t i = 0; i < MT_QP_PIECES; i++) {
		bool is = i < n && !gone;

		a->at[first + i] = is ? pieces[i].at : NULL;
		a->size[first + i] = (uint16_t)(is ? pieces[i].size : 0);
	}
}

/* Of an engine's memory its first part is what every packet touches; rings come behind it. */
#define ENGINE_HOT 2048u

static struct ms_host *lay_out(struct ms_nics *n, struct ms_worker_state *worker, uint32_t number,
			       const struct mt_engine_cfg *cfg, uint32_t slots, uint64_t now_ns)
{
	size_t head = mb_align64(sizeof(struct ms_host)),
	       table = mb_align64(slots * sizeof(void *));
	uint8_t *mem = ms_arena_alloc(&worker->arena, head + table + mt_engine_size(cfg));
	struct mt_env env = {.place = ms_conn_place};
	struct ms_host *h;

	if (!mem)
		return NULL;
	memset(mem, 0, head + table);
	h = (struct ms_host *)(void *)mem;
	h->nics = n;
	h->worker = worker;
	h->number = number;
	h->app.host = h;
	h->app.number = number;
	h->conns = (struct ms_conn **)(void *)(mem + head);
	h->wake_ps = MS_NEVER;
	env.ctx = h;
	h->engine = mt_engine_init(mem + head + table, cfg, &env, now_ns);
	n->ahead[number].at[0] = mem;
	n->ahead[number].size[0] = (uint16_t)(head + ENGINE_HOT);
	return h;
}

struct ms_host *ms_nic_host(struct ms_nics *n, struct ms_worker_state *worker, uint32_t number,
			    uint64_t now_ns)
{
	uint32_t slots, outgoing;
	struct mt_engine_cfg cfg;
	struct mb_prng prng;
	struct ms_host *h = n->host[number];

	if (h)
		return h;
	slots = ms_workload_slots(n->workload, number);
	outgoing = ms_workload_outgoing(n->workload, number);
	mb_prng_init(&prng, n->cfg.seed + SEED_STEP * (number + 1));
	ms_nic_engine_cfg(&n->cfg, slots, slots - outgoing, &cfg);
	cfg.seed = mb_prng_u64(&prng);
	h = lay_out(n, worker, number, &cfg, slots, now_ns);
	if (!h) {
		worker->no_memory = true;
		return NULL;
	}
	h->n_slots = slots;
	h->outgoing = outgoing;
	if (!set_profiles(h))
		ms_nic_report_violation(worker, "host %u: its profiles are refused", number);
	for (uint32_t p = 0; p < n->planes; p++)
		if (n->dark[number] >> p & 1)
			mt_engine_port_set(h->engine, now_ns, p, false);
	worker->sums.engines++;
	n->host[number] = h;
	return h;
}

/* ---- life ---- */

static bool open_workers(struct ms_nics *n)
{
	n->worker = calloc(n->cfg.threads, sizeof(*n->worker));
	if (!n->worker)
		return false;
	n->workers = n->cfg.threads;
	for (uint32_t i = 0; i < n->workers; i++)
		ms_arena_init(&n->worker[i].arena);
	return true;
}

static bool open_records(struct ms_nics *n)
{
	size_t flows = ms_workload_flows(n->workload) + (size_t)1;

	n->host = calloc(n->hosts, sizeof(*n->host));
	n->dark = calloc(n->hosts, sizeof(*n->dark));
	n->ahead = calloc(n->hosts, sizeof(*n->ahead));
	n->source = malloc(flows * sizeof(*n->source));
	n->end_ns = malloc(flows * sizeof(*n->end_ns));
	if (!n->host || !n->ahead || !n->dark || !n->source || !n->end_ns)
		return false;
	for (size_t i = 0; i < flows; i++) {
		n->source[i] = (struct ms_source_record){UINT64_MAX, UINT64_MAX, 0, 0};
		n->end_ns[i] = UINT64_MAX;
	}
	return true;
}

/* All graphs are played here, also those over RoCE. */
static bool open_plays(struct ms_nics *n)
{
	for (uint32_t part = 0; part < ms_workload_parts(n->workload); part++) {
		uint64_t start_ns;
		const struct ms_graph *g = ms_workload_part_graph(n->workload, part, &start_ns);

		if (g && !(n->play[part] = ms_graph_exec_create(g, start_ns)))
			return false;
	}
	ms_app_init(&n->app, n->workload, MS_MRC, n->play);
	n->app.begin = ms_conn_begin;
	n->app.progress = ms_conn_progress;
	return true;
}

static bool slots_fit(const struct ms_nics *n, char *why)
{
	for (uint32_t i = 0; i < n->hosts; i++) {
		uint32_t slots = ms_workload_slots(n->workload, i);

		if (slots > MS_SLOTS_MAX) {
			snprintf(why, MS_WHY_BYTES, "host %u has %u connections: at most %u", i,
				 slots, MS_SLOTS_MAX);
			return false;
		}
	}
	return true;
}

struct ms_nics *ms_nics_create(const struct ms_nic_cfg *cfg, const struct ms_workload *workload,
			       char *why)
{
	struct ms_nics *n;
	uint64_t longest = cfg->path_mtu + 40 + (uint64_t)cfg->frame_bytes;

	if (!ms_nic_check(cfg, why))
		return NULL;
	n = calloc(1, sizeof(*n));
	if (!n) {
		snprintf(why, MS_WHY_BYTES, "no memory for NICs");
		return NULL;
	}
	n->cfg = *cfg;
	n->workload = workload;
	n->hosts = cfg->topology.n_hosts;
	n->planes = cfg->topology.cfg.planes;
	n->n_evs = ms_nic_evs(cfg);
	n->packet_ps =
		(uint32_t)(longest * 8 * PS_PER_S / cfg->topology.cfg.links[MF_HOST_T0].bit_s);
	if (!slots_fit(n, why)) {
		ms_nics_destroy(n);
		return NULL;
	}
	if (!open_workers(n) || !open_ev_sets(n) || !open_records(n) || !open_plays(n)) {
		snprintf(why, MS_WHY_BYTES, "no memory for %u NICs", n->hosts);
		ms_nics_destroy(n);
		return NULL;
	}
	return n;
}

void ms_nics_destroy(struct ms_nics *n)
{
	if (!n)
		return;
	for (uint32_t i = 0; i < n->workers; i++)
		ms_arena_fini(&n->worker[i].arena);
	for (uint32_t part = 0; part < MS_PARTS_MAX; part++)
		ms_graph_exec_destroy(n->play[part]);
	free(n->ev_sets);
	free(n->worker);
	free(n->host);
	free(n->ahead);
	free(n->dark);
	free(n->source);
	free(n->end_ns);
	free(n);
}

/* ---- looking in ---- */

void *ms_nics_owner(const struct ms_nics *n)
{
	return n->cfg.owner;
}

struct ms_graph_exec *ms_nics_graph_exec(const struct ms_nics *nics, uint32_t part)
{
	return part < MS_PARTS_MAX ? nics->play[part] : NULL;
}

void ms_nics_flow(const struct ms_nics *n, uint32_t flow, struct ms_flow_record *record)
{
	const struct ms_source_record *s = &n->source[flow];

	*record = (struct ms_flow_record){
		.start_ns = s->start_ns,
		.acked_ns = s->acked_ns,
		.end_ns = n->end_ns[flow],
		.retransmits = s->retransmits,
		.failed = s->failed,
	};
}

static void add_stats(struct mt_stats *sum, const struct mt_stats *s)
{
#define ADD(name, text) sum->name += s->name;
	MT_STATS(ADD)
#undef ADD
}

void ms_nics_sums(const struct ms_nics *n, struct ms_nic_sums *sums)
{
	*sums = (struct ms_nic_sums){
		.memory_bytes =
			n->hosts * (sizeof(*n->host) + sizeof(*n->ahead) + sizeof(*n->dark)) +
			ms_workload_flows(n->workload) * (sizeof(*n->source) + sizeof(*n->end_ns)),
	};
	for (uint32_t i = 0; i < n->workers; i++) {
		const struct ms_nic_sums *s = &n->worker[i].sums;

		sums->sent += s->sent;
		sums->received += s->received;
		sums->arrived += s->arrived;
		sums->acked += s->acked;
		sums->failed += s->failed;
		sums->violations += s->violations;
		sums->engines += s->engines;
		sums->connections += s->connections;
		sums->memory_bytes += n->worker[i].arena.bytes;
	}
	for (uint32_t i = 0; i < n->hosts; i++) {
		struct mt_stats stats;

		if (!n->host[i])
			continue;
		mt_engine_stats(n->host[i]->engine, &stats);
		add_stats(&sums->core, &stats);
	}
}

uint32_t ms_nics_arrived(const struct ms_nics *n)
{
	uint32_t arrived = 0;

	for (uint32_t i = 0; i < n->workers; i++)
		arrived += n->worker[i].sums.arrived;
	return arrived;
}

bool ms_nics_out_of_memory(const struct ms_nics *n)
{
	for (uint32_t i = 0; i < n->workers; i++)
		if (n->worker[i].no_memory)
			return true;
	return false;
}

const char *ms_nics_violation(const struct ms_nics *n)
{
	for (uint32_t i = 0; i < n->workers; i++)
		if (n->worker[i].sums.violations)
			return n->worker[i].violation;
	return NULL;
}

void ms_nics_progress(const struct ms_nics *n, uint32_t flow, uint32_t *posted, uint32_t *arrived)
{
	const struct ms_host *src, *dst;
	struct ms_flow f;

	ms_workload_flow(n->workload, flow, &f);
	src = n->host[f.src];
	dst = n->host[f.dst];
	*posted = *arrived = 0;
	if (src && src->conns[f.src_slot])
		*posted = src->conns[f.src_slot] == MS_CONN_DONE ? f.messages
								 : src->conns[f.src_slot]->posted;
	if (dst)
		*arrived = ms_conn_progress(dst, f.dst_slot, f.messages);
}

uint64_t ms_nics_placed(const struct ms_nics *n, uint32_t flow)
{
	const struct ms_host *dst;
	const struct ms_conn *c;
	struct ms_flow f;

	ms_workload_flow(n->workload, flow, &f);
	if (n->end_ns[flow] != UINT64_MAX)
		return f.bytes;
	dst = n->host[f.dst];
	c = dst ? dst->conns[f.dst_slot] : NULL;
	return c && c != MS_CONN_DONE ? c->placed_bytes : 0;
}
