/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_world.h - our engine, a peer and the planes between them, in virtual time.
 *
 * Everything follows from one number, the seed: options of the peer, attributes of the QP, what the
 * planes do to packets, and the operations of both ends. Both have a memory of random bytes; no two
 * operations touch the same bytes, atomics excepted, so that what both memories have to hold in the
 * end is known beforehand.
 */
#ifndef PEER_WORLD_H
#define PEER_WORLD_H

#include "peer.h"
#include "support/engine_node.h"

#define WORLD_PLANES_MAX 4u
#define WORLD_OPS_MAX 40u
#define WORLD_MEMORY 196608u
#define WORLD_FLIGHTS_MAX 8192u
#define WORLD_DEAD_MAX 4u

enum world_side { ENGINE, PEER };

/* What our engine answers at once. */
enum world_owed { OWED_SACK, OWED_MARK, OWED_PROBE_ANSWER, OWED_ENDPOINT_ANSWER, OWED_KINDS };

/* What happens to frames of one direction on one plane; chances in thousand. */
struct world_link {
	uint32_t delay_ns, jitter_ns, ns_a_kib;
	uint32_t lost, doubled, damaged, marked, trimmed, late;
	uint64_t free_at_ns;
};

/* One end, as the world sees it. */
struct world_end {
	uint8_t *memory, *expected; /* WORLD_MEMORY bytes each */
	uint64_t used;
	struct peer_op ops[WORLD_OPS_MAX]; /* that it begins */
	size_t n_ops, completions;
	uint64_t receives[WORLD_OPS_MAX]; /* where its receives are */
	uint32_t receive_bytes[WORLD_OPS_MAX];
	uint64_t receive_at_ns[WORLD_OPS_MAX]; /* when each is posted */
	size_t n_receives, posted, received;
	uint64_t region_va;
	uint32_t key;
	uint64_t words[3]; /* of atomics of the other end */
	uint32_t window_key;
	bool window_is_over; /* by then, while its operations are drawn */
};

struct world_flight {
	uint64_t at_ns, number;
	enum world_side to;
	uint8_t plane;
	struct peer_frame *frame;
};

struct world {
	uint64_t seed, random, now_ns;
	bool failed, poisoned;
	char why[320];
	struct peer_options options;
	struct peer_connection connection; /* the peer's */
	struct rd_qp_attr attr;
	struct mt_qp_cap cap;
	bool shares_receives; /* our QP takes them from an SRQ */
	struct mt_cc_profile_cfg cc;
	uint32_t n_planes, n_evs, trim_bytes;
	bool trims_last_hop, no_faults, trace;
	struct mt_ev evs[PEER_EVS_MAX];
	struct world_link links[2][WORLD_PLANES_MAX]; /* by sender */
	uint32_t dead_evs[2][WORLD_DEAD_MAX];
	uint64_t dead_until_ns;
	/* A plane that is down for a while; down_plane >= n_planes: none. */
	uint64_t down_ns, up_ns;
	uint8_t down_plane;
	bool is_down;
	/* The peer does nothing from then until then, if its option says so. */
	uint64_t silent_ns, speaks_ns;
	uint64_t idle_ns; /* after which our engine gives windows back */
	/* How few answers it gives: see core/config.h. */
	uint32_t sack_bytes, sack_in_order_bytes;
	struct world_end ends[2];
	struct peer peer;
	struct engine_node node;
	struct mt_qp *qp;
	bool owed[OWED_KINDS];
	uint32_t unsacked[2]; /* bytes that arrived since a SACK; by space */
	struct world_flight flights[WORLD_FLIGHTS_MAX];
	size_t n_flights;
	uint64_t next_tick_ns, frames, events, last_event_ns;
};

/* world_draw plans a world. overrides: "name=value,name=value" of options, or NULL. */
void world_draw(struct world *w, uint64_t seed, const char *overrides);
/* world_run plays it to its end; w->failed and w->why say what was wrong. */
void world_run(struct world *w);
/* world_print prints the seed and the options that are not 0. */
void world_print(const struct world *w);
void world_fini(struct world *w);

/* ---- for the parts ---- */

void world_fail(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t world_random(struct world *w);
/* world_below returns a number in [0, bound). */
uint32_t world_below(struct world *w, uint32_t bound);
/* world_complete is told that an op of an end is complete, world_receive a receive of it. */
void world_complete(struct world *w, enum world_side side, struct peer_op *op,
		    enum peer_status status);
void world_receive(struct world *w, enum world_side side, size_t n,
		   const struct peer_received *got);

/* peer_link.c: what lies between. */
void world_send(struct world *w, enum world_side from, uint8_t plane,
		const struct peer_frame *frame);
bool world_is_down(const struct world *w, uint8_t plane);
/* world_arrival returns when the next frame arrives, UINT64_MAX: none is under way. */
uint64_t world_arrival(const struct world *w);
/* world_take takes the frame that arrives now; its caller frees it. */
struct world_flight world_take(struct world *w);

/* world_put_off lets a frame that was taken arrive at at_ns; the frame is the world's again. */
void world_put_off(struct world *w, const struct world_flight *flight, uint64_t at_ns);

/* peer_engine.c: our engine. */
void world_engine_open(struct world *w);
void world_engine_rx(struct world *w, const struct world_flight *flight);
void world_engine_run(struct world *w);
void world_engine_port(struct world *w, uint8_t plane, bool up);

#endif
