/* SPDX-License-Identifier: BSD-2-Clause */
/* engine_state.h - what an engine consists of; for core/ only. */
#ifndef SOFTMRC_CORE_ENGINE_ENGINE_STATE_H
#define SOFTMRC_CORE_ENGINE_ENGINE_STATE_H

#include "base/list.h"
#include "base/pool.h"
#include "base/prng.h"
#include "base/timer.h"
#include "core/cc/cc.h"
#include "core/engine/control.h"
#include "core/engine/engine.h"
#include "core/engine/ep_table.h"
#include "core/ev/ev_set.h"
#include "core/ev/local_port.h"
#include "core/qp/backpressure.h"
#include "core/qp/mr.h"

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
	uint32_t quantum_used;	      /* packets that the first of them has sent in its turn */
	struct mb_link control;	      /* QPs that owe a SACK or ACK */
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
/* mt_memory_deadline and mt_memory_tick: the clock that gives idle windows back; see memory.c. */
uint64_t mt_memory_deadline(const struct mt_engine *e);
void mt_memory_tick(struct mt_engine *e, uint64_t now_ns);
/* mt_engine_report_ev puts an EV event into the ring, or counts that it was full. */
void mt_engine_report_ev(struct mt_engine *e, const struct mt_ev_set *s,
			 const struct mt_ev_change *change);
/* mt_engine_queue_control queues a control packet, or counts that the ring was full. */
void mt_engine_queue_control(struct mt_engine *e, const struct mt_control *c);

/* mt_ev_sets_acquire returns the set for a destination and profile, with one more user; NULL:
 * memory. */
struct mt_ev_set *mt_ev_sets_acquire(struct mt_engine *e, uint32_t profile,
				     const struct rd_gid *peer, struct mb_link *user);
void mt_ev_sets_release(struct mt_engine *e, struct mt_ev_set *s, struct mb_link *user);
/* mt_ev_sets_arm_probes sets the set's probe timer; mt_ev_sets_tick sends the probes that are
 * due. */
void mt_ev_sets_arm_probes(struct mt_engine *e, struct mt_ev_set *s);
/* mt_ev_sets_resume is called when a peer is heard again after a silence; it sends each plane a
 * probe. */
void mt_ev_sets_resume(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns);
void mt_ev_sets_tick(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns);

/* mt_control_emit makes the packet of a queued control entry; false: its time has passed. */
bool mt_control_emit(struct mt_engine *e, uint64_t now_ns, const struct mt_control *c,
		     struct mt_tx_desc *desc);
/* mt_control_emit_pending makes the SACK or transport ACK that a QP owes; false when it owes
 * none. */
bool mt_control_emit_pending(struct mt_qp *qp, uint64_t now_ns, struct mt_tx_desc *desc);

/* mt_engine_update_ev_ports tells a path set which ports it may use now. */
void mt_engine_update_ev_ports(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns);
/* mt_port_status_rx takes a peer's word about its ports. */
void mt_port_status_rx(struct mt_engine *e, const struct rd_gid *peer, uint32_t up,
		       uint64_t now_ns);
/* mt_port_status_tick sends the probes of doubtful planes that are due. */
void mt_port_status_tick(struct mt_engine *e, struct mt_ev_set *s, struct mt_qp *prober,
			 uint64_t now_ns);
/* mt_port_status_answered: what was sent then on this path was answered. */
void mt_port_status_answered(struct mt_engine *e, struct mt_ev_set *s, uint16_t path,
			     uint64_t sent_ns, uint64_t now_ns);

/*
 * mt_peer_join returns the engine behind the set's destination to which a QP talks, with one more
 * user: it is told of our ports from now on. NULL: memory.
 */
struct mt_peer *mt_peer_join(struct mt_engine *e, struct mt_ev_set *s, uint32_t dest_qpn,
			     uint64_t now_ns);
void mt_peer_leave(struct mt_engine *e, struct mt_peer *p);
/* mt_peers_notify begins to tell all users of the set which ports of ours are up. */
void mt_peers_notify(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns);
void mt_peers_tick(struct mt_engine *e, uint64_t now_ns);
/* mt_peer_notify_done: its request has ended. */
void mt_peer_notify_done(struct mt_engine *e, struct mt_peer *p, const struct mt_ep_slot *slot);

/* mt_ev_sets_bucket returns where the chain of sets begins in which those of a destination are. */
static inline struct mt_ev_set **mt_ev_sets_bucket(struct mt_engine *e, const struct rd_gid *peer)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < sizeof(peer->b); i++)
		sum = sum * 31 + peer->b[i];
	return &e->ev_set_buckets[sum & e->ev_set_bucket_mask];
}

/* mt_engine_port_restored: a port of ours or of the peer's, down since then, is back. */
void mt_engine_port_restored(struct mt_engine *e, struct mt_ev_set *s, uint32_t port,
			     uint64_t down_ns);
/* mt_engine_port_event puts an event of a port into the ring; NULL: a port of our own. */
void mt_engine_port_event(struct mt_engine *e, const struct rd_gid *peer, uint32_t port, bool up);

/* mt_endpoint_rx takes a packet to or from an endpoint. */
void mt_endpoint_rx(struct mt_engine *e, uint64_t now_ns, const struct mt_rx_meta *meta,
		    const struct mw_packet *pkt);
/*
 * mt_endpoint_request queues a valid request; `owner` is the part of the core that wants the
 * answer, NULL the adapter. MT_ERR_EXISTS, MT_ERR_FULL: as mt_engine_ep_request.
 */
int mt_endpoint_request(struct mt_engine *e, uint64_t now_ns, const struct mt_ep_request *req,
			void *owner, struct mt_ep_slot **slot);
/* mt_endpoint_emit_* make the packets of queued entries; false: the request's time has passed. */
bool mt_endpoint_emit_request(struct mt_engine *e, uint64_t now_ns, const struct mt_control *c,
			      struct mt_tx_desc *d);
void mt_endpoint_emit_response(struct mt_engine *e, uint64_t now_ns, const struct mt_control *c,
			       struct mt_tx_desc *d);
/* mt_endpoint_tick ends the requests that nobody answered in time. */
void mt_endpoint_tick(struct mt_engine *e, uint64_t now_ns);
/* mt_endpoint_poll takes the result of one request; false when there is none. */
bool mt_endpoint_poll(struct mt_engine *e, struct mt_event *ev);

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
