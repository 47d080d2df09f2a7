/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group_collect.c - the collective calls, all made of one step: bytes to one rank while bytes come
 * from another.
 *
 * A step moves both a slot at a time, so that it cannot lock up whatever ranks wait for each other
 * in a ring. What is combined is combined out of the slot, without a copy.
 */
#include "group/group_state.h"

#include <string.h>

const char *mg_kind_name(enum mg_kind kind)
{
	static const char *const names[MG_KINDS] = {
		[MG_BARRIER] = "barrier",	[MG_BROADCAST] = "broadcast",
		[MG_ALL_REDUCE] = "all_reduce", [MG_REDUCE] = "reduce",
		[MG_ALL_GATHER] = "all_gather", [MG_REDUCE_SCATTER] = "reduce_scatter",
		[MG_GATHER] = "gather",		[MG_SCATTER] = "scatter",
		[MG_ALL_TO_ALL] = "all_to_all",
	};

	return (unsigned)kind < MG_KINDS ? names[kind] : "no call";
}

/* One end of a step; no rank, no bytes: nothing. */
struct stream {
	struct mg_link *link;
	uint8_t *data;
	size_t bytes, done;
};

struct step {
	struct mg_group *g;
	const struct mg_call *call;
	struct stream out, in;
	const struct mg_combine *reduce; /* NULL: what comes is copied */
	bool relay;			 /* what goes is what comes */
};

static struct stream make_stream(struct mg_group *g, uint32_t peer, const void *data, size_t bytes)
{
	return (struct stream){
		.link = bytes ? mg_link_of(g, peer, CHANNEL_CALLS) : NULL,
		.data = (uint8_t *)data,
		.bytes = bytes,
	};
}

/* Fills slots with what may go. Returns whether that was anything. */
static bool push(struct step *s)
{
	size_t limit = s->relay && s->in.done < s->out.bytes ? s->in.done : s->out.bytes;
	struct mg_slot *slot;
	bool any = false;

	while (s->out.done < limit && (slot = mg_link_room(s->out.link))) {
		size_t n = limit - s->out.done < PAYLOAD_MAX ? limit - s->out.done : PAYLOAD_MAX;

		slot->header = (struct mg_header){
			.message = (uint16_t)s->call->kind,
			.what = s->call->what,
			.number = s->call->number,
			.total = s->out.bytes,
			.offset = s->out.done,
			.bytes = (uint32_t)n,
			.root = s->call->root,
		};
		memcpy(slot->payload, s->out.data + s->out.done, n);
		mg_link_send(s->out.link);
		s->out.done += n;
		any = true;
	}
	return any;
}

static bool is_due(const struct step *s, const struct mg_header *h)
{
	size_t element = s->reduce ? s->reduce->element : 1;

	return h->message == s->call->kind && h->what == s->call->what &&
	       h->number == s->call->number && h->root == s->call->root &&
	       h->total == s->in.bytes && h->offset == s->in.done &&
	       h->bytes <= s->in.bytes - s->in.done && h->bytes <= PAYLOAD_MAX && h->bytes != 0 &&
	       h->bytes % element == 0;
}

static void break_at(struct step *s, const struct mg_header *h)
{
	mg_break_with(s->g,
		      "rank %u is in %s, call %llu (type %#x, root %u, a part of %llu bytes), rank "
		      "%u in %s, "
		      "call %llu (type %#x, root %u, %zu bytes)",
		      s->in.link->peer, mg_kind_name((enum mg_kind)h->message),
		      (unsigned long long)h->number, h->what, h->root, (unsigned long long)h->total,
		      s->g->cfg.rank, mg_kind_name(s->call->kind),
		      (unsigned long long)s->call->number, s->call->what, s->call->root,
		      s->in.bytes);
}

/* Takes what came. Returns whether that was anything. */
static bool pull(struct step *s)
{
	const struct mg_slot *slot;
	bool any = false;

	while (s->in.done < s->in.bytes && !s->g->broken && (slot = mg_link_front(s->in.link))) {
		const struct mg_header h = slot->header;

		if (!is_due(s, &h)) {
			break_at(s, &h);
			return false;
		}
		if (s->reduce)
			s->reduce->combine(s->reduce->arg, s->in.data + s->in.done, slot->payload,
					   h.bytes);
		else
			memcpy(s->in.data + s->in.done, slot->payload, h.bytes);
		s->in.done += h.bytes;
		mg_link_take(s->in.link);
		any = true;
	}
	return any;
}

static int run(struct step *s)
{
	bool out, in;

	while (!s->g->broken) {
		/* In this order: what came may go on at once. */
		in = pull(s);
		out = push(s);
		if (s->in.done == s->in.bytes && s->out.done == s->out.bytes)
			return s->g->broken ? -1 : 0;
		if (!in && !out &&
		    !mg_wait(s->g, s->call, s->out.done < s->out.bytes ? s->out.link : NULL,
			     s->in.done < s->in.bytes ? s->in.link : NULL))
			return -1;
	}
	return -1;
}

/* Of a call: in a group of one rank, where no step is, a broken group is found out here. */
static int end_of(const struct mg_group *g)
{
	return g->broken ? -1 : 0;
}

/* ---- rings ---- */

/* `by` ranks on, round the ring. */
static uint32_t rank_after(const struct mg_group *g, uint32_t rank, uint32_t by)
{
	return (rank + by) % g->cfg.ranks;
}

struct chunk {
	size_t at, bytes;
};

/*
 * How data is cut for a ring. Gloo cuts into segments of at most 1 MiB, at least two a rank, as
 * many for each rank; here only where a rank's segments begin and end matters.
 */
#define SEGMENT_MAX ((size_t)1 << 20)

static size_t round_up(size_t n, size_t unit)
{
	return (n + unit - 1) / unit * unit;
}

static size_t chunk_bytes(size_t bytes, size_t element, uint32_t ranks)
{
	size_t least = (size_t)ranks * 2;
	size_t even = (bytes + least - 1) / least;
	size_t segment = round_up(even < SEGMENT_MAX ? even : SEGMENT_MAX, element);
	size_t segments = (bytes + segment - 1) / segment;

	return round_up(segments > least ? segments : least, ranks) / ranks * segment;
}

static struct chunk find_chunk(size_t bytes, size_t chunk, uint32_t number)
{
	size_t at = chunk * number;

	if (at >= bytes)
		return (struct chunk){0};
	return (struct chunk){.at = at, .bytes = bytes - at < chunk ? bytes - at : chunk};
}

struct ring {
	struct mg_group *g;
	const struct mg_call *call;
	uint8_t *data;
	size_t bytes, chunk;
};

/* Passes one chunk to the rank before and takes another from the rank after. */
static int run_hop(const struct ring *r, uint32_t out, uint32_t in, const struct mg_combine *reduce)
{
	struct mg_group *g = r->g;
	struct chunk o = find_chunk(r->bytes, r->chunk, out);
	struct chunk i = find_chunk(r->bytes, r->chunk, in);
	struct step s = {
		.g = g,
		.call = r->call,
		.out = make_stream(g, rank_after(g, g->cfg.rank, g->cfg.ranks - 1), r->data + o.at,
				   o.bytes),
		.in = make_stream(g, rank_after(g, g->cfg.rank, 1), r->data + i.at, i.bytes),
		.reduce = reduce,
	};

	return run(&s);
}

/* Chunk c starts at the rank before c and goes down the ring until it is combined at rank c. */
static int ring_reduce(const struct ring *r, const struct mg_combine *reduce)
{
	uint32_t rank = r->g->cfg.rank;

	for (uint32_t hop = 1; hop < r->g->cfg.ranks; hop++)
		if (run_hop(r, rank_after(r->g, rank, hop), rank_after(r->g, rank, hop + 1),
			    reduce))
			return -1;
	return end_of(r->g);
}

/* Each rank has the chunk of its number; all go down the ring once. */
static int ring_gather(const struct ring *r)
{
	uint32_t rank = r->g->cfg.rank;

	for (uint32_t hop = 0; hop + 1 < r->g->cfg.ranks; hop++)
		if (run_hop(r, rank_after(r->g, rank, hop), rank_after(r->g, rank, hop + 1), NULL))
			return -1;
	return end_of(r->g);
}

static struct ring make_ring(struct mg_group *g, const struct mg_call *call, void *data,
			     size_t bytes, size_t element)
{
	return (struct ring){.g = g,
			     .call = call,
			     .data = data,
			     .bytes = bytes,
			     .chunk = bytes ? chunk_bytes(bytes, element, g->cfg.ranks) : 0};
}

int mg_all_reduce(struct mg_group *g, const struct mg_call *call, void *data, size_t bytes,
		  const struct mg_combine *reduce)
{
	struct ring r = make_ring(g, call, data, bytes, reduce->element);

	return ring_reduce(&r, reduce) || ring_gather(&r) ? -1 : 0;
}

int mg_reduce(struct mg_group *g, const struct mg_call *call, void *data, size_t bytes,
	      const struct mg_combine *reduce)
{
	struct ring r = make_ring(g, call, data, bytes, reduce->element);
	uint32_t rank = g->cfg.rank, root = call->root;

	if (ring_reduce(&r, reduce))
		return -1;
	for (uint32_t from = 0; from < g->cfg.ranks; from++) {
		struct chunk c = find_chunk(r.bytes, r.chunk, from);
		struct stream none = {0}, moved = make_stream(g, rank == root ? from : root,
							      r.data + c.at, c.bytes);
		struct step s = {.g = g,
				 .call = call,
				 .out = rank == root ? none : moved,
				 .in = rank == root ? moved : none};

		if (from != root && (rank == root || rank == from) && run(&s))
			return -1;
	}
	return 0;
}

int mg_reduce_scatter(struct mg_group *g, const struct mg_call *call, void *data, size_t bytes,
		      const struct mg_combine *reduce)
{
	struct ring r = {
		.g = g, .call = call, .data = data, .bytes = bytes * g->cfg.ranks, .chunk = bytes};

	return ring_reduce(&r, reduce);
}

int mg_all_gather(struct mg_group *g, const struct mg_call *call, void *data, size_t bytes)
{
	struct ring r = {
		.g = g, .call = call, .data = data, .bytes = bytes * g->cfg.ranks, .chunk = bytes};

	return ring_gather(&r);
}

/* ---- the others ---- */

int mg_broadcast(struct mg_group *g, const struct mg_call *call, void *data, size_t bytes)
{
	uint32_t rank = g->cfg.rank, ranks = g->cfg.ranks, root = call->root;
	bool is_last = rank_after(g, rank, 1) == root;
	struct step s = {
		.g = g,
		.call = call,
		.out = make_stream(g, rank_after(g, rank, 1), data, is_last ? 0 : bytes),
		.in = make_stream(g, rank_after(g, rank, ranks - 1), data,
				  rank == root ? 0 : bytes),
		.relay = rank != root,
	};

	return run(&s);
}

int mg_all_to_all(struct mg_group *g, const struct mg_call *call, const struct mg_parts *parts)
{
	uint32_t rank = g->cfg.rank, ranks = g->cfg.ranks;

	if (parts->in_bytes[rank] != 0 && parts->in_bytes[rank] == parts->out_bytes[rank])
		memmove(parts->in[rank], parts->out[rank], parts->in_bytes[rank]);
	for (uint32_t k = 1; k < ranks; k++) {
		uint32_t to = rank_after(g, rank, k), from = rank_after(g, rank, ranks - k);
		struct step s = {
			.g = g,
			.call = call,
			.out = make_stream(g, to, parts->out[to], parts->out_bytes[to]),
			.in = make_stream(g, from, parts->in[from], parts->in_bytes[from]),
		};

		if (run(&s))
			return -1;
	}
	return end_of(g);
}

/* After round k this rank knows that the 2^(k+1) - 1 ranks before it have come. */
int mg_barrier(struct mg_group *g, const struct mg_call *call)
{
	uint32_t ranks = g->cfg.ranks;
	uint8_t out = 1, in;

	for (uint32_t by = 1; by < ranks; by *= 2) {
		struct step s = {
			.g = g,
			.call = call,
			.out = make_stream(g, rank_after(g, g->cfg.rank, by), &out, 1),
			.in = make_stream(g, rank_after(g, g->cfg.rank, ranks - by), &in, 1),
		};

		if (run(&s))
			return -1;
	}
	return end_of(g);
}
