/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_node.h - one engine, and what every adapter does for one: memory when it asks for some,
 * QPs brought to RTS, packets out, timers, events.
 *
 * Unit tests, scripts, the fuzz target, worlds of several engines and measurements are built on
 * it. It has no clock and no network: each call is told the time, and its owner gets the packets.
 */
#ifndef SUPPORT_ENGINE_NODE_H
#define SUPPORT_ENGINE_NODE_H

#include "core/engine.h"

/* An engine that sends or reports more than this in one round never ends. */
#define ENGINE_NODE_ROUND_MAX 100000u
/* So many ticks at one moment move a deadline past it, or nothing does. */
#define ENGINE_NODE_TICKS_MAX 100u
#define ENGINE_NODE_BATCH_MAX 64u

/* What the owner of a node does for it; ctx is that of env. */
struct engine_node_ops {
	struct mt_env env;
	/* send takes a packet that was let out while `ports` had room. */
	void (*send)(void *ctx, const struct mt_tx_desc *desc, uint32_t ports);
	/* free_ports returns the ports that have room for n data packets; NULL: all, always. */
	uint32_t (*free_ports)(void *ctx, uint32_t n);
	void (*event)(void *ctx, const struct mt_event *ev);
	/* fail is told that `what` went wrong, with the result of a call; NULL: mb_panic. */
	void (*fail)(void *ctx, const char *what, int result);
	/* refuses says that no memory is to be had now; NULL: there always is. */
	bool (*refuses)(void *ctx);
	/* alloc returns 64-byte aligned memory that its owner frees; NULL: the node has its own. */
	void *(*alloc)(size_t size);
};

struct engine_node_cfg {
	struct mt_engine_cfg engine;
	struct mt_ev_profile_cfg ev_profile; /* number 0 */
	const struct mt_cc_profile_cfg *cc_profiles;
	uint32_t n_cc_profiles;
	size_t memory_begin; /* bytes that the engine gets before it asks for any */
	size_t memory_least; /* bytes that it gets at least whenever it asks */
	uint32_t grows_max;  /* so often it may ask; 0: any number of times */
};

struct engine_node {
	struct mt_engine *engine;
	struct engine_node_ops ops;
	size_t memory_least;
	uint32_t grows, grows_max;
	void **blocks;
	size_t n_blocks, blocks_room;
	void *frame; /* being received; a callback that fails a case does not come back */
};

/* engine_node_open makes the engine with its profiles. Both arguments are copied. */
void engine_node_open(struct engine_node *n, const struct engine_node_ops *ops,
		      const struct engine_node_cfg *cfg, uint64_t now_ns);
/* engine_node_close frees all memory; QPs need no end of their own. */
void engine_node_close(struct engine_node *n);
/*
 * engine_node_block returns 64-byte aligned memory that engine_node_close frees. It is not zero,
 * so that an engine that relies on that is found.
 */
void *engine_node_block(struct engine_node *n, size_t size);
/* engine_node_grow gives the engine the memory that it found missing, or more. */
void engine_node_grow(struct engine_node *n);
/* engine_node_grow_if_wanted does so after a packet, which may have found some missing. */
static inline void engine_node_grow_if_wanted(struct engine_node *n)
{
	if (mt_engine_memory_wanted(n->engine) > 0)
		engine_node_grow(n);
}

/* Makes a call that may want several blocks, one after the other, and sets `result`. */
#define ENGINE_NODE_CALL(n, result, call)                                                       \
	for (unsigned grows_ = 0; ((result) = (call)) == MT_ERR_MEMORY && grows_ < 8; grows_++) \
	engine_node_grow(n)

/* engine_node_qp makes a QP in RESET; NULL when that failed. */
struct mt_qp *engine_node_qp(struct engine_node *n, const struct mt_qp_cap *cap, uint32_t qpn,
			     void *user);
/* engine_node_modify is mt_qp_modify, with memory when it is wanted. */
int engine_node_modify(struct engine_node *n, struct mt_qp *qp, uint64_t now_ns,
		       const struct rd_qp_attr *attr, uint32_t mask);
/*
 * engine_node_bring_to takes a QP from its state, RESET at least, up to `state`, RTS at most; all
 * attributes are set with the move to RTR. It returns the first error.
 */
int engine_node_bring_to(struct engine_node *n, struct mt_qp *qp, uint64_t now_ns,
			 const struct rd_qp_attr *attr, enum rd_qp_state state);
/* engine_node_post is mt_qp_post_send, with memory when it is wanted. */
int engine_node_post(struct engine_node *n, struct mt_qp *qp, uint64_t now_ns,
		     const struct rd_send_wr *wr);

/* engine_node_send lets out, `batch` at a time, all that may leave; it returns how many left. */
uint32_t engine_node_send(struct engine_node *n, uint64_t now_ns, uint32_t batch);
/* engine_node_poll reports all events and returns how many. */
uint32_t engine_node_poll(struct engine_node *n);
/* engine_node_tick runs timers until none is due. */
void engine_node_tick(struct engine_node *n, uint64_t now_ns);
/*
 * engine_node_rx_bytes hands over a packet as bytes. They are copied to a block of their exact
 * size, so that the address sanitizer sees a read past their end.
 */
void engine_node_rx_bytes(struct engine_node *n, uint64_t now_ns, const struct mt_rx_meta *meta,
			  const void *bytes, size_t len);

#endif
