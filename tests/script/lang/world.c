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
#define PEER_ADDR 2
#define ATTACKER_ADDR 3

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

static void fail(void *ctx, const char *what, int result)
{
	report_fail(((struct world *)ctx)->report, "%s (%d)", what, result);
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

static bool is_gap_over(const struct world *w)
{
	return w->config.gap_ns == 0 || w->now_ns >= w->data_ns;
}

static uint32_t free_ports(void *ctx, uint32_t n)
{
	const struct world *w = ctx;

	(void)n;
	return is_gap_over(w) ? w->room : 0;
}

static void queue_packet(void *ctx, const struct mt_tx_desc *d, uint32_t ports)
{
	struct world *w = ctx;
	static uint8_t bytes[MW_HEADERS_MAX + PAYLOAD_MAX + 4];
	struct came *came = next_place(w);
	struct mw_packet pkt;
	size_t headers = mw_packet_encode(&d->pkt, bytes), begin;
	size_t len = headers + d->pkt.payload_len + d->pkt.bth.pad;

	(void)ports;
	if (d->tclass != MW_DSCP_CONTROL && d->pkt.bth.opcode != MW_PROBE)
		w->data_ns = w->now_ns + w->config.gap_ns;
	for (uint32_t i = 0; i < d->pkt.payload_len; i++)
		bytes[headers + i] = payload_byte(d->pkt.data.reth.va - WORLD_MR_START + i);
	memset(bytes + headers + d->pkt.payload_len, 0, d->pkt.bth.pad);
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
	capture_add(&w->capture, &(struct capture_packet){.dir = FROM_ENGINE,
							  .now_ns = w->now_ns,
							  .other = d->dst.b[0],
							  .plane = d->port,
							  .ev = d->ev,
							  .cls = (enum mw_dscp_class)d->tclass,
							  .bytes = bytes,
							  .len = len,
							  .packet = &came->packet});
}

static void queue_event(void *ctx, const struct mt_event *ev)
{
	struct world *w = ctx;

	if (w->n_events == WORLD_EVENTS)
		report_fail(w->report, "more than %u events at once", WORLD_EVENTS);
	w->events[w->n_events++] = *ev;
}

void world_pump(struct world *w)
{
	if (w->held)
		return;
	engine_node_send(&w->node, w->now_ns, 1);
	engine_node_poll(&w->node);
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
	engine_node_tick(&w->node, w->now_ns);
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

/* The class of a packet of the peer, which a switch may have changed. */
static enum mw_dscp_class class_of(const struct mw_packet *pkt, const struct mt_rx_meta *meta)
{
	if (meta->trim != MT_TRIM_NONE)
		return meta->trim == MT_TRIM_LASTHOP ? MW_DSCP_TRIMMED_LASTHOP : MW_DSCP_TRIMMED;
	return mw_dscp_class_of_opcode(pkt->bth.opcode, pkt->bth.rtx, true);
}

static void capture_got(const struct world *w, const struct packet *p, const struct mw_packet *pkt,
			const struct mt_rx_meta *meta, const uint8_t *bytes, size_t len)
{
	bool cut = meta->trim != MT_TRIM_NONE;

	capture_add(&w->capture,
		    &(struct capture_packet){
			    .dir = TO_ENGINE,
			    .now_ns = w->now_ns,
			    .other = meta->src.b[0],
			    .plane = meta->port,
			    .ev = meta->ev,
			    .cls = class_of(pkt, meta),
			    .ce = meta->ecn_ce,
			    .bad_icrc = !meta->icrc_ok && !cut,
			    .bytes = bytes,
			    .len = len,
			    .cut_off = cut ? pkt->payload_len + pkt->bth.pad + MW_ICRC_BYTES : 0,
			    .packet = p});
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
	capture_got(w, p, &pkt, &meta, bytes, len);
	engine_node_rx_bytes(&w->node, w->now_ns, &meta, bytes, len);
	world_pump(w);
}

/* ---- set-up ---- */

static void check(struct world *w, int result, const char *what)
{
	if (result != MT_OK)
		report_fail(w->report, "%s refuses the configuration (%d)", what, result);
}

/* The EV profile of the configuration; its arrays stay. */
static struct mt_ev_profile_cfg make_ev_profile(const struct config *c)
{
	static struct mt_ev evs[CONFIG_EVS_MAX];
	static uint16_t group_ids[CONFIG_EVS_MAX];
	struct mt_ev_profile_cfg cfg = c->ev_profile;

	for (uint16_t i = 0; i < cfg.n_evs; i++)
		evs[i] = (struct mt_ev){.value = i, .port = (uint8_t)(i % c->engine.n_ports)};
	for (uint16_t i = 0; i < cfg.n_evs && c->paths > 0; i++)
		group_ids[i] = (uint16_t)(i % c->paths);
	cfg.evs = evs;
	cfg.group_ids = c->paths ? group_ids : NULL;
	if (cfg.n_active == 0)
		cfg.n_active = cfg.n_evs;
	if (cfg.probe_interval_max_ns < cfg.probe_interval_ns)
		cfg.probe_interval_max_ns = cfg.probe_interval_ns;
	return cfg;
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

	w->qp = engine_node_qp(&w->node, &w->config.cap, WORLD_QPN, w);
	if (w->config.read_only)
		a.access = RD_ACCESS_LOCAL_WRITE;
	w->config.attr.dest.b[0] = PEER_ADDR;
	a.dest = w->config.attr.dest;
	a.dest_qpn = WORLD_PEER_QPN;
	check(w, engine_node_bring_to(&w->node, w->qp, 0, &a, RD_QPS_RTR), "mt_qp_modify");
	set_history(w);
	if (!w->config.rtr_only)
		check(w, engine_node_bring_to(&w->node, w->qp, 0, &a, RD_QPS_RTS), "mt_qp_modify");
}

void world_init(struct world *w, struct report *r, const struct config *c)
{
	struct engine_node_ops ops = {.env = {.ctx = w, .place = place},
				      .send = queue_packet,
				      .free_ports = free_ports,
				      .event = queue_event,
				      .fail = fail};
	struct engine_node_cfg cfg = {.engine = c->engine,
				      .ev_profile = make_ev_profile(c),
				      .cc_profiles = &c->cc,
				      .n_cc_profiles = 1,
				      .memory_begin = c->memory_short ? 0 : AMPLE_BYTES,
				      .grows_max = 256};

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
	engine_node_open(&w->node, &ops, &cfg, 0);
	w->engine = w->node.engine;
	check(w,
	      mt_mr_add(w->engine, WORLD_KEY, c->cap.pd, WORLD_MR_START, c->mr_bytes,
			RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE, w),
	      "mt_mr_add");
	connect_qp(w);
}

void world_fini(struct world *w)
{
	engine_node_close(&w->node);
	free(w->queue_memory);
	free(w->events);
	free(w->placed);
	free(w->sent);
	free(w->got);
	free(w->probes);
	free(w->peer_probes);
	free(w->requests);
}
