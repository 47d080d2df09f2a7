/* SPDX-License-Identifier: BSD-2-Clause */
/* engine_state.h - what an engine consists of; for core/ only. */
#ifndef SOFTMRC_CORE_ENGINE_STATE_H
#define SOFTMRC_CORE_ENGINE_STATE_H

#include "base/list.h"
#include "base/pool.h"
#include "base/prng.h"
#include "base/timer.h"
#include "core/cc.h"
#include "core/control.h"
#include "core/engine.h"
#include "core/mr.h"
#include "core/path_set.h"
#include "core/pressure.h"

/* An EV profile with its own copy of the EVs; unset while evs is NULL. */
struct mt_ev_profile {
	struct mt_ev_profile_cfg cfg;
	struct mt_ev *evs;
};

/* EV events waiting to be polled. */
struct mt_event_ring {
	struct mt_event *events;
	uint32_t mask;
	uint32_t head, tail;
};

struct mt_engine {
	struct mt_engine_cfg cfg;
	struct mt_env env;
	struct mt_stats stats;
	struct mb_prng prng;
	struct mb_pool pool;
	size_t memory_wanted; /* by the call that last found the pool empty */
	struct mt_pressure pressure;
	uint32_t receivers; /* QPs with receive bitmaps, which are those that received lately */
	uint64_t grace_ns;  /* timers that were late are judged from here on, see mt_engine_tick */
	struct mb_timers qp_timers;
	struct mb_timers path_timers;
	struct mb_link ready;	    /* QPs that may have data to send */
	struct mb_link control;	    /* QPs that owe a SACK or ACK */
	struct mb_link completions; /* QPs with something to poll */
	struct mb_link holders;	    /* QPs that hold windows */
	uint32_t n_holders;
	uint32_t sweep_left; /* of these, in the round that goes on now */
	uint64_t sweep_ns;   /* when it goes on; while n_holders > 0 */
	struct mb_link path_sets;
	struct mt_control_ring control_ring;
	struct mt_event_ring events;
	struct mt_mr_table mrs;
	struct mt_qp **qps; /* by QPN modulo max_qps */
	struct mt_ev_profile *ev_profiles;
	struct mt_cc_profile *cc_profiles;
};

/* mt_engine_alloc takes memory from the pool and notes what was wanted when it is empty. */
void *mt_engine_alloc(struct mt_engine *e, size_t size);
/* mt_memory_deadline and mt_memory_tick: the clock that gives idle windows back; see memory.c. */
uint64_t mt_memory_deadline(const struct mt_engine *e);
void mt_memory_tick(struct mt_engine *e, uint64_t now_ns);
/* mt_engine_report_ev puts an EV event into the ring, or counts that it was full. */
void mt_engine_report_ev(struct mt_engine *e, const struct mt_path_set *s,
			 const struct mt_path_change *change);
/* mt_engine_control queues a control packet, or counts that the ring was full. */
void mt_engine_control(struct mt_engine *e, const struct mt_control *c);

/* mt_paths_join returns the set for a destination and profile, with one more user; NULL: memory. */
struct mt_path_set *mt_paths_join(struct mt_engine *e, uint32_t profile, const struct mt_addr *peer,
				  struct mb_link *user);
void mt_paths_leave(struct mt_engine *e, struct mt_path_set *s, struct mb_link *user);
/* mt_paths_arm sets the set's probe timer; mt_paths_tick sends the probes that are due. */
void mt_paths_arm(struct mt_engine *e, struct mt_path_set *s);
/* mt_paths_wake is called when a peer is heard again after a silence; it sends each plane a probe.
 */
void mt_paths_wake(struct mt_engine *e, struct mt_path_set *s, uint64_t now_ns);
void mt_paths_tick(struct mt_engine *e, struct mt_path_set *s, uint64_t now_ns);

/* mt_control_emit makes the packet of a queued control entry; false: its time has passed. */
bool mt_control_emit(uint64_t now_ns, const struct mt_control *c, struct mt_tx_desc *desc);
/* mt_control_owed makes the SACK or transport ACK that a QP owes; false when it owes none. */
bool mt_control_owed(struct mt_qp *qp, uint64_t now_ns, struct mt_tx_desc *desc);

/* mt_timestamp is the 16-bit stamp that travels in a TSETH. REQ(wire.tseth.resolution) */
static inline uint16_t mt_timestamp(const struct mt_engine *e, uint64_t now_ns)
{
	return (uint16_t)(now_ns >> e->cfg.ts_shift);
}

#endif
