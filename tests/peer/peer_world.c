/* SPDX-License-Identifier: BSD-2-Clause */
/* peer_world.c - plays a world: time, frames, and what has to be true of completions and bytes. */
#include "peer_world.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So long a world may last; the slowest last a tenth of that. */
#define WORLD_END_NS UINT64_C(3000000000)
#define EVENTS_MAX UINT64_C(3000000)
/* When all is complete nothing more may complete, and nothing more be placed. */
#define QUIET_NS 3000000u

void world_fail(struct world *w, const char *format, ...)
{
	va_list args;
	int n;

	if (w->failed)
		return;
	w->failed = true;
	n = snprintf(w->why, sizeof(w->why), "at %" PRIu64 " ns: ", w->now_ns);
	va_start(args, format);
	vsnprintf(w->why + n, sizeof(w->why) - (size_t)n, format, args);
	va_end(args);
}

/* splitmix64 */
uint64_t world_random(struct world *w)
{
	uint64_t z = w->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint32_t world_below(struct world *w, uint32_t bound)
{
	return bound ? (uint32_t)(world_random(w) % bound) : 0;
}

/* ---- what the programs of both ends see ---- */

static const char *name(enum world_side side)
{
	return side == ENGINE ? "engine" : "peer";
}

/* The bytes that an op moved are there when it completes, not only in the end. */
static void check_bytes(struct world *w, enum world_side side, const struct peer_op *op)
{
	bool read = op->kind >= PEER_OP_READ;
	const struct world_end *e = &w->ends[read ? side : 1 - side];
	uint64_t at = read ? op->local : op->remote;

	if (memcmp(e->memory + at, e->expected + at, op->bytes) == 0)
		return;
	for (uint32_t i = 0; i < op->bytes; i++)
		if (e->memory[at + i] != e->expected[at + i]) {
			world_fail(w,
				   "%s: op %zu of kind %d is complete, byte %u of %u is %02x, "
				   "want %02x",
				   name(side), (size_t)(op - w->ends[side].ops), op->kind, i,
				   op->bytes, e->memory[at + i], e->expected[at + i]);
			return;
		}
}

/* REQ(req.complete.order) REQ(req.complete.once) REQ(req.error.flush) */
void world_complete(struct world *w, enum world_side side, struct peer_op *op,
		    enum peer_status status)
{
	struct world_end *e = &w->ends[side];
	size_t i = (size_t)(op - e->ops);
	enum peer_status want = PEER_SUCCESS;

	while (side == ENGINE && e->completions < i && e->ops[e->completions].silent) {
		check_bytes(w, side, &e->ops[e->completions]);
		e->ops[e->completions++].done = true;
	}
	if (i != e->completions) {
		world_fail(w, "%s: op %zu is complete, want op %zu", name(side), i, e->completions);
		return;
	}
	e->completions++;
	w->last_event_ns = w->now_ns;
	op->done = true;
	op->status = status;
	if (op->poisoned)
		want = op->kind == PEER_OP_SEND && !op->has_inv ? PEER_INVALID_REQUEST
								: PEER_ACCESS_ERROR;
	if (status != want)
		world_fail(w, "%s: op %zu of kind %d ended with status %d, want %d", name(side), i,
			   op->kind, status, want);
	else if (status == PEER_SUCCESS)
		check_bytes(w, side, op);
}

static const struct peer_op *op_of_receive(const struct world_end *from, size_t n)
{
	for (size_t i = 0; i < from->n_ops; i++)
		if (peer_op_takes_receive(&from->ops[i]) && n-- == 0)
			return &from->ops[i];
	return NULL;
}

/* REQ(rsp.complete.in-order) REQ(ext.recv.match) REQ(ext.recv.order) */
void world_receive(struct world *w, enum world_side side, size_t n, const struct peer_received *got)
{
	struct world_end *e = &w->ends[side];
	const struct peer_op *op = op_of_receive(&w->ends[1 - side], n);

	w->last_event_ns = w->now_ns;
	if (n != e->received++ || !op || op->poisoned)
		world_fail(w, "%s: receive %zu is complete, want receive %zu", name(side), n,
			   e->received - 1);
	else if (got->has_imm != op->has_imm || got->has_inv != op->has_inv ||
		 ((got->has_imm || got->has_inv) && got->word != op->imm) ||
		 got->bytes != op->bytes || got->send != (op->kind == PEER_OP_SEND))
		world_fail(w,
			   "%s: receive %zu has imm %d inv %d %08" PRIx32
			   ", %u bytes, send %d; want imm %d inv %d %08" PRIx32 ", %u bytes",
			   name(side), n, got->has_imm, got->has_inv, got->word, got->bytes,
			   got->send, op->has_imm, op->has_inv, op->imm, op->bytes);
	else
		check_bytes(w, 1 - side, op);
}

static void peer_completes(void *user, struct peer_op *op)
{
	world_complete(user, PEER, op, op->status);
}

static void peer_receives(void *user, size_t n, const struct peer_received *got)
{
	world_receive(user, PEER, n, got);
}

/* ---- time ---- */

static void open_peer(struct world *w)
{
	struct peer *p = &w->peer;
	struct world_end *e = &w->ends[PEER];

	peer_init(p, &w->options, &w->connection, world_random(w));
	p->c.region_bytes = WORLD_MEMORY;
	/* As requester it names the other end's memory. */
	p->memory = e->memory;
	p->ops = e->ops;
	p->n_ops = e->n_ops;
	p->receives = e->receives;
	p->receive_bytes = e->receive_bytes;
	p->user = w;
	p->on_complete = peer_completes;
	p->on_receive = peer_receives;
}

static void run_peer(struct world *w)
{
	struct peer *p = &w->peer;
	struct world_end *e = &w->ends[PEER];
	struct peer_frame f;

	while (e->posted < e->n_receives && e->receive_at_ns[e->posted] <= w->now_ns)
		e->posted++;
	p->receives_posted = e->posted;
	while (!w->failed && !p->wrong && peer_tx(p, w->now_ns, &f)) {
		uint32_t ev = (uint32_t)f.bytes[2] << 8 | f.bytes[3];

		world_send(w, PEER, (uint8_t)(ev % 4), &f);
	}
	if (p->wrong)
		world_fail(w, "the peer says: %s", p->why);
}

static bool is_over(const struct world *w)
{
	for (int side = 0; side < 2; side++) {
		const struct world_end *e = &w->ends[side];

		if (e->completions < e->n_ops)
			return false;
		if (!w->poisoned && e->received < e->n_receives)
			return false;
	}
	return w->poisoned || !peer_is_busy(&w->peer);
}

static uint64_t next_event(const struct world *w)
{
	uint64_t next = world_arrival(w), engine = mt_engine_deadline(w->node.engine);

	if (engine < next)
		next = engine;
	if (w->next_tick_ns < next)
		next = w->next_tick_ns;
	return next > w->now_ns ? next : w->now_ns;
}

static bool is_silent(const struct world *w)
{
	return w->options.silence && w->now_ns >= w->silent_ns && w->now_ns < w->speaks_ns;
}

/* Takes the frame over. */
static void peer_hears(struct world *w, const struct world_flight *f)
{
	if (is_silent(w) && w->options.silence == 2) {
		world_put_off(w, f, w->speaks_ns);
		return;
	}
	if (!is_silent(w))
		peer_rx(&w->peer, w->now_ns, f->frame);
	free(f->frame);
}

static void step(struct world *w)
{
	w->now_ns = next_event(w);
	w->events++;
	while (!w->failed && world_arrival(w) <= w->now_ns) {
		struct world_flight f = world_take(w);

		if (f.to == PEER) {
			peer_hears(w, &f);
			continue;
		}
		world_engine_rx(w, &f);
		free(f.frame);
	}
	if (w->now_ns >= w->next_tick_ns) {
		if (!is_silent(w))
			peer_tick(&w->peer, w->now_ns);
		w->next_tick_ns = w->now_ns + PEER_TICK_NS;
	}
	if (w->is_down != world_is_down(w, w->down_plane)) {
		w->is_down = !w->is_down;
		world_engine_port(w, w->down_plane, !w->is_down);
	}
	world_engine_run(w);
	if (!is_silent(w))
		run_peer(w);
}

/* ---- the end ---- */

static void explain_stop(struct world *w)
{
	const struct world_end *e = &w->ends[ENGINE], *p = &w->ends[PEER];
	const struct peer_sender *s = &w->peer.requests;

	world_fail(w,
		   "no end: engine has %zu of %zu ops, %zu of %zu receives; peer %zu of %zu, %zu "
		   "of %zu; peer's una %zu next %zu of %zu, ACKs for %zu of %zu, expects %zu; "
		   "answers una %zu of %zu; last progress at %" PRIu64,
		   e->completions, e->n_ops, e->received, e->n_receives, p->completions, p->n_ops,
		   p->received, p->n_receives, s->una, s->next, s->n, s->completed, s->messages,
		   w->peer.served.expected, w->peer.answers.una, w->peer.answers.n,
		   w->last_event_ns);
}

static void check_memory(struct world *w, enum world_side side)
{
	const struct world_end *e = &w->ends[side];
	size_t i = 0;

	if (memcmp(e->memory, e->expected, WORLD_MEMORY) == 0)
		return;
	while (e->memory[i] == e->expected[i])
		i++;
	world_fail(w, "%s: byte %zu of its memory is %02x, want %02x", name(side), i, e->memory[i],
		   e->expected[i]);
}

void world_run(struct world *w)
{
	uint64_t until;

	world_engine_open(w);
	open_peer(w);
	while (!w->failed && !is_over(w)) {
		step(w);
		if (w->now_ns > WORLD_END_NS || w->events > EVENTS_MAX)
			explain_stop(w);
	}
	until = w->now_ns + QUIET_NS;
	while (!w->failed && w->now_ns < until)
		step(w);
	for (int side = 0; side < 2 && !w->failed; side++)
		check_memory(w, (enum world_side)side);
}

void world_fini(struct world *w)
{
	while (w->n_flights > 0)
		free(w->flights[--w->n_flights].frame);
	if (w->node.engine)
		engine_node_close(&w->node);
	peer_fini(&w->peer);
	for (int side = 0; side < 2; side++) {
		free(w->ends[side].memory);
		free(w->ends[side].expected);
	}
}
