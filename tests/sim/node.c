/* SPDX-License-Identifier: BSD-2-Clause */
/* node.c - the adapter's loop around one engine: packets in, timers, packets out, events. */
#include "node.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "wire/packet.h"

static enum sim_kind kind_of(uint8_t opcode)
{
	uint16_t flags = mw_opcode_info(opcode)->flags;

	if (flags & MW_OP_DATA)
		return SIM_DATA;
	if (flags & MW_OP_RESPONSE)
		opcode &= (uint8_t)~MW_RESPONSE_BIT;
	if (opcode == MW_ACK)
		return SIM_ACK;
	if (opcode == MW_SACK)
		return SIM_SACK;
	if (opcode == MW_NACK)
		return SIM_NACK;
	return opcode == MW_PROBE ? SIM_PROBE : SIM_ENDPOINT;
}

/* ---- out ---- */

/* The engine that a packet is for: that of its QP, or the one that the descriptor names. */
static uint32_t node_at(const struct sim_world *w, const struct mt_tx_desc *d)
{
	uint32_t dqp = d->pkt.bth.dqp;
	uint32_t endpoint = dqp == MW_QPN_ENDPOINT ? d->endpoint : dqp >> w->qpn_index_bits;

	for (uint32_t i = 0; i < w->cfg.net.n_nodes; i++)
		if (memcmp(&d->dst, &w->nodes[i].addr, sizeof(d->dst)) == 0 &&
		    w->nodes[i].endpoint == endpoint)
			return i;
	return NET_NO_NODE;
}

/* What a host resolves to memory, here to the pattern. */
static void copy_payload(struct sim_node *node, const struct mt_tx_desc *d, uint8_t *out)
{
	uint64_t offset = d->offset;
	uint32_t left = d->pkt.payload_len;

	for (uint32_t i = 0; i < d->n_sge && left > 0; i++) {
		const struct rd_sge *s = &d->sge[i];
		uint32_t n;

		if (offset >= s->length) {
			offset -= s->length;
			continue;
		}
		n = s->length - offset < left ? (uint32_t)(s->length - offset) : left;
		if (s->lkey == MT_LKEY_ADAPTER)
			memcpy(out, (const uint8_t *)(uintptr_t)s->addr + offset, n);
		else
			sim_pattern(node->id, s->addr + offset, out, n);
		out += n;
		left -= n;
		offset = 0;
	}
	if (left > 0)
		sim_fail(&node->w->check, "node %u: payload %u + %u is not inside %u SGEs",
			 node->id, d->offset, d->pkt.payload_len, d->n_sge);
}

static void check_descriptor(struct sim_node *node, const struct mt_tx_desc *d, uint32_t free_ports,
			     enum sim_kind kind)
{
	const struct sim_world_cfg *cfg = &node->w->cfg;

	if (d->port >= cfg->net.n_planes || d->ev - cfg->net.ev_base >= cfg->evs)
		sim_fail(&node->w->check, "node %u: EV %u of port %u is not in the profile",
			 node->id, d->ev, d->port);
	else if (kind == SIM_DATA && !(free_ports >> d->port & 1))
		sim_fail(&node->w->check, "node %u: data for port %u, free are %x", node->id,
			 d->port, free_ports);
	else if (kind != SIM_DATA && kind != SIM_PROBE && d->pkt.bth.opcode != MW_EP_REQUEST &&
		 d->tclass != MW_DSCP_CONTROL)
		sim_fail(&node->w->check, "node %u: %s in class %u", node->id,
			 mw_opcode_info(d->pkt.bth.opcode)->name, d->tclass);
}

static void count_sent(struct sim_node *node, const struct mt_tx_desc *d, enum sim_kind kind)
{
	node->traffic.sent[kind]++;
	if (kind != SIM_DATA)
		return;
	node->traffic.sent_again += d->pkt.bth.rtx;
	node->traffic.sent_bytes += d->pkt.payload_len;
}

static struct sim_flow *flow_of(struct sim_qp *qp, uint8_t opcode)
{
	bool answers = mw_opcode_info(opcode)->flags & MW_OP_RESPONSE;

	return sim_flow_of_life(answers ? &qp->answers : &qp->out, qp->life);
}

void sim_node_send(void *ctx, const struct mt_tx_desc *d, uint32_t free_ports)
{
	struct sim_node *node = ctx;
	enum sim_kind kind = kind_of(d->pkt.bth.opcode);
	uint8_t headers[MW_HEADERS_MAX];
	size_t n = mw_packet_encode(&d->pkt, headers);
	struct sim_qp *qp = d->qp_user;
	struct net_packet *p;

	check_descriptor(node, d, free_ports, kind);
	count_sent(node, d, kind);
	p = net_packet_new(n + d->pkt.payload_len + d->pkt.bth.pad);
	memcpy(p->bytes, headers, n);
	p->headers_len = n;
	p->pkt = d->pkt;
	p->data = kind == SIM_DATA;
	p->waits = d->tclass != MW_DSCP_CONTROL;
	if (p->waits)
		mh_pace_consume(&node->pace[d->port], (uint32_t)p->len);
	if (p->data && qp) {
		copy_payload(node, d, p->bytes + n);
		struct sim_flow *f = flow_of(qp, d->pkt.bth.opcode);

		/* What it is now stays where it is when it becomes the former one. */
		p->flow = mw_opcode_info(d->pkt.bth.opcode)->flags & MW_OP_RESPONSE ? &qp->answers
										    : &qp->out;
		p->life = f->life;
		sim_flow_sent(f, d);
	} else if (p->data) {
		sim_fail(&node->w->check, "node %u: data without a QP", node->id);
	}
	p->src = node->id;
	p->dst = node_at(node->w, d);
	p->tclass = d->tclass;
	p->meta = (struct mt_rx_meta){
		.src = node->addr, .ev = d->ev, .port = d->port, .icrc_ok = true};
	engine_net_send(&node->w->net, p);
}

static void wake(void *ctx, uint64_t arg)
{
	struct sim_node *node = ctx;

	if (node->wake_at_ns != arg)
		return;
	node->wake_at_ns = NET_NEVER;
	sim_node_run(node);
}

/* When the first port without tokens has some again. */
static uint64_t tokens_at(struct sim_node *node)
{
	uint64_t now = sim_node_now(node), first = NET_NEVER;

	for (uint32_t port = 0; port < node->w->cfg.net.n_planes; port++) {
		struct mh_pace *pace = &node->pace[port];
		uint64_t when;

		if (mh_pace_frames(pace, now) >= node->tx_batch)
			continue;
		when = mh_pace_deadline(pace);
		if (when > now && when < first)
			first = when;
	}
	return first == NET_NEVER ? first : sim_clock_when(node, first);
}

/* Full ports do not tell the engine when they have room: the node comes back by itself. */
static void wait_for_room(struct sim_node *node)
{
	struct engine_net *net = &node->w->net;
	uint64_t when, tokens;

	if (!mt_engine_tx_is_blocked(node->engine))
		return;
	when = engine_net_room_at(net, node->id, node->tx_batch, 4096 + MW_HEADERS_MAX);
	tokens = tokens_at(node);
	when = tokens < when ? tokens : when;
	if (when == NET_NEVER || when >= node->wake_at_ns)
		return;
	node->wake_at_ns = when;
	engine_net_at(net, when, wake, node, when);
}

uint32_t sim_node_free_ports(void *ctx, uint32_t n)
{
	struct sim_node *node = ctx;
	struct engine_net *net = &node->w->net;
	uint32_t mask = engine_net_free_ports(net, node->id, n, 4096 + MW_HEADERS_MAX);

	for (uint32_t port = 0; port < net->cfg.n_planes; port++)
		if (mh_pace_frames(&node->pace[port], sim_node_now(node)) < n)
			mask &= ~(1u << port);
	return mask;
}

static uint32_t send_all(struct sim_node *node)
{
	uint64_t now = sim_node_now(node);
	uint32_t sent = engine_node_send(&node->base, now, node->tx_batch);

	if (mt_engine_tx_is_blocked(node->engine))
		for (uint32_t port = 0; port < node->w->cfg.net.n_planes; port++)
			mh_pace_forgo(&node->pace[port], now);
	wait_for_room(node);
	return sent;
}

/* ---- events ---- */

static void take_send_event(struct sim_qp *qp, const struct mt_event *ev)
{
	if (ev->opcode >= RD_WR_LOCAL_INV) {
		sim_local_event(qp, ev);
		return;
	}
	sim_flow_send_event(sim_flow_of_life(&qp->out, qp->life), ev);
	sim_local_check(qp);
}

static void take_recv_event(struct sim_qp *qp, const struct mt_event *ev)
{
	struct sim_flow *f = sim_flow_of_life(&qp->peer->out, qp->life);
	uint64_t before = f->takes_received;

	sim_flow_recv_event(f, ev);
	if (f->takes_received > before)
		sim_mw_invalidated(qp, f->takers[before], ev);
}

static void take_qp_event(struct sim_qp *qp, const struct mt_event *ev)
{
	qp->qp_events++;
	qp->qp_status = ev->status;
	if (!qp->may_fail)
		sim_fail(&qp->node->w->check, "node %u qp %u went to ERR: %s", qp->node->id,
			 qp->qpn, mt_wc_status_name(ev->status));
}

static void take_ev_event(struct sim_node *node, const struct mt_event *ev)
{
	struct sim_world *w = node->w;

	if (ev->ev_state != MT_EV_GOOD && ev->ev_state != MT_EV_ASSUMED_BAD)
		sim_fail(&w->check, "node %u: event for EV state %u", node->id, ev->ev_state);
	if (w->n_ev_events < SIM_EV_EVENTS_MAX) {
		w->ev_events[w->n_ev_events].node = node->id;
		w->ev_events[w->n_ev_events].ev = *ev;
	}
	w->n_ev_events++;
}

/* Cases look at events of ports and endpoints afterwards. */
static void take_port_event(struct sim_node *node, const struct mt_event *ev)
{
	struct sim_world *w = node->w;

	if (w->n_port_events < SIM_PORT_EVENTS_MAX) {
		w->port_events[w->n_port_events].node = node->id;
		w->port_events[w->n_port_events].at_ns = w->net.now_ns;
		w->port_events[w->n_port_events].ev = *ev;
	}
	w->n_port_events++;
}

void sim_node_event(void *ctx, const struct mt_event *ev)
{
	struct sim_node *node = ctx;
	struct sim_qp *qp = ev->qp_user;

	switch ((enum mt_event_type)ev->type) {
	case MT_EVENT_SEND:
		take_send_event(qp, ev);
		return;
	case MT_EVENT_RECV:
		take_recv_event(qp, ev);
		return;
	case MT_EVENT_QP:
		take_qp_event(qp, ev);
		return;
	case MT_EVENT_SRQ_LIMIT:
		sim_srq_limit_event(ev->qp_user);
		return;
	case MT_EVENT_LAST_WQE:
		qp->last_wqes++;
		return;
	case MT_EVENT_SQ_DRAINED:
		return; /* no world asks for it */
	case MT_EVENT_EV:
		take_ev_event(node, ev);
		return;
	case MT_EVENT_PORT:
	case MT_EVENT_ENDPOINT:
		take_port_event(node, ev);
		return;
	}
	sim_fail(&node->w->check, "node %u: event of type %u", node->id, ev->type);
}

bool sim_node_refuses(void *ctx)
{
	struct sim_node *node = ctx;

	if (!node->refused_share || rng_below(&node->w->net.rng, 100) >= node->refused_share)
		return false;
	node->refusals++;
	return true;
}

void sim_node_run(struct sim_node *node)
{
	struct sim_world *w = node->w;

	if (w->net.now_ns < node->stopped_until_ns)
		return;
	do {
		send_all(node);
		if (w->app && !w->check.failed)
			w->app(w->app_ctx, node);
	} while (!w->check.failed && engine_node_poll(&node->base) + send_all(node) > 0);
}

/* ---- in ---- */

static void count_given(struct sim_node *node, const struct net_packet *p)
{
	if (p->data && p->meta.trim != MT_TRIM_NONE)
		node->traffic.given_trimmed++;
	else if (!p->meta.icrc_ok)
		node->traffic.given_broken++;
	else
		node->traffic.given[kind_of(p->pkt.bth.opcode)]++;
}

/* A QP that is not in the life of a packet must not take it. */
static void note_arrival(const struct net_packet *p)
{
	struct sim_flow *f = sim_flow_of_life(p->flow, p->life);

	if (!f || f->life != *f->dst_life)
		return;
	sim_flow_arrived(f, p->pkt.bth.psn);
	f->check->given = sim_flow_message_of(f, sim_flow_packet_of(f, p->pkt.bth.psn));
}

static void receive(struct sim_node *node, struct net_packet *p)
{
	bool whole = p->meta.icrc_ok && p->meta.trim == MT_TRIM_NONE;

	count_given(node, p);
	if (p->data && whole && p->flow)
		note_arrival(p);
	if (node->w->cfg.decoded && whole)
		mt_engine_rx(node->engine, sim_node_now(node), &p->meta, &p->pkt,
			     p->pkt.payload_len ? p->bytes + p->headers_len : NULL);
	else
		engine_node_rx_bytes(&node->base, sim_node_now(node), &p->meta, p->bytes, p->len);
	node->w->check.given = NULL;
	free(p);
	engine_node_grow_if_wanted(&node->base);
	sim_node_run(node);
}

static void receive_later(struct engine_net *net, struct net_event *event)
{
	struct net_packet *p = mb_container_of(event, struct net_packet, event);

	net->deliver(net->deliver_ctx, p);
}

static void run_again_at(struct sim_world *w, uint64_t when, struct net_packet *p)
{
	p->event.run = receive_later;
	engine_net_again(&w->net, when, &p->event);
}

/*
 * A slow receiver: a packet waits its turn in the adapter's buffer, or finds that full. The adapter
 * knows what it has thrown away and says so. Returns false when the packet is not to be had now.
 */
static bool pass_buffer(struct sim_world *w, struct sim_node *node, struct net_packet *p)
{
	uint64_t now = w->net.now_ns;
	uint64_t wait = node->rx_busy_until_ns > now ? node->rx_busy_until_ns - now : 0;

	if (node->rx_packet_ns == 0 || p->in_buffer)
		return true;
	if (wait >= node->rx_room * node->rx_packet_ns) {
		node->overflows++;
		mt_engine_rx_overflow(node->engine, sim_node_now(node), 1);
		net_log_fate(&w->net, p->log_number, NET_OVERFLOWED);
		free(p);
		return false;
	}
	p->in_buffer = true;
	node->rx_busy_until_ns = now + wait + node->rx_packet_ns;
	run_again_at(w, node->rx_busy_until_ns, p);
	return false;
}

/* ---- in, one queue after the other ---- */

static struct net_packet *take(struct sim_node *node)
{
	for (uint32_t k = 0; k <= MT_PORTS_MAX; k++) {
		struct net_packet *p = node->inbox[node->inbox_port].first;

		if (p) {
			node->inbox[node->inbox_port].first = p->next;
			return p;
		}
		node->inbox_port = (node->inbox_port + 1) % MT_PORTS_MAX;
	}
	return NULL;
}

static void serve(void *ctx, uint64_t arg)
{
	struct sim_node *node = ctx;
	struct engine_net *net = &node->w->net;
	struct net_packet *p;

	(void)arg;
	if (net->now_ns < node->stopped_until_ns) {
		engine_net_at(net, node->stopped_until_ns, serve, node, 0);
		return;
	}
	p = take(node);
	node->receiving = p != NULL;
	if (!p)
		return;
	receive(node, p);
	engine_net_at(net, net->now_ns + node->service_ns, serve, node, 0);
}

static void queue(struct sim_node *node, struct net_packet *p)
{
	struct net_packet **first = &node->inbox[p->meta.port].first;

	p->next = NULL;
	if (*first)
		node->inbox[p->meta.port].last->next = p;
	else
		*first = p;
	node->inbox[p->meta.port].last = p;
	if (node->receiving)
		return;
	node->receiving = true;
	engine_net_at(&node->w->net, node->w->net.now_ns, serve, node, 0);
}

void sim_node_deliver(void *ctx, struct net_packet *p)
{
	struct sim_world *w = ctx;
	struct sim_node *node = &w->nodes[p->dst];

	if (!pass_buffer(w, node, p))
		return;
	if (node->service_ns && !node->deaf) {
		queue(node, p);
		return;
	}
	if (w->net.now_ns >= node->stopped_until_ns) {
		receive(node, p);
	} else if (node->deaf) {
		net_log_fate(&w->net, p->log_number, NET_UNHEARD);
		free(p);
	} else {
		run_again_at(w, node->stopped_until_ns, p);
	}
}

void sim_node_give(struct sim_node *node, const struct mt_rx_meta *meta, const void *bytes,
		   size_t len)
{
	engine_node_rx_bytes(&node->base, sim_node_now(node), meta, bytes, len);
	sim_node_run(node);
}

/* ---- time ---- */

static void start_again(void *ctx, uint64_t arg)
{
	(void)arg;
	sim_node_run(ctx);
}

void sim_node_stop(struct sim_node *node, uint64_t ns, bool deaf)
{
	node->stopped_until_ns = node->w->net.now_ns + ns;
	node->deaf = deaf;
	engine_net_at(&node->w->net, node->stopped_until_ns, start_again, node, 0);
}

uint64_t sim_node_due(const struct sim_node *node)
{
	uint64_t due = mt_engine_deadline(node->engine);

	if (due == NET_NEVER)
		return due;
	due = sim_clock_when(node, due) + node->late_ns;
	return due < node->stopped_until_ns ? node->stopped_until_ns : due;
}

/* A deadline that a tick does not move would stop time: the world fails instead. */
void sim_node_tick(struct sim_node *node)
{
	uint64_t now = node->w->net.now_ns;

	node->ticks++;
	node->ticks_at_once = now == node->last_tick_ns ? node->ticks_at_once + 1 : 1;
	node->last_tick_ns = now;
	if (node->ticks_at_once > 1000) {
		sim_fail(&node->w->check, "node %u: %" PRIu64 " ticks at once, deadline %" PRIu64,
			 node->id, node->ticks_at_once, mt_engine_deadline(node->engine));
		return;
	}
	mt_engine_tick(node->engine, sim_node_now(node));
	sim_node_run(node);
}
