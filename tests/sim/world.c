/* SPDX-License-Identifier: BSD-2-Clause */
/* world.c - making worlds: engines, memory regions, connections, messages. */
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node.h"

/* Windows for several QPs, so that their first packets find one. */
#define MEMORY_LEAST ((size_t)1 << 16)
#define EV_BASE 0xC000u
#define PSN_MASK 0xFFFFFFu

void sim_world_cfg_default(struct sim_world_cfg *cfg)
{
	*cfg = (struct sim_world_cfg){
		.net = {.seed = 1,
			.n_nodes = 2,
			.nodes_per_host = 1,
			.n_planes = 2,
			.n_paths = 4,
			.ev_base = EV_BASE,
			.path = {.latency_ns = 5000},
			.log_room = 1 << 16},
		.evs = 4,
		.active = 4,
		.min_active = 1,
		.revive_probes = 2,
		.probe_interval_ns = 100 * SIM_US,
		.probe_interval_max_ns = 1600 * SIM_US,
		.link_bps = UINT64_C(400) * 1000000000,
		.base_rtt_ns = 10000,
		.memory_least = MEMORY_LEAST,
	};
	mt_engine_cfg_default(&cfg->engine, 1);
	/* Short, so that windows come and go in every longer run. */
	cfg->engine.timing.idle_ns = 200 * SIM_US;
	cfg->engine.max_qps = 64;
	cfg->engine.max_mrs = SIM_MRS_MAX;
	cfg->engine.max_profiles = 4;
}

void sim_qp_cfg_default(struct sim_qp_cfg *cfg)
{
	*cfg = (struct sim_qp_cfg){.cap = {.sq_depth = 256,
					   .rq_depth = 256,
					   .max_sge = SIM_SGE_MAX,
					   .signal_all = true}};
	mt_qp_attr_default(&cfg->attr);
	cfg->attr.path_mtu = 4096;
	cfg->attr.access = RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE;
	cfg->attr.mpr = 8;
	cfg->attr.mpr_dest = 8;
	cfg->attr.max_wimm = 32;
	cfg->attr.max_wimm_dest = 32;
	cfg->attr.timeout = 8;
	cfg->attr.retry_linear = 7;
	cfg->attr.retry_exp = RD_RETRY_EXP_FOREVER;
	cfg->attr.trim_nack_dest = true;
}

void sim_qp_cfg_extended(struct sim_qp_cfg *cfg)
{
	sim_qp_cfg_default(cfg);
	cfg->cap.extensions = MW_EXT_SEND;
	cfg->cap.max_recv_sge = SIM_SGE_MAX;
	cfg->cap.in_order = true;
	cfg->attr.rnr_retry = 7;
	cfg->attr.min_rnr_timer = 1;
	cfg->recv_room = 65536;
}

void sim_qp_cfg_asking(struct sim_qp_cfg *cfg)
{
	sim_qp_cfg_extended(cfg);
	cfg->cap.extensions |= MW_EXT_READ | MW_EXT_ATOMIC;
	cfg->attr.access |= RD_ACCESS_REMOTE_READ | RD_ACCESS_REMOTE_ATOMIC;
	cfg->attr.max_rd_atomic = cfg->attr.max_dest_rd_atomic = 4;
}

static void must(struct sim_world *w, int result, const char *what)
{
	if (result != MT_OK)
		sim_fail(&w->check, "%s: error %d", what, result);
}

/* ---- nodes ---- */

static bool place(void *ctx, void *mr_user, uint64_t offset, const void *src, uint32_t len)
{
	struct sim_node *node = ctx;
	struct sim_mr *mr = mr_user;

	if (mr->node != node->id)
		sim_fail(&node->w->check, "node %u places into an MR of node %u", node->id,
			 mr->node);
	sim_mr_placed(mr, offset, src, len);
	return true;
}

static void fail_node(void *ctx, const char *what, int result)
{
	struct sim_node *node = ctx;

	sim_fail(&node->w->check, "node %u: %s: %d", node->id, what, result);
}

void sim_open_engine(struct sim_node *node)
{
	const struct sim_world_cfg *cfg = &node->w->cfg;
	uint32_t n = cfg->evs * cfg->net.n_planes;
	struct mt_ev *evs = calloc(n, sizeof(*evs));
	uint16_t *ids = calloc(n, sizeof(*ids));
	struct mt_cc_profile_cfg ccs[2] = {{.kind = MT_CC_NONE,
					    .link_bps = cfg->link_bps,
					    .base_rtt_ns = cfg->base_rtt_ns,
					    .base_rtt_min_ns = cfg->base_rtt_min_ns,
					    .trimming = cfg->trimming}};
	struct engine_node_ops ops = {
		.env = {.ctx = node, .place = place, .atomic = sim_atomic_run},
		.send = sim_node_send,
		.free_ports = sim_node_free_ports,
		.event = sim_node_event,
		.refuses = sim_node_refuses,
		.fail = fail_node,
	};
	struct engine_node_cfg node_cfg = {
		.engine = cfg->engine,
		.ev_profile = {.evs = evs,
			       .group_ids = cfg->group_ids ? ids : NULL,
			       .n_evs = (uint16_t)n,
			       .n_active = (uint16_t)(cfg->active * cfg->net.n_planes),
			       .min_active = (uint16_t)cfg->min_active,
			       .revive_probes = cfg->revive_probes,
			       .probe_interval_ns = cfg->probe_interval_ns,
			       .probe_interval_max_ns = cfg->probe_interval_max_ns},
		.cc_profiles = ccs,
		.n_cc_profiles = 2,
		.memory_least = cfg->memory_least,
		.grows_max = cfg->memory_least < MEMORY_LEAST ? 0 : 256,
	};

	if (!evs || !ids) {
		perror("sim world");
		abort();
	}
	for (uint32_t i = 0; i < n; i++) {
		evs[i] = (struct mt_ev){.value = cfg->net.ev_base + i / cfg->net.n_planes,
					.port = (uint8_t)(i % cfg->net.n_planes)};
		ids[i] = (uint16_t)(i / cfg->net.n_planes % cfg->net.n_paths);
	}
	ccs[1] = ccs[0];
	ccs[1].kind = MT_CC_NSCC;
	node_cfg.engine.n_ports = cfg->net.n_planes;
	node_cfg.engine.endpoint = node->endpoint;
	node_cfg.engine.qpn_index_bits = node->w->qpn_index_bits;
	node_cfg.engine.seed = cfg->net.seed * 8u + node->id;
	engine_node_open(&node->base, &ops, &node_cfg, sim_node_now(node));
	node->engine = node->base.engine;
	free(ids);
	free(evs);
}

static void open_node(struct sim_world *w, uint32_t id)
{
	struct sim_node *node = &w->nodes[id];

	*node = (struct sim_node){.w = w, .id = id, .tx_batch = 16, .wake_at_ns = NET_NEVER};
	node->addr.b[0] = 0xFD;
	node->addr.b[15] = (uint8_t)(engine_net_host(&w->net, id) + 1);
	node->endpoint = id - engine_net_host(&w->net, id);
	sim_open_engine(node);
}

void sim_world_open(struct sim_world *w, const struct sim_world_cfg *cfg)
{
	w->cfg = *cfg;
	/* A lone engine has all QPNs; of several at an address the upper bits tell which. */
	w->qpn_index_bits = cfg->net.nodes_per_host > 1 ? 20 : 24;
	w->check.now_ns = &w->net.now_ns;
	engine_net_init(&w->net, &cfg->net);
	/* Nothing may rest on time beginning at zero. */
	w->net.now_ns = 1000003;
	w->net.deliver = sim_node_deliver;
	w->net.deliver_ctx = w;
	sim_set_current(w);
	for (uint32_t i = 0; i < cfg->net.n_nodes; i++)
		open_node(w, i);
}

static void close_node(struct sim_node *node)
{
	for (uint32_t port = 0; port < MT_PORTS_MAX; port++)
		for (struct net_packet *p = node->inbox[port].first, *next; p; p = next) {
			next = p->next;
			free(p);
		}
	for (uint32_t i = 0; i < node->n_qps; i++) {
		mt_qp_fini(node->qps[i]->qp);
		sim_flow_fini(&node->qps[i]->out);
		sim_flow_fini(&node->qps[i]->answers);
		sim_mws_fini(node->qps[i]);
		free(node->qps[i]);
	}
	if (node->srq)
		sim_srq_fini(node->srq);
	for (uint32_t i = 0; i < node->n_mrs; i++)
		sim_mr_fini(&node->mrs[i]);
	engine_node_close(&node->base);
}

void sim_world_close(struct sim_world *w)
{
	for (uint32_t i = 0; i < w->cfg.net.n_nodes; i++)
		close_node(&w->nodes[i]);
	engine_net_fini(&w->net);
	sim_set_current(NULL);
}

/* ---- memory regions ---- */

struct sim_mr *sim_mr_add(struct sim_node *node, uint32_t pd, uint64_t start, uint64_t length,
			  uint32_t access)
{
	struct sim_mr *mr = &node->mrs[node->n_mrs];
	uint8_t tag = (uint8_t)rng_below(&node->w->net.rng, 256);

	*mr = (struct sim_mr){.check = &node->w->check,
			      .node = node->id,
			      .index = ++node->n_mrs,
			      .pd = pd,
			      .access = access,
			      .start = start,
			      .length = length};
	mr->key = mr->index << 8 | tag;
	must(node->w, mt_mr_add(node->engine, mr->key, pd, start, length, access, mr), "mt_mr_add");
	return mr;
}

struct sim_mr *sim_mr_of_pd(struct sim_node *node, uint32_t pd)
{
	const struct sim_world_cfg *cfg = &node->w->cfg;
	uint64_t start = (uint64_t)(node->id + 1) << 44 | (uint64_t)(pd + 1) << 41;
	uint64_t length = cfg->all_addresses ? UINT64_MAX : UINT64_C(1) << 40;
	struct sim_mr *mr;

	for (uint32_t i = 0; i < node->n_mrs; i++)
		if (node->mrs[i].pd == pd && node->mrs[i].large)
			return &node->mrs[i];
	mr = sim_mr_add(node, pd, cfg->zero_based || cfg->all_addresses ? 0 : start, length,
			RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE | RD_ACCESS_REMOTE_READ |
				RD_ACCESS_MW_BIND);
	mr->large = true;
	return mr;
}

/* ---- connections ---- */

/* Numbers all over the 24 bits, different modulo max_qps, never one of the reserved 0 to 2. */
uint32_t sim_fresh_qpn(struct sim_node *node, uint32_t index)
{
	uint32_t max = node->w->cfg.engine.max_qps;
	uint32_t bits = node->w->qpn_index_bits;
	uint32_t high = (uint32_t)rng_below(&node->w->net.rng, (1u << bits) / max);
	uint32_t qpn = high * max + index;

	return (qpn < 3 ? qpn + max : qpn) | node->endpoint << bits;
}

static struct sim_qp *make_qp(struct sim_node *node, const struct sim_qp_cfg *cfg)
{
	struct sim_qp *qp = calloc(1, sizeof(*qp));

	if (!qp) {
		perror("sim world");
		abort();
	}
	*qp = (struct sim_qp){.node = node, .cfg = *cfg, .qpn = sim_fresh_qpn(node, node->n_qps)};
	qp->mr = sim_mr_of_pd(node, cfg->cap.pd);
	if (cfg->srq_depth) {
		/* Its memory may be of another PD than that of the QPs. */
		if (!node->srq)
			node->srq = sim_srq_open(node, cfg->srq_depth, cfg->recv_room,
						 1 - cfg->cap.pd % 2);
		qp->srq = node->srq;
		qp->cfg.cap.srq = node->srq->srq;
	}
	qp->qp = engine_node_qp(&node->base, &qp->cfg.cap, qp->qpn, qp);
	node->qps[node->n_qps++] = qp;
	node->w->qps[node->w->n_qps++] = qp;
	return qp;
}

int sim_modify(struct sim_qp *qp, const struct rd_qp_attr *attr, uint32_t mask)
{
	return engine_node_modify(&qp->node->base, qp->qp, sim_node_now(qp->node), attr, mask);
}

void sim_to_rts(struct sim_qp *qp)
{
	struct rd_qp_attr attr = qp->cfg.attr;
	struct sim_world *w = qp->node->w;

	attr.dest = qp->peer->node->addr;
	attr.dest_qpn = qp->peer->qpn;
	attr.rq_psn = qp->peer->cfg.attr.sq_psn;
	attr.state = RD_QPS_INIT;
	must(w,
	     sim_modify(qp, &attr,
			RD_QP_STATE | RD_QP_ACCESS | RD_QP_P_KEY | RD_QP_EV_PROFILE |
				RD_QP_CC_PROFILE | RD_QP_TRIM_NACK_DEST),
	     "to INIT");
	attr.state = RD_QPS_RTR;
	must(w,
	     sim_modify(qp, &attr,
			RD_QP_STATE | RD_QP_DEST | RD_QP_RQ_PSN | RD_QP_PATH_MTU | RD_QP_MPR_DEST |
				RD_QP_MAX_WIMM_DEST | RD_QP_MIN_RNR_TIMER |
				RD_QP_MAX_DEST_RD_ATOMIC),
	     "to RTR");
	attr.state = RD_QPS_RTS;
	must(w,
	     sim_modify(qp, &attr,
			RD_QP_STATE | RD_QP_SQ_PSN | RD_QP_MPR | RD_QP_MAX_WIMM | RD_QP_TIMEOUT |
				RD_QP_RETRY | RD_QP_RNR_RETRY | RD_QP_MAX_RD_ATOMIC),
	     "to RTS");
}

void sim_make_flow(struct sim_qp *qp)
{
	struct sim_flow *f = &qp->out;

	f->check = &qp->node->w->check;
	f->dst_life = &qp->peer->life;
	f->src = qp->node->id;
	f->dst = qp->peer->node->id;
	f->dst_qpn = qp->peer->qpn;
	f->mtu = qp->cfg.attr.path_mtu;
	f->first_psn = qp->cfg.attr.sq_psn;
	f->window = (uint64_t)qp->cfg.attr.mpr * MT_MPR_UNIT;
	f->max_wimm = qp->cfg.attr.max_wimm;
	f->p_key = qp->cfg.attr.p_key;
	f->extended = qp->cfg.cap.extensions & qp->peer->cfg.cap.extensions;
	f->in_order = qp->peer->cfg.cap.in_order;
	f->signal_all = qp->cfg.cap.signal_all;
	f->trimmable = qp->cfg.attr.trim_nack_dest;
	f->srq = qp->peer->srq;
	snprintf(f->name, sizeof(f->name), "node %u qp %u to node %u", f->src, qp->qpn, f->dst);
}

struct sim_qp *sim_connect(struct sim_world *w, uint32_t a, uint32_t b,
			   const struct sim_qp_cfg *cfg_a, const struct sim_qp_cfg *cfg_b)
{
	struct sim_qp *qp = make_qp(&w->nodes[a], cfg_a);

	qp->peer = make_qp(&w->nodes[b], cfg_b);
	qp->peer->peer = qp;
	sim_make_flow(qp);
	sim_make_flow(qp->peer);
	sim_make_answers(qp);
	sim_make_answers(qp->peer);
	sim_to_rts(qp);
	sim_to_rts(qp->peer);
	return qp;
}

struct sim_qp *sim_connect_default(struct sim_world *w)
{
	struct sim_qp_cfg cfg;

	sim_qp_cfg_default(&cfg);
	return sim_connect(w, 0, 1, &cfg, &cfg);
}

struct sim_qp *sim_connect_extended(struct sim_world *w)
{
	struct sim_qp_cfg cfg;

	sim_qp_cfg_extended(&cfg);
	return sim_connect(w, 0, 1, &cfg, &cfg);
}

/* ---- messages ---- */

void sim_make_sges(struct sim_node *node, struct sim_mr *mr, uint32_t left, struct rd_sge *sge,
		   uint32_t n)
{
	struct rng *rng = &node->w->net.rng;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t len = i + 1 == n ? left : (uint32_t)rng_below(rng, left + 1);
		uint64_t at = sim_mr_take(mr, len + rng_below(rng, 32));

		sge[i] = (struct rd_sge){.addr = mr->start + at, .length = len, .lkey = mr->key};
		left -= len;
	}
}

static struct sim_msg *through_window(struct sim_qp *qp, const struct sim_wr *wr, struct sim_msg *m)
{
	struct sim_msg *added;

	sim_mw_aim(wr->mw, m->len, m);
	added = sim_flow_add(&qp->out, m, qp->peer->mr);
	wr->mw->last_use = added->number + 1;
	return added;
}

static struct sim_msg *describe(struct sim_qp *qp, const struct sim_wr *wr)
{
	struct sim_mr *mr = wr->mr ? wr->mr : qp->peer->mr;
	struct sim_msg m = {
		.wr_id = sim_flow_wr_id(&qp->out, UINT64_C(0x1000000) * qp->qpn + qp->out.n),
		.len = wr->len,
		.flags = wr->flags,
		.imm = wr->imm,
		.opcode = wr->opcode,
		.want = wr->want};

	m.n_sge = wr->n_sge ? wr->n_sge : wr->len > 0;
	sim_make_sges(qp->node, qp->mr, m.len, m.sge, m.n_sge);
	if (wr->opcode == RD_WR_SEND)
		return sim_flow_add(&qp->out, &m, NULL);
	if (wr->mw)
		return through_window(qp, wr, &m);
	if (wr->nowhere) {
		m.remote_addr = wr->nowhere;
		m.rkey = wr->rkey;
		return sim_flow_add(&qp->out, &m, NULL);
	}
	m.mr_offset = sim_mr_take(mr, wr->len + rng_below(&qp->node->w->net.rng, 16));
	m.remote_addr = mr->start + m.mr_offset + wr->beyond;
	m.rkey = wr->rkey ? wr->rkey : mr->key;
	return sim_flow_add(&qp->out, &m, mr);
}

static struct sim_msg *post_wr(struct sim_qp *qp, const struct sim_wr *wr, int *result)
{
	struct sim_mr *mr = wr->mr ? wr->mr : qp->peer->mr;
	uint64_t taken = qp->mr->taken, mr_taken = mr->taken;
	uint64_t mw_taken = wr->mw ? wr->mw->taken : 0;
	struct sim_msg *m = describe(qp, wr);
	struct rd_send_wr post = {.wr_id = m->wr_id,
				  .sge = m->sge,
				  .n_sge = m->n_sge,
				  .flags = m->flags,
				  .imm = m->imm,
				  .rkey = m->rkey,
				  .opcode = m->opcode,
				  .remote_addr = m->remote_addr};

	*result = engine_node_post(&qp->node->base, qp->qp, sim_node_now(qp->node), &post);
	if (*result == MT_OK)
		return m;
	/* Whoever tries again and again takes nothing. */
	sim_flow_drop_last(&qp->out, mr);
	qp->mr->taken = taken;
	mr->taken = mr_taken;
	if (wr->mw)
		wr->mw->taken = mw_taken;
	return NULL;
}

struct sim_msg *sim_post_wr(struct sim_qp *qp, const struct sim_wr *wr, int *result)
{
	if (wr->opcode >= RD_WR_READ)
		return sim_ask(qp, wr, result);
	return post_wr(qp, wr, result);
}

static struct sim_msg *post(struct sim_qp *qp, enum rd_wr_opcode opcode, uint32_t len,
			    uint32_t flags)
{
	struct sim_wr wr = {.len = len,
			    .flags = flags,
			    .imm = (uint32_t)(0xABC00000u + qp->out.n),
			    .opcode = opcode};
	int result;
	struct sim_msg *m = sim_post_wr(qp, &wr, &result);

	must(qp->node->w, result, "mt_qp_post_send");
	sim_node_run(qp->node);
	return m;
}

struct sim_msg *sim_post(struct sim_qp *qp, uint32_t len, uint32_t flags)
{
	return post(qp, RD_WR_WRITE, len, flags);
}

struct sim_msg *sim_send(struct sim_qp *qp, uint32_t len, uint32_t flags)
{
	return post(qp, RD_WR_SEND, len, flags);
}

int sim_post_recv(struct sim_qp *qp)
{
	struct sim_flow *in = &qp->peer->out;
	struct rd_sge sge[SIM_SGE_MAX];
	struct rd_recv_wr wr = {.wr_id = sim_flow_wr_id(in, in->recvs_posted), .sge = sge};
	uint64_t at = 0, taken = qp->mr->taken;
	int result;

	if (qp->cfg.recv_room && qp->cfg.cap.max_recv_sge)
		wr.n_sge =
			(uint32_t)rng_between(&qp->node->w->net.rng, 1, qp->cfg.cap.max_recv_sge);
	sim_make_sges(qp->node, qp->mr, qp->cfg.recv_room, sge, wr.n_sge);
	result = mt_qp_post_recv_sges(qp->qp, &wr);
	if (result != MT_OK) {
		qp->mr->taken = taken;
		return result;
	}
	for (uint32_t i = 0; i < wr.n_sge; at += sge[i++].length)
		if (sge[i].length)
			sim_flow_recv(in, qp->mr, sge[i].addr - qp->mr->start, at, sge[i].length);
	in->recvs_posted++;
	return result;
}
