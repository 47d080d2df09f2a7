/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_conn.c - the life of a connection's two ends, and the application that posts on it.
 *
 * Each message is a WRITE_WITH_IMM, so that the destination learns of it in order. The memory
 * region of a flow is as long as the flow; message k goes to k * message_bytes.
 */
#include "base/bits.h"
#include "base/pool.h"
#include "core/window/imm_stash.h"
#include "core/window/rx_window.h"
#include "sim/mrc/mrc_nic_state.h"

/* A QP's queue has at least one place. */
#define SIDE_DEPTH 1u

uint32_t ms_conn_progress(const void *host, uint32_t slot, uint32_t messages)
{
	const struct ms_host *h = host;
	const struct ms_conn *c = h->conns[slot];

	if (!c)
		return 0;
	return c == MS_CONN_DONE ? messages : c->passed;
}

static uint32_t packets_of(const struct ms_nics *n, uint64_t bytes)
{
	return bytes ? (uint32_t)((bytes + n->cfg.path_mtu - 1) / n->cfg.path_mtu) : 1;
}

static size_t bitmap_bytes(const struct ms_conn *c)
{
	return ((size_t)c->messages * c->per_message + 63) / 64 * sizeof(uint64_t);
}

static void cap_of(const struct ms_conn *c, struct mt_qp_cap *cap)
{
	*cap = (struct mt_qp_cap){
		.sq_depth = c->outgoing ? c->depth : SIDE_DEPTH,
		.rq_depth = c->outgoing ? 0 : c->depth,
		.max_sge = 1,
		.signal_all = true,
	};
}

/* What is different for a flow that is a channel of a graph. */
static void of_graph(const struct ms_nics *n, struct ms_conn *c)
{
	uint32_t channel;
	const struct ms_graph *g = ms_workload_graph(n->workload, c->flow, NULL, &channel);

	c->region_bytes = g ? c->message_bytes * c->messages : c->bytes;
	if (g)
		c->sizes = ms_graph_sizes(g, channel);
}

static struct ms_conn *new_conn(struct ms_host *h, uint32_t id, const struct ms_flow *f,
				bool outgoing)
{
	const struct ms_nics *n = h->nics;
	struct ms_conn *c = ms_arena_alloc(&h->worker->arena, sizeof(*c));

	if (!c)
		return NULL;
	*c = (struct ms_conn){
		.bytes = f->bytes,
		.message_bytes = f->message_bytes,
		.flow = id,
		.slot = outgoing ? f->src_slot : f->dst_slot,
		.messages = f->messages,
		.per_message = packets_of(n, f->message_bytes),
		.depth = (uint16_t)(f->messages < n->cfg.depth ? f->messages : n->cfg.depth),
		.outgoing = outgoing,
	};
	of_graph(n, c);
	if (outgoing)
		return c;
	c->placed = ms_arena_alloc(&h->worker->arena, bitmap_bytes(c));
	if (!c->placed) {
		ms_arena_free(&h->worker->arena, c, sizeof(*c));
		return NULL;
	}
	memset(c->placed, 0, bitmap_bytes(c));
	return c;
}

/* ---- QPs ---- */

static uint8_t window_of(const struct ms_nics *n, const struct ms_conn *c)
{
	return ms_nic_window(&n->cfg, (uint64_t)c->depth * c->per_message);
}

static int modify_qp(struct ms_host *h, struct mt_qp *qp, uint64_t now_ns,
		     const struct rd_qp_attr *attr, uint32_t mask)
{
	int r;

	do
		r = mt_qp_modify(qp, now_ns, attr, mask);
	while (r == MT_ERR_MEMORY && ms_nic_grow_engine(h));
	return r;
}

static bool connect_qp(struct ms_host *h, struct ms_conn *c, uint32_t peer, uint32_t peer_slot,
		       uint64_t now_ns)
{
	const struct ms_nic_cfg *cfg = &h->nics->cfg;
	uint8_t window = window_of(h->nics, c);
	struct rd_qp_attr a;

	mt_qp_attr_default(&a);
	a.dest = ms_addr_of(peer);
	a.dest_qpn = MS_QPN_BASE + peer_slot;
	a.path_mtu = cfg->path_mtu;
	a.access = RD_ACCESS_REMOTE_WRITE;
	a.mpr = c->outgoing ? window : 1;
	a.mpr_dest = c->outgoing ? 1 : window;
	a.max_wimm = c->depth;
	a.max_wimm_dest = c->outgoing ? 1 : c->depth;
	a.timeout = cfg->timeout;
	a.retry_linear = cfg->retry_linear;
	a.retry_exp = cfg->retry_exp;
	a.trim_nack = cfg->trim_nack;
	a.state = RD_QPS_INIT;
	if (modify_qp(h, c->qp, now_ns, &a, RD_QP_STATE | RD_QP_ACCESS) != MT_OK)
		return false;
	a.state = RD_QPS_RTR;
	if (modify_qp(h, c->qp, now_ns, &a,
		      RD_QP_STATE | RD_QP_DEST | RD_QP_PATH_MTU | RD_QP_RQ_PSN | RD_QP_SQ_PSN |
			      RD_QP_MPR | RD_QP_MPR_DEST | RD_QP_MAX_WIMM | RD_QP_MAX_WIMM_DEST |
			      RD_QP_TIMEOUT | RD_QP_RETRY | RD_QP_TRIM_NACK | RD_QP_EV_PROFILE |
			      RD_QP_CC_PROFILE) != MT_OK)
		return false;
	a.state = RD_QPS_RTS;
	if (modify_qp(h, c->qp, now_ns, &a, RD_QP_STATE) != MT_OK)
		return false;
	ms_nic_set_prefetch(h, c, false);
	return true;
}

static void free_conn(struct ms_host *h, struct ms_conn *c)
{
	struct mt_qp_cap cap;

	cap_of(c, &cap);
	if (c->qp) {
		void *mem = c->qp;

		ms_nic_set_prefetch(h, c, true);
		mt_qp_fini(c->qp);
		ms_arena_free(&h->worker->arena, mem, mt_qp_size(&cap));
		h->worker->sums.connections--;
	}
	if (c->placed)
		ms_arena_free(&h->worker->arena, c->placed, bitmap_bytes(c));
	ms_arena_free(&h->worker->arena, c, sizeof(*c));
}

static bool open_qp(struct ms_host *h, struct ms_conn *c, uint32_t peer, uint32_t peer_slot,
		    uint64_t now_ns)
{
	struct mt_qp_cap cap;
	void *mem;

	cap_of(c, &cap);
	mem = ms_arena_alloc(&h->worker->arena, mt_qp_size(&cap));
	if (!mem)
		return false;
	if (mt_qp_init(h->engine, mem, &cap, MS_QPN_BASE + c->slot, c, &c->qp) != MT_OK) {
		ms_arena_free(&h->worker->arena, mem, mt_qp_size(&cap));
		return false;
	}
	h->worker->sums.connections++;
	return connect_qp(h, c, peer, peer_slot, now_ns);
}

static void out_of_memory(struct ms_host *h, uint32_t flow)
{
	h->worker->no_memory = true;
	ms_nic_report_violation(h->worker, "host %u: no memory for flow %u", h->number, flow);
}

static uint32_t mr_index(const struct ms_workload *w, uint32_t host, uint32_t slot)
{
	return slot - ms_workload_outgoing(w, host) + 1;
}

static struct ms_conn *open_outgoing(struct ms_host *h, uint32_t id, const struct ms_flow *f,
				     uint64_t now_ns)
{
	struct ms_conn *c = new_conn(h, id, f, true);

	if (!c || !open_qp(h, c, f->dst, f->dst_slot, now_ns)) {
		if (c)
			free_conn(h, c);
		out_of_memory(h, id);
		return NULL;
	}
	c->rkey = mr_index(h->nics->workload, f->dst, f->dst_slot) << 8;
	h->conns[f->src_slot] = c;
	h->nics->source[id].start_ns = now_ns;
	return c;
}

/*
 * A responder takes its bitmaps with the first packet and the stash with the first immediate. If
 * there were none it would refuse the packet; a NIC that can always get memory need not let it come
 * to that. Each block is a chunk of its own, so that nothing else is cut from it.
 */
static bool reserve_wqes(struct ms_host *h, const struct ms_conn *c)
{
	size_t size[] = {mb_pool_block_size(
				 mt_rx_window_size((uint32_t)window_of(h->nics, c) * MT_MPR_UNIT)),
			 mb_pool_block_size(mt_imm_stash_size(c->depth))};

	if (h->accepted++ < h->most_accepted)
		return true;
	h->most_accepted = h->accepted;
	for (unsigned i = 0; i < 2; i++) {
		void *chunk = ms_arena_alloc(&h->worker->arena, size[i]);

		if (!chunk)
			return false;
		mt_engine_add_memory(h->engine, chunk, size[i]);
		mt_engine_add_memory(h->engine, chunk, 0);
	}
	return true;
}

void ms_conn_accept(struct ms_host *h, uint32_t slot, uint64_t now_ns)
{
	uint32_t id = ms_workload_flow_at(h->nics->workload, h->number, slot);
	struct ms_conn *c;
	struct ms_flow f;

	ms_workload_flow(h->nics->workload, id, &f);
	c = new_conn(h, id, &f, false);
	if (!c || !reserve_wqes(h, c) || !open_qp(h, c, f.src, f.src_slot, now_ns)) {
		if (c)
			free_conn(h, c);
		out_of_memory(h, id);
		return;
	}
	if (mt_mr_add(h->engine, slot - h->outgoing + 1, 0, 0, 0, c->region_bytes,
		      RD_ACCESS_REMOTE_WRITE, c) != MT_OK)
		ms_nic_report_violation(h->worker, "flow %u: its memory region is taken", id);
	for (; c->posted < c->depth; c->posted++)
		mt_qp_post_recv(c->qp, c->posted);
	h->conns[slot] = c;
}

/* ---- posting ---- */

static bool post_message(struct ms_host *h, struct ms_conn *c, uint32_t k, uint64_t now_ns)
{
	uint64_t at = c->message_bytes * k;
	struct rd_sge sge = {.addr = at, .length = (uint32_t)ms_conn_message_bytes(c, k)};
	struct rd_send_wr wr = {
		.wr_id = k,
		.sge = &sge,
		.n_sge = sge.length > 0,
		.flags = RD_SEND_IMM,
		.imm = k,
		.rkey = c->rkey,
		.remote_addr = at,
	};
	int r;

	do
		r = mt_qp_post_send(c->qp, now_ns, &wr);
	while (r == MT_ERR_MEMORY && ms_nic_grow_engine(h));
	if (r == MT_ERR_MEMORY)
		out_of_memory(h, c->flow);
	else if (r != MT_OK && r != MT_ERR_FULL)
		ms_nic_report_violation(h->worker, "flow %u: message %u cannot be posted (%d)",
					c->flow, k, r);
	c->posted += r == MT_OK;
	return r == MT_OK;
}

void ms_conn_begin(void *host, uint32_t id, uint64_t now_ps)
{
	struct ms_host *h = host;
	const struct ms_app *app = &h->nics->app;
	uint64_t now_ns = now_ps / MS_PS_PER_NS;
	struct ms_conn *c;
	struct ms_flow f;

	ms_workload_flow(h->nics->workload, id, &f);
	c = h->conns[f.src_slot];
	if (c == MS_CONN_DONE || f.start_ns > now_ns || (c && c->failed))
		return;
	if (!c && ms_app_can_post(app, &h->app, id, &f, 0))
		c = open_outgoing(h, id, &f, now_ns);
	while (c && c->posted - c->passed < c->depth &&
	       ms_app_can_post(app, &h->app, id, &f, c->posted))
		if (!post_message(h, c, ms_app_claim_message(app, id, c->posted), now_ns))
			return;
}

/* ---- events ---- */

static void fail_conn(struct ms_host *h, struct ms_conn *c)
{
	if (c->failed)
		return;
	c->failed = true;
	h->worker->sums.failed++;
	if (c->outgoing)
		h->nics->source[c->flow].failed = 1;
}

static void message_acked(struct ms_host *h, struct ms_conn *c, const struct mt_event *ev,
			  uint64_t now_ps)
{
	uint32_t id = c->flow;

	if (++c->passed == c->messages) {
		struct ms_source_record *r = &h->nics->source[id];

		r->acked_ns = now_ps / MS_PS_PER_NS;
		r->retransmits = c->retransmits;
		h->worker->sums.acked++;
		h->conns[c->slot] = MS_CONN_DONE;
		free_conn(h, c);
	} else {
		ms_conn_begin(h, id, now_ps);
	}
	ms_app_message_done(&h->nics->app, &h->app, id, (uint32_t)ev->wr_id, MS_SENT, now_ps);
}

static void start_linger(struct ms_host *h, struct ms_conn *c, uint64_t now_ns)
{
	c->lingers = true;
	c->heard_ns = now_ns;
	c->next = NULL;
	if (h->linger_last)
		h->linger_last->next = c;
	else
		h->linger_first = c;
	h->linger_last = c;
}

static void message_arrived(struct ms_host *h, struct ms_conn *c, const struct mt_event *ev,
			    uint64_t now_ps)
{
	uint32_t k = c->passed++;

	if (c->sizes)
		k = ev->imm; /* its messages come in the order in which they were ready */
	if (ev->imm != k || k >= c->messages)
		ms_nic_report_violation(h->worker, "flow %u: message %u came in the place of %u",
					c->flow, ev->imm, k);
	else if (!ms_conn_message_is_complete(c, k, h->nics->cfg.path_mtu))
		ms_nic_report_violation(h->worker, "flow %u: message %u came without all its bytes",
					c->flow, k);
	if (c->posted < c->messages) {
		mt_qp_post_recv(c->qp, c->posted);
		c->posted++;
	}
	if (c->passed == c->messages) {
		if (c->placed_bytes != c->bytes)
			ms_nic_report_violation(h->worker, "flow %u: %llu bytes placed of %llu",
						c->flow, (unsigned long long)c->placed_bytes,
						(unsigned long long)c->bytes);
		h->nics->end_ns[c->flow] = now_ps / MS_PS_PER_NS;
		h->worker->sums.arrived++;
		start_linger(h, c, now_ps / MS_PS_PER_NS);
	}
	if (!c->sizes || k < c->messages)
		ms_app_message_done(&h->nics->app, &h->app, c->flow, k, MS_RECEIVED, now_ps);
}

void ms_conn_event(struct ms_host *h, const struct mt_event *ev, uint64_t now_ps)
{
	struct ms_conn *c = ev->qp_user;

	if (ev->type == MT_EVENT_QP || ((ev->type == MT_EVENT_SEND || ev->type == MT_EVENT_RECV) &&
					ev->status != RD_WC_SUCCESS))
		fail_conn(h, c);
	else if (ev->type == MT_EVENT_SEND)
		message_acked(h, c, ev, now_ps);
	else if (ev->type == MT_EVENT_RECV)
		message_arrived(h, c, ev, now_ps);
}

/* ---- taking down ---- */

uint64_t ms_conn_linger_ns(const struct ms_host *h)
{
	return h->linger_first ? h->linger_first->heard_ns + h->nics->cfg.linger_ns : UINT64_MAX;
}

void ms_conn_reap_idle(struct ms_host *h, uint64_t now_ns)
{
	while (ms_conn_linger_ns(h) <= now_ns) {
		struct ms_conn *c = h->linger_first;

		h->linger_first = c->next;
		if (!h->linger_first)
			h->linger_last = NULL;
		mt_mr_remove(h->engine, c->slot - h->outgoing + 1);
		h->conns[c->slot] = MS_CONN_DONE;
		h->accepted--;
		free_conn(h, c);
	}
}
