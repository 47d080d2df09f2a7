/* SPDX-License-Identifier: BSD-2-Clause */
/* world.c - see world.h. */
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert.h"
#include "core/state/engine_state.h"
#include "core/state/qp.h"

#define AMPLE_BYTES ((size_t)1 << 20)
#define PAYLOAD_MAX 4096u
#define ALL_ATTRIBUTES \
	((((uint32_t)RD_QP_DYNAMIC_MPR << 1) - 1) | RD_QP_RNR_RETRY | RD_QP_MIN_RNR_TIMER)
#define PEER_ADDR 2
#define ATTACKER_ADDR 3
/* So often may an engine act at one moment before it is held to be stuck. */
#define STEPS_MAX 100000u

static void *block(struct world *w, size_t size)
{
	size_t whole = (size + 63) & ~(size_t)63;
	void *mem;

	if (w->n_blocks == sizeof(w->blocks) / sizeof(*w->blocks))
		report_fail(w->report, "the engine asks for memory again and again");
	mem = aligned_alloc(64, whole);
	if (!mem)
		abort();
	memset(mem, 0, whole);
	w->blocks[w->n_blocks++] = mem;
	return mem;
}

void world_memory(struct world *w)
{
	size_t size = mt_engine_memory_wanted(w->engine);

	mt_engine_add_memory(w->engine, block(w, size), size);
}

static uint8_t payload_byte(uint64_t offset)
{
	return (uint8_t)(offset * 7 + (offset >> 8) * 13);
}

static bool place(void *ctx, void *mr_user, uint64_t offset, const void *src, uint32_t len)
{
	struct world *w = ctx;

	(void)mr_user;
	if (w->memory_gone)
		return false;
	for (uint32_t i = 0; i < len; i++)
		if (((const uint8_t *)src)[i] != payload_byte(offset + i))
			report_fail(w->report,
				    "byte %" PRIu32 " of the payload placed at %" PRIu64
				    " is not the byte that the peer sent there",
				    i, offset);
	if (w->n_placed < WORLD_QUEUE)
		w->placed[w->n_placed++] = (struct placed){offset, len};
	return true;
}

static void check(struct world *w, int result, const char *what)
{
	if (result != MT_OK)
		report_fail(w->report, "%s refuses the configuration (%d)", what, result);
}

static void set_profiles(struct world *w)
{
	static struct mt_ev evs[CONFIG_EVS_MAX];
	static uint16_t group_ids[CONFIG_EVS_MAX];
	struct mt_ev_profile_cfg cfg = w->config.ev_profile;
	int r;

	for (uint16_t i = 0; i < cfg.n_evs; i++)
		evs[i] =
			(struct mt_ev){.value = i, .port = (uint8_t)(i % w->config.engine.n_ports)};
	for (uint16_t i = 0; i < cfg.n_evs && w->config.paths > 0; i++)
		group_ids[i] = (uint16_t)(i % w->config.paths);
	cfg.evs = evs;
	cfg.group_ids = w->config.paths ? group_ids : NULL;
	if (cfg.n_active == 0)
		cfg.n_active = cfg.n_evs;
	if (cfg.probe_interval_max_ns < cfg.probe_interval_ns)
		cfg.probe_interval_max_ns = cfg.probe_interval_ns;
	while ((r = mt_ev_profile_set(w->engine, 0, &cfg)) == MT_ERR_MEMORY)
		world_memory(w);
	check(w, r, "mt_ev_profile_set");
	check(w, mt_cc_profile_set(w->engine, 0, &w->config.cc), "mt_cc_profile_set");
}

static void modify(struct world *w, const struct rd_qp_attr *attr, uint32_t mask)
{
	int r;

	while ((r = mt_qp_modify(w->qp, 0, attr, mask)) == MT_ERR_MEMORY)
		world_memory(w);
	check(w, r, "mt_qp_modify");
}

/* The counters of a connection that has carried messages before; there is no way to set them from
 * outside, and 65,000 messages say nothing that these do not. */
static void set_history(struct world *w)
{
	struct mt_requester *req = &w->qp->req;
	struct mt_responder *rsp = &w->qp->rsp;

	req->sq.head = req->sq.done = req->sq.next = req->sq.tail = w->config.msn;
	req->rqmsn = (uint16_t)w->config.rqmsn;
	rsp->msn = w->config.peer_msn;
	rsp->stash.next = w->config.peer_rqmsn;
}

static void connect_qp(struct world *w)
{
	struct rd_qp_attr a = w->config.attr;
	void *mem = block(w, mt_qp_size(&w->config.cap));

	check(w, mt_qp_init(w->engine, mem, &w->config.cap, WORLD_QPN, w, &w->qp), "mt_qp_init");
	if (w->config.read_only)
		a.access = RD_ACCESS_LOCAL_WRITE;
	w->config.attr.dest.b[0] = PEER_ADDR;
	a.dest = w->config.attr.dest;
	a.dest_qpn = WORLD_PEER_QPN;
	a.state = RD_QPS_INIT;
	modify(w, &a, RD_QP_STATE);
	a.state = RD_QPS_RTR;
	modify(w, &a, ALL_ATTRIBUTES);
	set_history(w);
	if (w->config.rtr_only)
		return;
	a.state = RD_QPS_RTS;
	modify(w, &a, RD_QP_STATE);
}

void world_init(struct world *w, struct report *r, const struct config *c)
{
	struct mt_env env = {.ctx = w, .place = place};
	size_t size = mt_engine_size(&c->engine);

	w->report = r;
	w->config = *c;
	w->config.attr.rnr_retry = c->rnr_retry & 7u;
	w->config.attr.min_rnr_timer = c->rnr_timer & 31u;
	w->config.cap.extensions = c->extended ? MW_EXT_SEND : 0;
	w->config.cap.in_order = c->extended;
	w->config.cap.max_recv_sge = c->extended ? WORLD_SGES : 0;
	w->room = UINT32_MAX;
	w->rcvd_up_to = c->attr.sq_psn;
	w->queue = w->queue_memory = calloc(WORLD_QUEUE, sizeof(*w->queue));
	w->events = calloc(WORLD_EVENTS, sizeof(*w->events));
	w->placed = calloc(WORLD_QUEUE, sizeof(*w->placed));
	w->sent = calloc(WORLD_SEEN, sizeof(*w->sent));
	w->got = calloc(WORLD_SEEN, sizeof(*w->got));
	w->probes = calloc(WORLD_SEEN, sizeof(*w->probes));
	w->peer_probes = calloc(WORLD_SEEN, sizeof(*w->peer_probes));
	w->requests = calloc(WORLD_SEEN, sizeof(*w->requests));
	if (!w->queue || !w->events || !w->placed || !w->sent || !w->got || !w->probes ||
	    !w->peer_probes || !w->requests)
		abort();
	if (size == 0)
		report_fail(r, "mt_engine_size refuses the configuration");
	w->engine = mt_engine_init(block(w, size), &c->engine, &env, 0);
	if (!c->memory_short)
		mt_engine_add_memory(w->engine, block(w, AMPLE_BYTES), AMPLE_BYTES);
	set_profiles(w);
	check(w,
	      mt_mr_add(w->engine, WORLD_KEY >> 8, WORLD_KEY & 0xFF, c->cap.pd, WORLD_MR_START,
			c->mr_bytes, RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE, w),
	      "mt_mr_add");
	connect_qp(w);
}

void world_fini(struct world *w)
{
	while (w->n_blocks > 0)
		free(w->blocks[--w->n_blocks]);
	free(w->queue_memory);
	free(w->events);
	free(w->placed);
	free(w->sent);
	free(w->got);
	free(w->probes);
	free(w->peer_probes);
	free(w->requests);
}

struct seen *world_seen(struct seen *ring, uint32_t psn)
{
	return &ring[psn % WORLD_SEEN];
}

/* ---- out of the engine ---- */

static void print_trace(struct world *w, const char *arrow, const struct packet *p)
{
	char time[32], text[1024];

	if (!w->trace)
		return;
	words_print_time(w->now_ns, time, sizeof(time));
	packet_print(p, text, sizeof(text));
	printf("# %8s %s %s\n", time, arrow, text);
}

static void remember_sent(struct world *w, const struct packet *p)
{
	struct seen s = {
		.ev = (uint32_t)p->value[F_EV],
		.ts = (uint16_t)packet_get(p, F_TS, 0),
		.plane = (uint8_t)p->value[F_PLANE],
		.valid = true,
	};

	if (p->kind == KIND_PROBE) {
		*world_seen(w->probes, (uint32_t)p->value[F_PROBE]) = s;
		return;
	}
	if (p->kind == KIND_EP_REQUEST)
		*world_seen(w->requests, (uint32_t)p->value[F_ID]) = s;
	if (!packet_is_data(p->kind))
		return;
	s.psn = (uint32_t)p->value[F_PSN];
	s.rtx = p->value[F_RTX];
	s.nominal = (uint32_t)p->value[F_LEN] + MT_NOMINAL_HEADER;
	if (world_seen(w->sent, s.psn)->psn == s.psn)
		s.received = world_seen(w->sent, s.psn)->received;
	*world_seen(w->sent, s.psn) = s;
}

static struct came *next_place(struct world *w)
{
	if (w->n_queue == WORLD_QUEUE)
		report_fail(w->report, "more than %u packets at once", WORLD_QUEUE);
	if (w->queue + w->n_queue == w->queue_memory + WORLD_QUEUE) {
		memmove(w->queue_memory, w->queue, w->n_queue * sizeof(*w->queue));
		w->queue = w->queue_memory;
	}
	return &w->queue[w->n_queue];
}

static void take_packet(struct world *w, const struct mt_tx_desc *d)
{
	static uint8_t bytes[MW_HEADERS_MAX + PAYLOAD_MAX + 4];
	struct came *came = next_place(w);
	struct mw_packet pkt;
	size_t headers = mw_packet_encode(&d->pkt, bytes), begin;
	size_t len = headers + d->pkt.payload_len + d->pkt.bth.pad;

	if (d->dst.b[0] != PEER_ADDR &&
	    !(mw_packet_decode(bytes, len, false, &pkt, &begin) == MW_OK &&
	      pkt.bth.dqp == MW_QPN_ENDPOINT))
		report_fail(w->report,
			    "the engine sent a packet to an address that is not the peer");
	if (mw_packet_decode(bytes, len, false, &pkt, &begin) != MW_OK || begin != headers)
		report_fail(w->report, "the engine sent a packet that does not decode");
	convert_from_wire(&pkt, d, &came->packet);
	came->at_ns = w->now_ns;
	w->n_queue++;
	remember_sent(w, &came->packet);
	print_trace(w, ">", &came->packet);
}

static void take_events(struct world *w)
{
	while (w->n_events < WORLD_EVENTS &&
	       mt_engine_poll(w->engine, &w->events[w->n_events], 1) == 1)
		w->n_events++;
}

void world_pump(struct world *w)
{
	struct mt_tx_desc desc;

	if (w->held)
		return;
	for (;;) {
		bool data_allowed = w->config.gap_ns == 0 || w->now_ns >= w->data_ns;

		if (mt_engine_tx(w->engine, w->now_ns, data_allowed ? w->room : 0, &desc, 1) == 0)
			break;
		if (desc.tclass != MT_CLASS_CONTROL && desc.pkt.bth.opcode != MW_PROBE)
			w->data_ns = w->now_ns + w->config.gap_ns;
		take_packet(w, &desc);
	}
	take_events(w);
}

bool world_step(struct world *w, uint64_t until)
{
	uint64_t next = mt_engine_deadline(w->engine);

	if (w->config.gap_ns && w->room && mt_engine_tx_is_blocked(w->engine) &&
	    w->data_ns < next && w->data_ns > w->now_ns)
		next = w->data_ns;
	if (next > until) {
		w->now_ns = until;
		world_pump(w);
		return false;
	}
	if (next > w->now_ns)
		w->now_ns = next;
	for (unsigned i = 0; mt_engine_deadline(w->engine) <= w->now_ns; i++) {
		if (i == STEPS_MAX)
			report_fail(w->report, "the engine's deadline does not move on");
		mt_engine_tick(w->engine, w->now_ns);
	}
	world_pump(w);
	return true;
}

void world_take(struct world *w, unsigned i)
{
	memmove(&w->queue[1], &w->queue[0], i * sizeof(*w->queue));
	w->queue++;
	w->n_queue--;
}

void world_take_event(struct world *w, unsigned i)
{
	memmove(&w->events[i], &w->events[i + 1], (w->n_events - i - 1) * sizeof(*w->events));
	w->n_events--;
}

void world_purge(struct world *w)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < w->n_queue; i++)
		if (!(w->ignored >> w->queue[i].packet.kind & 1))
			w->queue[kept++] = w->queue[i];
	w->n_queue = kept;
}

/* ---- into the engine ---- */

static void remember_got(struct world *w, const struct packet *p)
{
	struct seen s = {
		.ev = (uint32_t)p->value[F_EV],
		.ts = (uint16_t)packet_get(p, F_TS, 0),
		.plane = (uint8_t)p->value[F_PLANE],
		.valid = true,
	};

	if (p->kind == KIND_PROBE)
		*world_seen(w->peer_probes, (uint32_t)p->value[F_PROBE]) = s;
	if (!packet_is_data(p->kind))
		return;
	s.psn = (uint32_t)p->value[F_PSN];
	*world_seen(w->got, s.psn) = s;
}

void world_deliver(struct world *w, struct packet *p)
{
	static uint8_t bytes[MW_HEADERS_MAX + PAYLOAD_MAX + 4];
	struct mt_rx_meta meta = {.icrc_ok = true};
	struct mw_packet pkt;
	size_t len;

	convert_defaults(w, p);
	convert_to_wire(p, &pkt, &meta);
	meta.src.b[0] = packet_get(p, F_FROM, 0) ? ATTACKER_ADDR : PEER_ADDR;
	print_trace(w, "<", p);
	remember_got(w, p);
	len = mw_packet_encode(&pkt, bytes);
	if (meta.trim == MT_TRIM_NONE) {
		for (uint32_t i = 0; i < pkt.payload_len; i++)
			bytes[len + i] = payload_byte(p->value[F_AT] + i);
		memset(bytes + len + pkt.payload_len, 0, pkt.bth.pad);
		len += pkt.payload_len + pkt.bth.pad;
	}
	mt_engine_rx_bytes(w->engine, w->now_ns, &meta, bytes, len);
	world_pump(w);
}
