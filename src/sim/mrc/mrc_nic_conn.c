/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc_nic_conn.c - the life of a connection's two ends: opened, posted to, taken down.
 *
 * Each message is a WRITE_WITH_IMM, so that the destination learns of it in order. The memory
 * region of a flow is as long as the flow; message k goes to k * message_bytes.
 */
#include "base/bits.h"
#include "base/pool.h"
#include "core/window/window.h"
#include "sim/mrc/mrc_nic_state.h"

/* A QP's queue has at least one place. */
#define SIDE_DEPTH 1u

static uint32_t packets_of(const struct ms_mrc *n, uint64_t bytes)
{
	return bytes ? (uint32_t)((bytes + n->cfg.path_mtu - 1) / n->cfg.path_mtu) : 1;
}

static size_t bitmap_bytes(const struct ms_conn *c)
{
	return ((size_t)c->end.messages * c->per_message + 63) / 64 * sizeof(uint64_t);
}

static void cap_of(const struct ms_conn *c, struct mt_qp_cap *cap)
{
	*cap = (struct mt_qp_cap){
		.sq_depth = c->end.outgoing ? c->end.depth : SIDE_DEPTH,
		.rq_depth = c->end.outgoing ? 0 : c->end.depth,
		.max_sge = 1,
		.signal_all = true,
	};
}

static struct ms_conn *new_conn(struct ms_mrc_host *h, uint32_t id, const struct ms_flow *f,
				bool outgoing)
{
	const struct ms_mrc *n = h->mrc;
	struct ms_conn *c = ms_arena_alloc(&h->nic.worker->arena, sizeof(*c));

	if (!c)
		return NULL;
	*c = (struct ms_conn){.per_message = packets_of(n, f->message_bytes)};
	ms_flow_end_init(&c->end, h->nic.set->workload, id, f, n->cfg.depth, outgoing);
	c->region_bytes = c->end.sizes ? f->message_bytes * f->messages : f->bytes;
	if (outgoing)
		return c;
	c->placed = ms_arena_alloc(&h->nic.worker->arena, bitmap_bytes(c));
	if (!c->placed) {
		ms_arena_free(&h->nic.worker->arena, c, sizeof(*c));
		return NULL;
	}
	memset(c->placed, 0, bitmap_bytes(c));
	return c;
}

/* ---- QPs ---- */

static uint8_t window_of(const struct ms_mrc *n, const struct ms_conn *c)
{
	return ms_mrc_window(&n->cfg, (uint64_t)c->end.depth * c->per_message);
}

static int modify_qp(struct ms_mrc_host *h, struct mt_qp *qp, uint64_t now_ns,
		     const struct rd_qp_attr *attr, uint32_t mask)
{
	int r;

	do
		r = mt_qp_modify(qp, now_ns, attr, mask);
	while (r == MT_ERR_MEMORY && ms_mrc_grow_engine(h));
	return r;
}

static bool connect_qp(struct ms_mrc_host *h, struct ms_conn *c, uint32_t peer, uint32_t peer_slot,
		       uint64_t now_ns)
{
	const struct ms_mrc_cfg *cfg = &h->mrc->cfg;
	uint8_t window = window_of(h->mrc, c);
	struct rd_qp_attr a;

	mt_qp_attr_default(&a);
	a.dest = ms_addr_of(peer);
	a.dest_qpn = MS_QPN_BASE + peer_slot;
	a.path_mtu = cfg->path_mtu;
	a.access = RD_ACCESS_REMOTE_WRITE;
	a.mpr = c->end.outgoing ? window : 1;
	a.mpr_dest = c->end.outgoing ? 1 : window;
	a.max_wimm = (uint16_t)c->end.depth;
	a.max_wimm_dest = c->end.outgoing ? 1 : (uint16_t)c->end.depth;
	a.timeout = cfg->timeout;
	a.retry_linear = cfg->retry_linear;
	a.retry_exp = cfg->retry_exp;
	a.trim_nack_dest = cfg->trim_nack;
	a.state = RD_QPS_INIT;
	if (modify_qp(h, c->qp, now_ns, &a, RD_QP_STATE | RD_QP_ACCESS) != MT_OK)
		return false;
	a.state = RD_QPS_RTR;
	if (modify_qp(h, c->qp, now_ns, &a,
		      RD_QP_STATE | RD_QP_DEST | RD_QP_PATH_MTU | RD_QP_RQ_PSN | RD_QP_SQ_PSN |
			      RD_QP_MPR | RD_QP_MPR_DEST | RD_QP_MAX_WIMM | RD_QP_MAX_WIMM_DEST |
			      RD_QP_TIMEOUT | RD_QP_RETRY | RD_QP_TRIM_NACK_DEST |
			      RD_QP_EV_PROFILE | RD_QP_CC_PROFILE) != MT_OK)
		return false;
	a.state = RD_QPS_RTS;
	if (modify_qp(h, c->qp, now_ns, &a, RD_QP_STATE) != MT_OK)
		return false;
	ms_mrc_set_prefetch(h, c, false);
	return true;
}

static void free_conn(struct ms_mrc_host *h, struct ms_conn *c)
{
	struct mt_qp_cap cap;

	cap_of(c, &cap);
	if (c->qp) {
		void *mem = c->qp;

		ms_mrc_set_prefetch(h, c, true);
		mt_qp_fini(c->qp);
		ms_arena_free(&h->nic.worker->arena, mem, mt_qp_size(&cap));
		h->nic.worker->sums.connections--;
	}
	if (c->placed)
		ms_arena_free(&h->nic.worker->arena, c->placed, bitmap_bytes(c));
	ms_arena_free(&h->nic.worker->arena, c, sizeof(*c));
}

static bool open_qp(struct ms_mrc_host *h, struct ms_conn *c, uint32_t peer, uint32_t peer_slot,
		    uint64_t now_ns)
{
	struct mt_qp_cap cap;
	void *mem;

	cap_of(c, &cap);
	mem = ms_arena_alloc(&h->nic.worker->arena, mt_qp_size(&cap));
	if (!mem)
		return false;
	if (mt_qp_init(h->engine, mem, &cap, MS_QPN_BASE + c->end.slot, c, &c->qp) != MT_OK) {
		ms_arena_free(&h->nic.worker->arena, mem, mt_qp_size(&cap));
		return false;
	}
	h->nic.worker->sums.connections++;
	return connect_qp(h, c, peer, peer_slot, now_ns);
}

static uint32_t mr_index(const struct ms_workload *w, uint32_t host, uint32_t slot)
{
	return slot - ms_workload_outgoing(w, host) + 1;
}

struct ms_flow_end *ms_conn_open(struct ms_nic_host *nic, uint32_t id, const struct ms_flow *f,
				 uint64_t now_ps)
{
	struct ms_mrc_host *h = (struct ms_mrc_host *)nic;
	struct ms_conn *c = new_conn(h, id, f, true);

	if (!c || !open_qp(h, c, f->dst, f->dst_slot, now_ps / MS_PS_PER_NS)) {
		if (c)
			free_conn(h, c);
		ms_nic_report_no_memory(nic, id);
		return NULL;
	}
	c->rkey = mr_index(nic->set->workload, f->dst, f->dst_slot) << 8;
	nic->ends[f->src_slot] = &c->end;
	return &c->end;
}

static bool reserve_blocks(struct ms_mrc_host *h)
{
	for (unsigned i = 0; i < 2; i++) {
		void *chunk = ms_arena_alloc(&h->nic.worker->arena, h->reserve[i]);

		if (!chunk)
			return false;
		mt_engine_add_memory(h->engine, chunk, h->reserve[i]);
		mt_engine_add_memory(h->engine, chunk, 0);
	}
	return true;
}

/*
 * A responder takes its bitmaps with the first packet and the stash with the first immediate. If
 * there were none it would refuse the packet; a NIC that can always get memory need not let it come
 * to that. Each block is a chunk of its own, so that nothing else is cut from it.
 */
static bool reserve_wqes(struct ms_mrc_host *h, const struct ms_conn *c)
{
	size_t size[] = {
		mb_pool_block_size(mt_rx_window_size((uint32_t)window_of(h->mrc, c) * MT_MPR_UNIT)),
		mb_pool_block_size(mt_imm_stash_size(c->end.depth))};

	if (h->accepted++ < h->most_accepted)
		return true;
	h->most_accepted = h->accepted;
	for (unsigned i = 0; i < 2; i++)
		h->reserve[i] = h->reserve[i] < size[i] ? size[i] : h->reserve[i];
	return reserve_blocks(h);
}

/* An EV that gets into trouble may have taken such a block for its record. */
static void replace_reserve(struct ms_mrc_host *h)
{
	size_t used = mt_engine_memory_used(h->engine);

	if (used <= h->most_used || h->most_accepted == 0)
		return;
	h->most_used = used;
	if (!reserve_blocks(h))
		h->nic.worker->no_memory = true;
}

void ms_conn_accept(struct ms_mrc_host *h, uint32_t slot, uint64_t now_ns)
{
	uint32_t id = ms_workload_flow_at(h->nic.set->workload, h->nic.number, slot);
	struct ms_conn *c;
	struct ms_flow f;

	ms_workload_flow(h->nic.set->workload, id, &f);
	c = new_conn(h, id, &f, false);
	if (!c || !reserve_wqes(h, c) || !open_qp(h, c, f.src, f.src_slot, now_ns)) {
		if (c)
			free_conn(h, c);
		ms_nic_report_no_memory(&h->nic, id);
		return;
	}
	if (mt_mr_add(h->engine, (slot - h->nic.outgoing + 1) << 8, 0, 0, c->region_bytes,
		      RD_ACCESS_REMOTE_WRITE, c) != MT_OK)
		ms_nic_report_violation(h->nic.worker, "flow %u: its memory region is taken", id);
	for (; c->end.posted < c->end.depth; c->end.posted++)
		mt_qp_post_recv(c->qp, c->end.posted);
	h->nic.ends[slot] = &c->end;
}

/* ---- posting ---- */

bool ms_conn_post(struct ms_nic_host *nic, struct ms_flow_end *e, uint32_t k, uint64_t now_ps)
{
	struct ms_conn *c = (struct ms_conn *)e;
	uint64_t at = e->message_bytes * k;
	struct rd_sge sge = {.addr = at, .length = (uint32_t)ms_flow_end_message_bytes(e, k)};
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
		r = mt_qp_post_send(c->qp, now_ps / MS_PS_PER_NS, &wr);
	while (r == MT_ERR_MEMORY && ms_mrc_grow_engine((struct ms_mrc_host *)nic));
	if (r == MT_ERR_MEMORY)
		ms_nic_report_no_memory(nic, e->flow);
	else if (r != MT_OK && r != MT_ERR_FULL)
		ms_nic_report_violation(nic->worker, "flow %u: message %u cannot be posted (%d)",
					e->flow, k, r);
	e->posted += r == MT_OK;
	return r == MT_OK;
}

void ms_conn_close(struct ms_nic_host *h, struct ms_flow_end *e)
{
	free_conn((struct ms_mrc_host *)h, (struct ms_conn *)e);
}

/* ---- events ---- */

static void start_linger(struct ms_mrc_host *h, struct ms_conn *c, uint64_t now_ns)
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

static void message_arrived(struct ms_mrc_host *h, struct ms_conn *c, const struct mt_event *ev,
			    uint64_t now_ps)
{
	uint32_t k = c->end.passed++;

	if (c->end.sizes)
		k = ev->imm; /* its messages come in the order in which they were ready */
	if (ev->imm != k || k >= c->end.messages)
		ms_nic_report_violation(h->nic.worker,
					"flow %u: message %u came in the place of %u", c->end.flow,
					ev->imm, k);
	else if (!ms_conn_message_is_complete(c, k, h->mrc->cfg.path_mtu))
		ms_nic_report_violation(h->nic.worker,
					"flow %u: message %u came without all its bytes",
					c->end.flow, k);
	if (c->end.posted < c->end.messages) {
		mt_qp_post_recv(c->qp, c->end.posted);
		c->end.posted++;
	}
	if (c->end.passed == c->end.messages) {
		if (c->end.placed_bytes != c->end.bytes)
			ms_nic_report_violation(h->nic.worker, "flow %u: %llu bytes placed of %llu",
						c->end.flow,
						(unsigned long long)c->end.placed_bytes,
						(unsigned long long)c->end.bytes);
		ms_nic_flow_arrived(&h->nic, &c->end, now_ps);
		start_linger(h, c, now_ps / MS_PS_PER_NS);
	}
	if (!c->end.sizes || k < c->end.messages)
		ms_app_message_done(&h->nic.set->app, &h->nic.app, c->end.flow, k, MS_RECEIVED,
				    now_ps);
}

void ms_conn_event(struct ms_mrc_host *h, const struct mt_event *ev, uint64_t now_ps)
{
	struct ms_conn *c = ev->qp_user;

	if (ev->type == MT_EVENT_QP || ((ev->type == MT_EVENT_SEND || ev->type == MT_EVENT_RECV) &&
					ev->status != RD_WC_SUCCESS))
		ms_nic_flow_failed(&h->nic, &c->end);
	else if (ev->type == MT_EVENT_SEND)
		ms_nic_message_acked(&h->nic, &c->end, (uint32_t)ev->wr_id, now_ps);
	else if (ev->type == MT_EVENT_RECV)
		message_arrived(h, c, ev, now_ps);
	else if (ev->type == MT_EVENT_EV)
		replace_reserve(h);
}

/* ---- taking down ---- */

uint64_t ms_conn_linger_ns(const struct ms_mrc_host *h)
{
	return h->linger_first ? h->linger_first->heard_ns + h->mrc->cfg.linger_ns : UINT64_MAX;
}

void ms_conn_reap_idle(struct ms_mrc_host *h, uint64_t now_ns)
{
	while (ms_conn_linger_ns(h) <= now_ns) {
		struct ms_conn *c = h->linger_first;

		h->linger_first = c->next;
		if (!h->linger_first)
			h->linger_last = NULL;
		mt_mr_remove(h->engine, c->end.slot - h->nic.outgoing + 1);
		h->nic.ends[c->end.slot] = MS_FLOW_OVER;
		h->accepted--;
		free_conn(h, c);
	}
}
