/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * world.h - one engine with one QP, its clock, and everything that came out of it.
 *
 * What the engine sends goes through the encoder, the decoder and then into a queue, stamped with
 * the time; what a script gives it goes through both as well. The world remembers of each PSN how
 * it travelled, so that a script need not spell out what a peer reflects.
 */
#ifndef SCRIPT_WORLD_H
#define SCRIPT_WORLD_H

#include "capture.h"
#include "config.h"
#include "packet.h"
#include "support/engine_node.h"

#define WORLD_QPN 0x101u
#define WORLD_PEER_QPN 0x102u
#define WORLD_SGES 4u
#define WORLD_KEY 0x15Au
#define WORLD_MR_START UINT64_C(0x7000001000)
/* EV of a packet to the engine that names none: in the peer's sets, not in ours. */
#define WORLD_PEER_EV 0xE0u
#define WORLD_QUEUE 40000u
#define WORLD_EVENTS 40000u
/* More than the widest window of PSNs. */
#define WORLD_SEEN 65536u

/* How the newest transmission of a PSN, or of a probe, went. */
struct seen {
	uint32_t psn;
	uint32_t ev;
	uint32_t nominal;
	uint16_t ts;
	uint8_t plane;
	bool valid, rtx;
	bool received; /* the peer said so */
};

struct came {
	struct packet packet;
	uint64_t at_ns;
};

struct placed {
	uint64_t at;
	uint32_t len;
};

struct world {
	struct report *report;
	struct config config;
	struct engine_node node;
	struct mt_engine *engine; /* of node */
	struct mt_qp *qp;
	uint64_t now_ns;
	uint64_t data_ns;   /* when the next data packet may leave */
	uint32_t room;	    /* planes that take data packets */
	unsigned ignored;   /* kinds of which packets need not be expected */
	struct came *queue; /* the oldest, in queue_memory */
	struct came *queue_memory;
	unsigned n_queue;
	struct mt_event *events;
	unsigned n_events;
	struct placed *placed;
	unsigned n_placed;
	struct seen *sent, *got, *probes, *peer_probes, *requests;
	uint32_t rcvd_up_to; /* every PSN before it was counted as received */
	uint64_t rcvd_bytes;
	bool held;	  /* the engine is given packets, but not asked for any */
	bool memory_gone; /* nothing can be placed any more */
	bool trace;
	struct capture capture;
};

/* world_init builds engine and QP as configured, at time 0. world_fini frees all, in any state. */
void world_init(struct world *w, struct report *r, const struct config *c);
void world_fini(struct world *w);

/* world_pump takes from the engine everything that it has to say now. */
void world_pump(struct world *w);
/*
 * world_step moves the clock to the next moment at which the engine wants something, or to `until`
 * when that is earlier, and pumps. It returns false when until was reached.
 */
bool world_step(struct world *w, uint64_t until);
/* world_deliver gives the engine a packet now; fields that are not set take their defaults. */
void world_deliver(struct world *w, struct packet *p);

/* world_take removes packet i from the queue, world_take_event event i. */
void world_take(struct world *w, unsigned i);
void world_take_event(struct world *w, unsigned i);
/* world_purge drops packets that the script ignores. */
void world_purge(struct world *w);
struct seen *world_seen(struct seen *ring, uint32_t psn);

#endif
