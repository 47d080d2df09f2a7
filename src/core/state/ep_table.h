/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ep_table.h - endpoint requests under way: their ids, who is to answer, until when.
 *
 *	FREE -- open --> QUEUED -- sent --> SENT -- answer, time-out --> ENDED -- rest --> FREE
 *
 * A request's id is not used again while a late answer to it could still arrive: when all is done
 * it rests for a while, first come, first free. Ids are found through chains, one for each residue
 * modulo the size of the table. An answer counts only if it has the id, comes from the destination,
 * and returns the time stamp of the request; what an unknown sender can send is a guess at 32 bits.
 * REQ(ep.probe.id-reuse) REQ(ep.probe.match)
 */
#ifndef SOFTMRC_CORE_STATE_EP_TABLE_H
#define SOFTMRC_CORE_STATE_EP_TABLE_H

#include "base/list.h"
#include "base/timer.h"
#include "core/types.h"

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
};

struct mt_ep_table {
	struct mt_ep_slot *slots;
	struct mt_ep_slot **chains;
	uint32_t mask;
	uint16_t next_id;
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
	uint8_t op;
	bool svc_time; /* the stamp may be later by the time that the peer took */
};

/* mt_ep_init makes a table of `size` slots, a power of two; both arrays are the caller's. */
void mt_ep_init(struct mt_ep_table *t, struct mt_ep_slot *slots, struct mt_ep_slot **chains,
		uint32_t size);
/*
 * mt_ep_alloc takes a slot for *req, chooses its id unless one is given, and starts its time-out.
 * MT_ERR_EXISTS: the id given is not free. MT_ERR_FULL: no slot is.
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
/* mt_ep_quarantine lays a request, in whatever state, to rest for rest_ns from `from_ns` on. */
void mt_ep_quarantine(struct mt_ep_table *t, struct mt_ep_slot *slot, uint64_t from_ns,
		      uint64_t rest_ns);

#endif
