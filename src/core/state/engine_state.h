/* SPDX-License-Identifier: BSD-2-Clause */
/* engine_state.h - what an engine consists of, and what its parts hand to it. */
#ifndef SOFTMRC_CORE_STATE_ENGINE_STATE_H
#define SOFTMRC_CORE_STATE_ENGINE_STATE_H

#include "base/list.h"
#include "base/pool.h"
#include "base/prng.h"
#include "base/timer.h"
#include "core/cc/cc.h"
#include "core/engine.h"
#include "core/ev/ev_set.h"
#include "core/ev/local_port.h"
#include "core/state/backpressure.h"
#include "core/state/control.h"
#include "core/state/ep_table.h"
#include "core/state/mr.h"

/* An EV profile, with its own copy of the EVs where they do not stay; unset while cfg.evs is
 * NULL. */
struct mt_ev_profile {
	struct mt_ev_profile_cfg cfg;
	struct mt_ev *copy;
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
	struct mt_backpressure backpressure;
	uint32_t receivers; /* QPs with receive bitmaps, which are those that received lately */
	uint64_t grace_ns;  /* timers that were late are judged from here on, see mt_engine_tick */
	struct mb_timers qp_timers;
	struct mb_timers ev_timers;
	struct mb_link ready;	      /* QPs that may have data to send */
	uint32_t quantum_used;	      /* packets of its quantum that the first of them has sent */
	struct mb_link control;	      /* QPs with a pending SACK or ACK */
	struct mb_link completions;   /* QPs with something to poll */
	struct mb_link limited;	      /* SRQs whose limit was reached, to be polled */
	struct mb_link window_owners; /* QPs that hold windows */
	uint32_t n_window_owners;
	uint32_t sweep_left; /* of these, in the round that goes on now */
	uint64_t sweep_ns;   /* when it goes on; while n_window_owners > 0 */
	struct mb_link ev_sets;
	struct mt_ev_set **ev_set_buckets; /* by a hash of their destination */
	uint32_t ev_set_bucket_mask;
	struct mb_timers peer_timers;
	struct mt_control_ring control_ring;
	struct mt_event_ring events;
	struct mt_local_ports ports;
	struct mt_ep_table ep_table;
	struct mt_mr_table mrs;
	struct mt_qp **qps; /* by QPN modulo max_qps */
	struct mt_ev_profile *ev_profiles;
	struct mt_cc_profile *cc_profiles;
};

/* mt_engine_alloc takes memory from the pool, which remembers what was wanted when it is empty. */
void *mt_engine_alloc(struct mt_engine *e, size_t size);
/*
 * mt_memory_deadline and mt_memory_tick: the clock that gives idle windows back; see qp_memory.c.
 */
uint64_t mt_memory_deadline(const struct mt_engine *e);
void mt_memory_tick(struct mt_engine *e, uint64_t now_ns);
/* mt_engine_report_ev puts an EV event into the ring, or counts that it was full. */
void mt_engine_report_ev(struct mt_engine *e, const struct mt_ev_set *s,
			 const struct mt_ev_change *change);
/* mt_engine_queue_control queues a control packet, or counts that the ring was full. */
void mt_engine_queue_control(struct mt_engine *e, const struct mt_control *c);

/* mt_engine_port_event puts an event of a port into the ring; NULL: a port of our own. */
void mt_engine_port_event(struct mt_engine *e, const struct rd_gid *peer, uint32_t port, bool up);

/*
 * mt_endpoint_request queues a valid request; `owner` is the part of the core that wants the
 * answer, NULL the adapter. MT_ERR_EXISTS, MT_ERR_FULL: as mt_engine_ep_request.
 */
int mt_endpoint_request(struct mt_engine *e, uint64_t now_ns, const struct mt_ep_request *req,
			void *owner, struct mt_ep_slot **slot);

/* mt_timestamp is the 16-bit stamp that travels in a TSETH. REQ(wire.tseth.resolution) */
static inline uint16_t mt_timestamp(const struct mt_engine *e, uint64_t now_ns)
{
	return (uint16_t)(now_ns >> e->cfg.ts_shift);
}

/*
 * mt_reflect_timestamp is the stamp that an answer returns: the one that came, later by the time
 * that the packet spent here where that is wanted. REQ(rsp.svc-time)
 */
static inline uint16_t mt_reflect_timestamp(const struct mt_engine *e, uint64_t now_ns,
					    const struct mt_trigger *cause)
{
	if (!e->cfg.svc_time || cause->rx_ns == 0)
		return cause->tx_timestamp;
	return (uint16_t)(cause->tx_timestamp + ((now_ns - cause->rx_ns) >> e->cfg.ts_shift));
}

#endif
