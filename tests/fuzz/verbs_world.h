/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_world.h - what fuzz_verbs and fuzz_mrc have in common: two devices of one process with
 * their memory, the network between them, which loses, doubles and delays frames, and a model of
 * QPs that knows what must come of what was posted.
 */
#ifndef FUZZ_VERBS_WORLD_H
#define FUZZ_VERBS_WORLD_H

#include <infiniband/verbs.h>

#include "support/fuzz_input.h"
#include "support/virtual_nic.h"

#define STEPS_MAX 250u
#define SIDES 2u
#define DEPTH 8u /* of each queue of a QP */
#define SLOT_BYTES 1024u
#define SLOTS 40u
/* Of SOURCE and TARGET: a message begins in the first half and has at most a kilobyte. */
#define PLACES 256u
#define PLACE_BYTES 16u
#define PATTERN_BYTES (2 * PLACES * PLACE_BYTES)
#define COUNTER_BYTES 64u
#define ACCESS_ALL                                                                   \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)

/* LATE: when the next frame of its side is late. */
enum fate { IN_TIME, LOST, DOUBLED, LATE };

/* SOURCE never changes; TARGET is written and read into, a byte from the same place of SOURCE. */
enum memory { SOURCE, TARGET, RECEIVED, COUNTER, MEMORIES };

struct side {
	struct virtual_nic *v;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr[MEMORIES]; /* NULL: deregistered */
	uint8_t *memory[MEMORIES];
	union ibv_gid gid;
};

/* A frame that is held back. */
struct late {
	uint8_t bytes[MIO_FRAME_MAX];
	struct mio_rx rx;
	uint32_t port;
};

struct world {
	struct fuzz_input in;
	struct side side[SIDES];
	struct late late[SIDES]; /* of this side; rx.len 0: none */
	uint8_t loss;		 /* what becomes of the next frames, enum fate, two bits each */
	uint32_t n_connected;	 /* how often QPs were connected */
	uint32_t doubled[SIDES]; /* datagrams of this side that arrived twice */
};

/* ---- the world: verbs_world.c ---- */

void world_open(struct world *w, const uint8_t *data, size_t size);
/* world_close ends both devices, of which nothing else may be left, and checks their memory. */
void world_close(struct world *w);
/* world_run moves time so often by so much, and lets both devices work. */
void world_run(struct world *w, uint32_t rounds, uint64_t ns);
/* world_settle loses nothing any more and waits until all that can arrive has arrived. */
void world_settle(struct world *w);
size_t world_bytes_of(enum memory m);
/* world_register registers memory of a side, which must not be registered. */
void world_register(struct side *s, enum memory m);
/* world_deregister takes it away; EBUSY: a window is bound to it. */
int world_deregister(struct side *s, enum memory m);
/* world_key returns a key of memory, one of nothing when it is not registered. */
uint32_t world_key(const struct side *s, enum memory m);
/* world_slot returns where receives have their bytes. */
uint8_t *world_slot(const struct side *s, uint32_t slot);
/*
 * world_next_psn returns the first PSN of a new connection, the same of both sides and of no
 * connection before: what is still under way of one that was reset is not mistaken for it.
 */
uint32_t world_next_psn(struct world *w);
/* world_check_bytes: these are the n bytes of SOURCE from `from` on. */
void world_check_bytes(const uint8_t *bytes, size_t from, size_t n);

/* ---- the model: verbs_model.c ---- */

enum model_kind {
	MODEL_SEND_IMM,
	MODEL_WRITE,
	MODEL_WRITE_IMM,
	MODEL_READ,
	MODEL_ADD,
	MODEL_BIND,
	MODEL_DATAGRAM
};

/* A send WR: its bytes are those of SOURCE at `place`, here or at the peer. */
struct model_wr {
	enum model_kind kind;
	bool signaled;
	uint32_t place, len;
};

/* WRs of a queue are numbered in turn, and complete so. */
struct model_queue {
	uint32_t posted, done;
};

/* What the model knows of a QP. */
struct model_end {
	const struct side *near, *far;
	uint32_t life; /* goes up with each reset: no WR of before it completes */
	struct model_queue send, recv;
	struct model_wr sent[STEPS_MAX]; /* by number */
	/* The sends that take a receive of the peer, by number, and how many of them succeeded. */
	uint32_t takes[STEPS_MAX], n_takes, n_succeeded;
	uint32_t n_received;	/* messages of the peer */
	uint32_t n_checked;	/* sends of the peer that are known to be in our memory */
	struct model_end *peer; /* NULL: never connected */
	uint32_t peer_life;	/* when connected */
};

void model_open(struct model_end *e, const struct side *near, const struct side *far);
/* model_forget: no WR of the QP's life until now may complete any more. */
void model_forget(struct model_end *e);
/* model_connect: both were reset, and what one sends the other gets. */
void model_connect(struct model_end *a, struct model_end *b);
/* The wr_id of the next WR, and what the peer is told with a message. */
uint64_t model_send_id(const struct model_end *e);
uint64_t model_recv_id(const struct model_end *e);
uint32_t model_imm(const struct model_end *e, const struct model_wr *wr);
bool model_is_recv(const struct ibv_wc *wc);
/* model_sent and model_recv_posted enter a WR that was accepted. */
void model_sent(struct model_end *e, const struct model_wr *wr);
void model_recv_posted(struct model_end *e);
/* model_send_done: all sends until this one are complete, and what succeeded has been done. */
void model_send_done(struct model_end *e, const struct ibv_wc *wc);
/* model_recv_done returns the number of the receive that is complete. */
uint32_t model_recv_done(struct model_end *e, const struct ibv_wc *wc);
/*
 * model_received: a message came, which is the next one of the peer, and whole; `slot` is where a
 * SEND was received.
 */
void model_received(struct model_end *e, const struct ibv_wc *wc, const uint8_t *slot);
/* model_check_end: the peer received what succeeded. Nothing is under way any more. */
void model_check_end(const struct model_end *e);

#endif
