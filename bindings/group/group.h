/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group.h - a group of processes that compute collectively over MRC: ranks 0 to ranks - 1, each
 * joined to each by queue pairs, and the collective calls and messages between them.
 *
 *	g = mg_open(&cfg, error)                  one QP a peer and channel, in INIT
 *	mg_describe(g, card)                      what the others must know; carried by the caller
 *	mg_connect(g, peer, card, bytes, error)   for each other rank, to RTS
 *	... all ranks have connected: the caller's to make sure of ...
 *	mg_all_reduce(g, &call, ...)              the same calls in the same order on every rank
 *	mg_request_start(g, &request)             messages between two ranks, at any time
 *	mg_close(g)
 *
 * It knows memory and sizes; what the elements are and how they are combined is the caller's.
 *
 * Threads: one at a time may be in these functions, except mg_wake, which any may call. Ranks are
 * of one byte order. Collective calls BLOCK until this rank's part is done; meanwhile, and in
 * mg_serve, requests go on.
 *
 * Errors. A collective that fails leaves the group useless: nobody knows what is under way. It
 * returns -1, mg_broken says why, the other ranks are told, and every later call fails at once. The
 * caller closes the group. A request that fails says so to its own `done`.
 */
#ifndef BINDINGS_GROUP_H
#define BINDINGS_GROUP_H

#include <stddef.h>
#include <stdint.h>

#define MG_RANKS_MAX 128u /* each pair of ranks has memory of its own, 4 MiB at each end */
#define MG_ANY UINT32_MAX
#define MG_TEXT_MAX 256u
#define MG_NEVER UINT64_MAX

struct mg_group;

struct mg_cfg {
	uint32_t rank;
	uint32_t ranks; /* 1 .. MG_RANKS_MAX */
	/* Called in the thread that waits, after mg_wake; may start requests. */
	void (*woken)(void *arg);
	void *arg;
};

/*
 * mg_open opens the first device that speaks MRC, registers memory and makes the QPs. `error`, of
 * MG_TEXT_MAX bytes, is what went wrong when it returns NULL: a value out of range, no device, or
 * what the library refused.
 */
struct mg_group *mg_open(const struct mg_cfg *cfg, char *error);

/* mg_card_bytes is how long the card of a rank is. */
size_t mg_card_bytes(const struct mg_group *g);

/* mg_describe writes the card of this rank, which mg_connect takes at all others. */
void mg_describe(const struct mg_group *g, void *card);

/*
 * mg_connect connects to a rank whose card this is. Nothing may be sent before all ranks have
 * connected to all. Returns 0, or -1 with the reason in `error`: another version or byte order,
 * another rank or number of ranks than is due, or what the library refused.
 */
int mg_connect(struct mg_group *g, uint32_t peer, const void *card, size_t bytes, char *error);

/* mg_close waits up to 2 s until the others have what was sent to them, and frees all. */
void mg_close(struct mg_group *g);

/* mg_broken says why the group is useless, or NULL. Valid until mg_close. */
const char *mg_broken(const struct mg_group *g);

/* mg_break makes the group useless, and tells the other ranks why. */
void mg_break(struct mg_group *g, const char *why);

/* mg_wake ends a wait of the thread that is in the group, or the next one. From any thread. */
void mg_wake(struct mg_group *g);

/*
 * mg_serve waits once, for a message or mg_wake, `most_ms` long (negative: without end, but looks
 * every 200 ms while requests are under way), and moves requests on.
 */
void mg_serve(struct mg_group *g, int most_ms);

/* mg_now_ns is the clock of deadlines, CLOCK_MONOTONIC. */
uint64_t mg_now_ns(void);

/* ---- collective calls ---- */

enum mg_kind {
	MG_BARRIER,
	MG_BROADCAST,
	MG_ALL_REDUCE,
	MG_REDUCE,
	MG_ALL_GATHER,
	MG_REDUCE_SCATTER,
	MG_GATHER,
	MG_SCATTER,
	MG_ALL_TO_ALL,
	MG_KINDS,
};

/* mg_kind_name is what a call is called in messages. */
const char *mg_kind_name(enum mg_kind kind);

/*
 * A call. Ranks that meet in different calls, or in the same with another number, size, root or
 * `what`, fail with a message that names both: in that call, or where neither waits for the other
 * there, as two that both think themselves the root, in the next one.
 */
struct mg_call {
	enum mg_kind kind;
	uint32_t what;	      /* the caller's own, such as the type of the elements */
	uint32_t root;	      /* of MG_BROADCAST, MG_REDUCE, MG_GATHER, MG_SCATTER; 0 in others */
	uint64_t number;      /* of the calls of the group */
	uint64_t deadline_ns; /* on mg_now_ns; MG_NEVER */
};

/* Combines: into[i] = into[i] op from[i], for `bytes` of whole elements. */
struct mg_combine {
	void (*combine)(void *arg, void *into, const void *from, size_t bytes);
	void *arg;
	size_t element; /* bytes, a power of two up to 16 */
};

/*
 * mg_all_reduce replaces `data` by the combination of all ranks' data.
 *
 * The order is fixed by the ranks alone, so the result has the same bits on every rank and in every
 * run. The data is cut into as many chunks as there are ranks, of equal size but for the last ones:
 * chunk c is rank c-1's, combined with c-2's, then c-3's and so on round to rank c's. Chunks end
 * where those of Gloo's ring do, which combines in this order as well: both give the same bits for
 * what they combine alike.
 */
int mg_all_reduce(struct mg_group *g, const struct mg_call *call, void *data, size_t bytes,
		  const struct mg_combine *reduce);

/* mg_reduce is mg_all_reduce whose result is at the root alone; elsewhere `data` is scratch. */
int mg_reduce(struct mg_group *g, const struct mg_call *call, void *data, size_t bytes,
	      const struct mg_combine *reduce);

/*
 * mg_reduce_scatter combines `ranks` parts of `bytes` each; this rank's part of `data` has its
 * result then, the others are scratch. Combined in the order that mg_all_reduce names.
 */
int mg_reduce_scatter(struct mg_group *g, const struct mg_call *call, void *data, size_t bytes,
		      const struct mg_combine *reduce);

/* mg_all_gather fills `data`, `ranks` parts of `bytes`, of which this rank's own is there. */
int mg_all_gather(struct mg_group *g, const struct mg_call *call, void *data, size_t bytes);

/* mg_broadcast copies the root's data to all, from rank to rank. */
int mg_broadcast(struct mg_group *g, const struct mg_call *call, void *data, size_t bytes);

/*
 * mg_all_to_all sends out[r], of out_bytes[r], to each rank r, and receives in[r] from it.
 * mg_gather and mg_scatter are the same with one rank that receives or sends; the arrays are of
 * `ranks` places everywhere, those that do not matter of 0 bytes.
 */
struct mg_parts {
	const void *const *out;
	const size_t *out_bytes;
	void *const *in;
	const size_t *in_bytes;
};

int mg_all_to_all(struct mg_group *g, const struct mg_call *call, const struct mg_parts *parts);

/* mg_barrier returns when all ranks are in it. */
int mg_barrier(struct mg_group *g, const struct mg_call *call);

/* ---- messages between two ranks ---- */

enum mg_request_kind { MG_SEND, MG_RECEIVE };

/*
 * A message. The receive says how long it is to be: another length fails both ends. Messages of one
 * pair and tag arrive in order; tags may be taken in any. A send is done when its bytes are in the
 * receiver's hands, and waits for a receive as long as its deadline allows. A receive from any rank
 * fails when a rank is gone, or when all have left.
 */
struct mg_request {
	enum mg_request_kind kind;
	uint32_t peer; /* of a receive also MG_ANY; then, in `done`, who it was */
	uint32_t tag;
	void *data; /* the group's until `done` */
	size_t bytes;
	uint64_t deadline_ns;
	/* Called once, in the thread in the group; `error` NULL: done. May free the request. */
	void (*done)(struct mg_request *request, const char *error);

	/* The group's own. */
	struct mg_request *next;
	uint64_t id;
	size_t moved;
	uint32_t last_slot;
	int state;
};

/* mg_request_start starts a request; what is wrong with it, `done` is told, maybe at once. */
void mg_request_start(struct mg_group *g, struct mg_request *request);

/* mg_requests_pending is how many have not been told to `done`. */
size_t mg_requests_pending(const struct mg_group *g);

#endif
