/* SPDX-License-Identifier: BSD-2-Clause */
/* engine_node.c - see engine_node.h. */
#include "support/engine_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

/* No engine of a test wants more at a time; what does asks for nonsense. */
#define GROW_MAX ((size_t)1 << 26)
#define EVENTS 4u

static void fail(struct engine_node *n, const char *what, int result)
{
	if (!n->ops.fail)
		mb_panic(__FILE__, __LINE__, what);
	n->ops.fail(n->ops.env.ctx, what, result);
}

static void check_result(struct engine_node *n, int result, const char *what)
{
	if (result != MT_OK)
		fail(n, what, result);
}

/* ---- memory ---- */

static void *require_memory(void *p)
{
	if (!p) {
		perror("engine_node");
		abort();
	}
	return p;
}

void *engine_node_block(struct engine_node *n, size_t size)
{
	size_t whole = (size + 63) & ~(size_t)63;
	void *block;

	if (n->ops.alloc)
		return n->ops.alloc(whole);
	if (n->n_blocks == n->blocks_room) {
		n->blocks_room = 2 * n->blocks_room + 16;
		n->blocks = require_memory(realloc(n->blocks, n->blocks_room * sizeof(*n->blocks)));
	}
	block = require_memory(aligned_alloc(64, whole));
	memset(block, 0xA5, whole);
	n->blocks[n->n_blocks++] = block;
	return block;
}

void engine_node_grow(struct engine_node *n)
{
	size_t size = mt_engine_memory_wanted(n->engine);

	if (size == 0 || size > GROW_MAX || (n->grows_max && n->grows == n->grows_max)) {
		fail(n, "the engine asks for no memory, for too much or too often", MT_ERR_MEMORY);
		return;
	}
	if (n->ops.refuses && n->ops.refuses(n->ops.env.ctx))
		return;
	if (size < n->memory_least)
		size = n->memory_least;
	n->grows++;
	mt_engine_add_memory(n->engine, engine_node_block(n, size), (size + 63) & ~(size_t)63);
}

/* ---- set-up ---- */

void engine_node_open(struct engine_node *n, const struct engine_node_ops *ops,
		      const struct engine_node_cfg *cfg, uint64_t now_ns)
{
	size_t size = mt_engine_size(&cfg->engine);
	int result;

	*n = (struct engine_node){
		.ops = *ops, .memory_least = cfg->memory_least, .grows_max = cfg->grows_max};
	if (size == 0) {
		fail(n, "mt_engine_size refuses the configuration", MT_ERR_INVALID);
		return;
	}
	n->engine = mt_engine_init(engine_node_block(n, size), &cfg->engine, &ops->env, now_ns);
	if (cfg->memory_begin)
		mt_engine_add_memory(n->engine, engine_node_block(n, cfg->memory_begin),
				     cfg->memory_begin);
	ENGINE_NODE_CALL(n, result, mt_ev_profile_set(n->engine, 0, &cfg->ev_profile));
	check_result(n, result, "mt_ev_profile_set refuses the profile");
	for (uint32_t i = 0; i < cfg->n_cc_profiles; i++)
		check_result(n, mt_cc_profile_set(n->engine, i, &cfg->cc_profiles[i]),
			     "mt_cc_profile_set refuses the profile");
}

void engine_node_close(struct engine_node *n)
{
	while (n->n_blocks > 0)
		free(n->blocks[--n->n_blocks]);
	free(n->blocks);
	free(n->frame);
	*n = (struct engine_node){0};
}

struct mt_qp *engine_node_qp(struct engine_node *n, const struct mt_qp_cap *cap, uint32_t qpn,
			     void *user)
{
	size_t size = mt_qp_size(cap);
	struct mt_qp *qp = NULL;

	if (size == 0)
		fail(n, "mt_qp_size refuses the capabilities", MT_ERR_INVALID);
	else
		check_result(n,
			     mt_qp_init(n->engine, engine_node_block(n, size), cap, qpn, user, &qp),
			     "mt_qp_init refuses the QP");
	return qp;
}

int engine_node_modify(struct engine_node *n, struct mt_qp *qp, uint64_t now_ns,
		       const struct rd_qp_attr *attr, uint32_t mask)
{
	int result;

	ENGINE_NODE_CALL(n, result, mt_qp_modify(qp, now_ns, attr, mask));
	return result;
}

int engine_node_bring_to(struct engine_node *n, struct mt_qp *qp, uint64_t now_ns,
			 const struct rd_qp_attr *attr, enum rd_qp_state state)
{
	struct rd_qp_attr now;
	int result = MT_OK;

	mt_qp_query(qp, &now);
	for (unsigned next = now.state + 1; next <= state && result == MT_OK; next++) {
		now = *attr;
		now.state = (enum rd_qp_state)next;
		result = engine_node_modify(n, qp, now_ns, &now,
					    next == RD_QPS_RTR ? RD_QP_ALL : RD_QP_STATE);
	}
	return result;
}

int engine_node_post(struct engine_node *n, struct mt_qp *qp, uint64_t now_ns,
		     const struct rd_send_wr *wr)
{
	int result;

	ENGINE_NODE_CALL(n, result, mt_qp_post_send(qp, now_ns, wr));
	return result;
}

/* ---- the loop ---- */

uint32_t engine_node_send(struct engine_node *n, uint64_t now_ns, uint32_t batch)
{
	struct mt_tx_desc descs[ENGINE_NODE_BATCH_MAX];
	void *ctx = n->ops.env.ctx;
	uint32_t total = 0, sent;

	if (batch > ENGINE_NODE_BATCH_MAX)
		batch = ENGINE_NODE_BATCH_MAX;
	do {
		uint32_t ports = n->ops.free_ports ? n->ops.free_ports(ctx, batch) : UINT32_MAX;

		sent = mt_engine_tx(n->engine, now_ns, ports, descs, batch);
		total += sent;
		if (sent > batch || total > ENGINE_NODE_ROUND_MAX) {
			fail(n, "the engine sends too many packets", (int)sent);
			break;
		}
		for (uint32_t i = 0; i < sent; i++)
			n->ops.send(ctx, &descs[i], ports);
	} while (sent == batch);
	return total;
}

uint32_t engine_node_poll(struct engine_node *n)
{
	struct mt_event events[EVENTS];
	uint32_t total = 0, polled;

	do {
		polled = mt_engine_poll(n->engine, events, EVENTS);
		total += polled;
		if (polled > EVENTS || total > ENGINE_NODE_ROUND_MAX) {
			fail(n, "the engine reports too many events", (int)polled);
			break;
		}
		for (uint32_t i = 0; i < polled; i++)
			n->ops.event(n->ops.env.ctx, &events[i]);
	} while (polled == EVENTS);
	return total;
}

void engine_node_tick(struct engine_node *n, uint64_t now_ns)
{
	for (unsigned i = 0; mt_engine_deadline(n->engine) <= now_ns; i++) {
		if (i == ENGINE_NODE_TICKS_MAX) {
			fail(n, "the engine's deadline does not move on", MT_ERR_STATE);
			return;
		}
		mt_engine_tick(n->engine, now_ns);
	}
}

void engine_node_rx_bytes(struct engine_node *n, uint64_t now_ns, const struct mt_rx_meta *meta,
			  const void *bytes, size_t len)
{
	n->frame = require_memory(malloc(len ? len : 1));
	if (len)
		memcpy(n->frame, bytes, len);
	mt_engine_rx_bytes(n->engine, now_ns, meta, n->frame, len);
	free(n->frame);
	n->frame = NULL;
}
