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
#include "core/state/probe_table.h"
#include "core/state/senders.h"
#include "core/window/lost_log.h"
#include "core/window/window.h"

/*
 * Back-pressure: overload of the receiving side, and what SACKs ask of its peers for it.
 *
 * Packets that the adapter received and had to throw away are no fault of any path: its peers must
 * send less. After an overflow every SACK carries a window penalty for about one RTT, which halves
 * a sender; further overflow prolongs it. One short episode was a burst, and the SACKs behind it
 * tell senders to restore their window; after a longer one, or one that follows another closely,
 * they grow again. QPs that agreed to dynamic MPR are also offered smaller windows: an equal part
 * of what the receive buffers hold, which is halved at each period with overflow, and given back in
 * small steps. See docs/design/0007-receiver-pressure.md.
 */

struct mt_backpressure {
	uint64_t began_ns; /* of the newest episode of overflow */
	uint64_t until_ns; /* its end; SACKs ask for less until then. 0: there was none */
	uint64_t cut_ns;   /* when `share` was cut last */
	uint32_t capacity; /* packets that the adapter's buffers hold; 0: not known */
	uint16_t cut;	   /* taken off the windows at cut_ns, in 1/256 */
};

/* mt_backpressure_overflow notes that packets were lost; period_ns is about an RTT. */
void mt_backpressure_overflow(struct mt_backpressure *p, uint64_t now_ns, uint64_t period_ns);
/* mt_backpressure_penalty returns rcv_cwnd_pen of a SACK sent now. REQ(rsp.pressure.penalty) */
uint8_t mt_backpressure_penalty(const struct mt_backpressure *p, uint64_t now_ns);
/* mt_backpressure_restore returns r_c for it. */
bool mt_backpressure_restore(const struct mt_backpressure *p, uint64_t now_ns, uint64_t period_ns);
/*
 * mt_backpressure_mpr returns the window, in units of 128 PSNs, that a QP with a window of `mpr` is
 * offered when `receivers` QPs share the buffers; at least 1. REQ(rsp.mpr.dynamic)
 */
uint8_t mt_backpressure_mpr(const struct mt_backpressure *p, uint64_t now_ns, uint64_t period_ns,
			    uint8_t mpr, uint32_t receivers);

/*
 * Control packets that must go out one by one.
 *
 * An ordinary SACK is state and is made when there is room to send it; several triggers become
 * one. What names a particular packet cannot be merged: a NACK, the SACK that echoes an ECN mark
 * or answers a probe, a probe, an endpoint packet. Those wait in a queue of their QP, in entries
 * that all queues of an engine share.
 *
 * A peer decides how many of them it causes, so that a queue gets an entry only while it holds
 * fewer than are free: whatever one peer does, as many entries as it holds are left for others,
 * and n queues that are full leave one part in n + 1. A lost answer to a probe costs time; a lost
 * NACK makes its sender take a good EV for a bad one. So a quarter of all entries is kept for
 * NACKs, and for endpoint requests of our own. REQ(rsp.control.quota)
 */

enum mt_control_kind {
	MT_CONTROL_SACK,
	MT_CONTROL_NACK,
	MT_CONTROL_PROBE,
	/* These belong to no QP. */
	MT_CONTROL_EP_RESPONSE,
	MT_CONTROL_EP_REQUEST,
};

struct mt_control {
	struct mt_qp *qp;	 /* NULL for endpoint packets */
	struct mt_trigger cause; /* SACK, NACK, EP_RESPONSE */
	struct rd_gid dst;	 /* EP_RESPONSE */
	uint16_t index;		 /* PROBE: to be sent on it; EP_REQUEST: its slot */
	uint16_t endpoint;	 /* EP_RESPONSE: of dst */
	uint8_t kind;		 /* enum mt_control_kind */
	uint8_t reason;		 /* NACK: enum mw_nack_reason */
	uint8_t op;		 /* EP_RESPONSE: enum mw_ep_op */
	uint8_t purpose;	 /* PROBE: enum mt_probe_purpose */
	uint16_t next;		 /* entry behind it in its queue, or the next free one */
};

/* First in, first out; all zero is an empty one. */
struct mt_control_queue {
	uint16_t first, last; /* entries, while count > 0 */
	uint16_t count;
};

struct mt_control_pool {
	struct mt_control *entries;
	uint32_t size;
	uint32_t n_free;
	uint16_t first_free;
};

/* mt_control_init makes a pool of `size` free entries, at most 2^16. */
void mt_control_init(struct mt_control_pool *p, struct mt_control *entries, uint32_t size);
/* mt_control_push says whether the queue was given an entry. */
bool mt_control_push(struct mt_control_pool *p, struct mt_control_queue *q,
		     const struct mt_control *c);
bool mt_control_pop(struct mt_control_pool *p, struct mt_control_queue *q, struct mt_control *c);
/* mt_control_clear empties the queue of a QP that goes away or starts again. */
void mt_control_clear(struct mt_control_pool *p, struct mt_control_queue *q);

/*
 * Endpoint requests: their ids, which endpoint is to answer, until when.
 *
 *	FREE -- open --> QUEUED -- sent --> SENT -- answer, time-out --> ENDED -- rest --> FREE
 *
 * A request's id is not used again while a late answer to it could still arrive. One of the
 * adapter, which may choose ids, rests with its slot: first come, first free. The core's own give
 * their slots back at once, since peers by the thousand may have to hear of a port: their ids are
 * chosen one after the other, and a part of all ids is begun again only when those in it have
 * rested. Ids are found through chains, one for each residue
 * modulo the size of the table. An answer counts only if it has the id, comes from the destination,
 * and returns the time stamp of the request; what an unknown sender can send is a guess at 32 bits.
 * REQ(ep.probe.id-reuse) REQ(ep.probe.match)
 */

enum mt_ep_state {
	MT_EP_FREE,
	MT_EP_QUEUED, /* not sent yet */
	MT_EP_SENT,
	MT_EP_ENDED, /* the result waits to be taken */
	MT_EP_QUARANTINED,
};

struct mt_ep_slot {
	struct mb_timer timer; /* QUEUED, SENT: the time-out */
	struct mb_link link;   /* FREE, ENDED, RESTING: on the table's list */
	struct mt_ep_slot *chain;
	struct mt_ep_request req;
	void *owner; /* inside the core; NULL: the adapter */
	uint64_t sent_ns;
	uint64_t ended_ns;	    /* ENDED: when */
	uint64_t quarantine_end_ns; /* RESTING: when it is FREE */
	uint64_t rtt_ns;
	uint16_t stamp; /* sent with it */
	uint8_t state;	/* enum mt_ep_state */
	uint8_t status; /* ENDED: enum mt_ep_status */
	bool svc_time_subtracted;
	uint8_t answer_port; /* ENDED, answered: that the answer came in by */
};

/* Ids are chosen part by part. */
#define MT_EP_ID_PARTS 16u
#define MT_EP_IDS_OF_PART (65536u / MT_EP_ID_PARTS)

struct mt_ep_table {
	struct mt_ep_slot *slots;
	struct mt_ep_slot **chains;
	uint32_t mask;
	uint16_t next_id;
	uint64_t id_parts_end_ns[MT_EP_ID_PARTS]; /* until then ids of released requests rest */
	struct mb_link free, ended, quarantined;
	struct mb_timers timers;
};

/* An answer, as it came. */
struct mt_ep_response {
	const struct rd_gid *src;
	uint64_t now_ns;
	uint32_t ts_shift; /* log2 of the stamp's unit in ns */
	uint16_t id;
	uint16_t stamp;
	uint8_t op, op_high; /* as in struct mw_eeth */
	uint8_t port;	     /* that it came in by */
	bool svc_time;	     /* a stamp that is the same says that the peer took no time */
};

/* mt_ep_init makes a table of `size` slots, a power of two; both arrays are the caller's. */
void mt_ep_init(struct mt_ep_table *t, struct mt_ep_slot *slots, struct mt_ep_slot **chains,
		uint32_t size);
/*
 * mt_ep_alloc takes a slot for *req, chooses its id unless one is given, and starts its time-out.
 * MT_ERR_EXISTS: the id given is not free. MT_ERR_FULL: no slot is, or no id to be chosen.
 */
int mt_ep_alloc(struct mt_ep_table *t, uint64_t now_ns, const struct mt_ep_request *req,
		struct mt_ep_slot **slot);
/* mt_ep_sent notes that a QUEUED request left now with this stamp. */
void mt_ep_sent(struct mt_ep_slot *slot, uint64_t now_ns, uint16_t stamp);
/* mt_ep_match_response ends the request that an answer belongs to and returns it; NULL: there is
 * none. */
struct mt_ep_slot *mt_ep_match_response(struct mt_ep_table *t, const struct mt_ep_response *a);
/* mt_ep_expire_next ends one request whose time is over and returns it; NULL when none is due. */
struct mt_ep_slot *mt_ep_expire_next(struct mt_ep_table *t, uint64_t now_ns);
/* mt_ep_next_ended returns a request of the adapter's that has ended, oldest first, or NULL. */
struct mt_ep_slot *mt_ep_next_ended(const struct mt_ep_table *t);
/* mt_ep_release frees the slot of a request, in whatever state; its id rests from `from_ns` on. */
void mt_ep_release(struct mt_ep_table *t, struct mt_ep_slot *slot, uint64_t from_ns,
		   uint64_t rest_ns);
/* mt_ep_quarantine lays a request, in whatever state, to rest for rest_ns from `from_ns` on. */
void mt_ep_quarantine(struct mt_ep_table *t, struct mt_ep_slot *slot, uint64_t from_ns,
		      uint64_t rest_ns);

/*
 * The table of memory regions and windows, and the one check that comes before each access.
 *
 * A memory window has a key of its own for a part of an MR, and rights that only peers use. It is
 * an entry like an MR's, which a bind makes a view of that MR: the same cookie, other bounds. An
 * unbound one grants nothing. See ext/ext.h.
 */

/* Kinds of entries, in the bits of `access` above those of enum rd_access. */
enum mt_mr_kind {
	MT_MR_LOCAL = 1u << 5, /* an MR: SGEs may name its key */
	MT_MR_MW_1 = 1u << 6,  /* a window of type 1 */
	MT_MR_MW_2 = 1u << 7,  /* a window of type 2 */
};

/* As long as a cache line, so that a check touches one. */
struct mt_mr {
	_Alignas(64) uint64_t start;
	uint64_t length;
	uint64_t origin; /* an address less this is an offset in the memory of `user` */
	void *user;	 /* the adapter's cookie; of a window: that of its MR */
	uint32_t key;	 /* 0: no entry */
	uint32_t pd;
	uint32_t qpn;	  /* of a window of type 2: for packets of this QP only; 0: of any */
	uint32_t of;	  /* of a window: the index of its MR; 0: not bound */
	uint32_t windows; /* of an MR: how many are bound to it */
	uint8_t access;	  /* enum rd_access, enum mt_mr_kind */
};

struct mt_mr_table {
	struct mt_mr *mrs; /* max + 1 entries; no key names entry 0 */
	uint32_t max;
	uint32_t index_mask; /* of what is an index in a key, see mt_mr_add */
};

static inline uint32_t mt_mr_index(const struct mt_mr_table *t, uint32_t key)
{
	return key >> 8 & t->index_mask;
}

/* mt_mr_table_init makes a table whose entries are zero an empty one. */
void mt_mr_table_init(struct mt_mr_table *t);
/*
 * mt_mr_check returns the MR that key names if [addr, addr + len) lies inside it, it belongs to pd
 * and grants every right in access; otherwise NULL. For memory of our own: windows have no
 * MT_MR_LOCAL and no RD_ACCESS_LOCAL_WRITE, and one of the two is asked for.
 * REQ(rsp.mr.every-packet) REQ(ext.mw.remote-only)
 */
const struct mt_mr *mt_mr_check(const struct mt_mr_table *t, uint32_t key, uint32_t pd,
				uint64_t addr, uint64_t len, uint32_t access);

/* An EV profile, with its own copy of the EVs where they do not stay; unset while cfg.evs is
 * NULL. */
struct mt_ev_profile {
	struct mt_ev_profile_cfg cfg;
	struct mt_ev *copy;
	uint64_t *denied; /* a bit for each EV; NULL: none is denied */
	struct mt_ev_shared
		*shared; /* by the sets made since it was last set; NULL: there is none */
};

/* mt_ev_denied_bytes returns the size of what says which of so many EVs are denied. */
static inline size_t mt_ev_denied_bytes(uint16_t n_evs)
{
	return (n_evs + 63u) / 64u * sizeof(uint64_t);
}

/* mt_ev_profile_denies says whether a controller has denied an EV of a profile. */
static inline bool mt_ev_profile_denies(const struct mt_ev_profile *p, uint16_t ev)
{
	return p->denied && p->denied[ev / 64] >> ev % 64u & 1;
}

/* EV events waiting to be polled. */
struct mt_event_ring {
	struct mt_event *events;
	uint32_t mask;
	uint32_t head, tail;
};

/* So many destinations must lose over a port before it is left. */
#define MT_UPLINK_DESTS 8u

/* What is known of where a local port leads, whose link is up; see endpoint/uplink.c. */
struct mt_uplink {
	uint64_t answered_ns;			 /* when the newest was sent of what was answered */
	uint64_t oldest_lost_ns;		 /* when the oldest was sent of what they lost */
	uint64_t left_ns;			 /* suspect: since then */
	uint64_t refuted_until_ns;		 /* it is not left before */
	uint64_t probe_due_ns;			 /* suspect: the next probe */
	struct mt_ev_set *lost[MT_UPLINK_DESTS]; /* destinations that lost something on it */
	uint8_t n_lost;
	uint8_t probes; /* since it was left */
};

struct mt_engine {
	struct mt_engine_cfg cfg;
	struct mt_env env;
	struct mt_stats stats;
	struct mb_prng prng;
	struct mb_pool pool;
	struct mt_backpressure backpressure;
	struct mt_senders senders;
	uint32_t receivers;  /* QPs with receive bitmaps, which are those that received lately */
	uint64_t grace_ns;   /* timers that were late are judged from here on, see mt_engine_tick */
	uint32_t n_buffered; /* packets that wait for others before them */
	uint32_t n_counting; /* QPs that pass over ports with enough in flight, see ev/flight.h */
	struct mb_timers qp_timers;
	struct mb_timers ev_timers;
	struct mb_link ready;	      /* QPs that may have data to send ... */
	struct mb_link no_room;	      /* ... and those that found no port with room for them */
	uint32_t no_room_ports;	      /* that one of these could use, if it had room */
	uint64_t turn_ns;	      /* when one of these need not wait for a port any longer */
	uint32_t quantum_used;	      /* packets of its quantum that the first of them has sent */
	struct mb_link control;	      /* QPs with a control packet to send */
	uint32_t control_used;	      /* packets of its quantum that the first of them has sent */
	struct mb_link completions;   /* QPs with something to poll */
	struct mb_link limited;	      /* SRQs whose limit was reached, to be polled */
	struct mb_link window_owners; /* QPs that hold windows */
	uint32_t n_window_owners;
	uint32_t sweep_left; /* of these, in the round that goes on now */
	uint64_t sweep_ns;   /* when it goes on; while n_window_owners > 0 */
	struct mb_link ev_sets;
	uint64_t revival_due_ns; /* when probes of bad EVs have used up no part of their burst */
	struct mb_link probes_active, probes_idle; /* EV sets whose probes wait for that */
	struct mt_ev_set **ev_set_buckets; /* max_qps chains, by a hash of the destination ... */
	uint64_t ev_set_hash_key;	   /* ... with this key */
	struct mb_timers peer_timers;
	struct mb_link peers_waiting;  /* their port status waits for a slot of ep_table ... */
	uint32_t port_status_requests; /* ... of which so many are used for that */
	struct mt_control_pool controls;
	struct mt_control_queue ep_requests, ep_responses;
	uint64_t unknown_due_ns; /* when unknown senders have used up no part of their burst */
	struct mt_probe_table probes;
	struct mt_event_ring events;
	struct mt_local_ports ports;
	struct mt_uplink *uplinks; /* by port */
	struct mt_lost_log lost_log;
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
/*
 * mt_engine_use_ev_set is called when a QP begins to wait for an answer of the destination: bad EVs
 * that were probed ever more rarely meanwhile are probed at once.
 */
void mt_engine_use_ev_set(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns);
/* mt_engine_queue_control queues a control packet, or counts that its queue got no entry. */
void mt_engine_queue_control(struct mt_engine *e, const struct mt_control *c);
/* mt_engine_queue_probe queues a reliability probe of a QP on one of its EVs. */
void mt_engine_queue_probe(struct mt_engine *e, struct mt_qp *qp, uint16_t ev,
			   enum mt_probe_purpose purpose);

/*
 * mt_engine_end_turn lets QPs that lost their turns try all ports again, once they have waited for
 * the port whose turn it is for as long as that takes.
 */
void mt_engine_end_turn(struct mt_engine *e, uint64_t now_ns);

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
