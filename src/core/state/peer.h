/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer.h - an engine behind a destination, to which QPs of ours talk: whether it is there, and
 * which of our ports it knows to be up (endpoint/port_notify.c).
 */
#ifndef SOFTMRC_CORE_STATE_PEER_H
#define SOFTMRC_CORE_STATE_PEER_H

#include "base/list.h"
#include "base/timer.h"
#include "core/ev/ev_set.h"
#include "core/ev/liveness.h"
#include "core/ev/slowest.h"

struct mt_ep_slot;

/*
 * Behind most addresses is one engine, so that each EV set has memory for one peer behind it, in
 * the same block of the pool.
 */

struct mt_peer {
	struct mb_link link;	/* on the EV set's list */
	struct mb_link waiting; /* for a slot, on the engine's list */
	struct mb_timer timer;
	struct mt_ev_set *ev_set;
	struct mt_liveness liveness;
	struct mt_slowest slowest;
	struct mt_ep_slot *slot;  /* the port status that is outstanding */
	uint32_t confirmed_ports; /* what it has confirmed */
	uint32_t refs;		  /* QPs, that of the responses to READs counts for itself */
	uint16_t endpoint;
	uint8_t tries;	   /* port status updates sent since the last change */
	bool is_confirmed; /* and nothing else was sent since */
	bool is_spare;	   /* its memory is that of the set */
};

#endif
