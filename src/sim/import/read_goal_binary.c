/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read_goal_binary.c - GOAL as txt2bin writes it, on a little-endian machine, without padding:
 *
 *	u64 4223; then, and offsets count from here:
 *	u32 ranks, u8 highest cpu, u8 highest nic
 *	u64 begin, u64 end	of the part of each rank
 *
 * and of each rank
 *
 *	u32 operations, u32 roots, u32 root[roots]
 *	operation: u32 number that it waits for, u8 type (1 send, 2 recv, 3 calc), u32 peer,
 *		   u64 size, u32 tag, u8 cpu, u8 nic,
 *		   u32 dependents, u32 first	in the list below: those that wait for its end
 *		   u32 dependents, u32 first	and for its start
 *	u32 list[]	operations of the rank, from 0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/import/trace.h"

#define MAGIC 4223u
#define HEAD_BYTES 6u
#define OPERATION_BYTES 39u

enum { GOAL_SEND = 1, GOAL_RECV, GOAL_CALC };

struct part {
	struct ms_trace *t;
	const char *path;
	struct ms_file_error *error;
	uint32_t rank;
	const uint8_t *at; /* the part of the rank */
	size_t size;
	uint32_t operations;
	size_t first, list; /* where operations and the list begin */
	uint32_t *node;	    /* of each operation */
};

static uint64_t read_number(const uint8_t *at, size_t bytes)
{
	uint64_t n = 0;

	while (bytes-- > 0)
		n = n << 8 | at[bytes];
	return n;
}

static uint32_t read_u32(const uint8_t *at)
{
	return (uint32_t)read_number(at, 4);
}

bool ms_goal_is_binary(const uint8_t first[8])
{
	return read_number(first, 8) == MAGIC;
}

/* ---- one rank ---- */

static bool read_operation(struct part *p, uint32_t i)
{
	const uint8_t *at = p->at + p->first + (size_t)i * OPERATION_BYTES;
	const uint64_t size = read_number(at + 9, 8);
	const struct ms_trace_message m = {.peer = read_u32(at + 5),
					   .tag = read_u32(at + 17),
					   .line = i + 1,
					   .bytes = size,
					   .channel = at[22]};

	switch (at[4]) {
	case GOAL_SEND:
		p->node[i] = ms_trace_send(p->t, p->rank, &m);
		break;
	case GOAL_RECV:
		p->node[i] = ms_trace_recv(p->t, p->rank, &m);
		break;
	case GOAL_CALC:
		p->node[i] = ms_trace_calc(p->t, p->rank, i + 1, at[21], size);
		break;
	default:
		return ms_trace_set_error(p->t, p->rank, i + 1,
					  "type %u: expected 1 (send), 2 (recv) or 3 (calc)",
					  at[4]);
	}
	return p->node[i] != MS_NODE_NONE;
}

/* read_dependents takes n entries of the list: they wait for operation i. */
static bool read_dependents(struct part *p, uint32_t i, uint32_t n, uint32_t first, bool start)
{
	const size_t entries = (p->size - p->list) / 4;

	if (n > entries || first > entries - n)
		return ms_trace_set_error(p->t, p->rank, i + 1,
					  "its %u dependents lie behind the end of the rank's part",
					  n);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t op = read_u32(p->at + p->list + (size_t)(first + k) * 4);

		if (op >= p->operations)
			return ms_trace_set_error(p->t, p->rank, i + 1,
						  "dependent %u: the rank has %u operations", op,
						  p->operations);
		if (!ms_trace_add_dependency(p->t, p->node[op], p->node[i], start))
			return false;
	}
	return true;
}

static bool read_dependencies(struct part *p, uint32_t i)
{
	const uint8_t *at = p->at + p->first + (size_t)i * OPERATION_BYTES + 23;

	return (read_u32(at) == 0 ||
		read_dependents(p, i, read_u32(at), read_u32(at + 4), false)) &&
	       (read_u32(at + 8) == 0 ||
		read_dependents(p, i, read_u32(at + 8), read_u32(at + 12), true));
}

/* read_frame finds out where in the part things are. */
static bool read_frame(struct part *p)
{
	uint64_t roots = p->size >= 8 ? read_u32(p->at + 4) : 0;

	p->operations = p->size >= 8 ? read_u32(p->at) : 0;
	p->first = 8 + (size_t)roots * 4;
	p->list = p->first + (size_t)p->operations * OPERATION_BYTES;
	if (p->size < 8 || p->list > p->size)
		return ms_trace_set_error(
			p->t, p->rank, 0,
			"its part of %zu bytes is too short for its %u operations", p->size,
			p->operations);
	p->node = malloc(((size_t)p->operations + 1) * sizeof(*p->node));
	return p->node || ms_file_set_no_memory(p->error, p->path);
}

static bool one_rank(struct part *p)
{
	bool ok = read_frame(p);

	for (uint32_t i = 0; ok && i < p->operations; i++)
		ok = read_operation(p, i);
	for (uint32_t i = 0; ok && i < p->operations; i++)
		ok = read_dependencies(p, i);
	free(p->node);
	p->node = NULL;
	return ok;
}

/* ---- the file ---- */

static bool read_at(FILE *file, uint64_t offset, void *to, size_t size)
{
	return offset <= INT64_MAX && fseeko(file, (off_t)offset, SEEK_SET) == 0 &&
	       fread(to, 1, size, file) == size;
}

static bool load_rank(struct part *p, FILE *file, uint64_t file_bytes)
{
	uint8_t bounds[16];
	uint64_t begin, end;
	uint8_t *part;
	bool ok;

	if (!read_at(file, 8 + HEAD_BYTES + (uint64_t)p->rank * 16, bounds, sizeof(bounds)))
		return ms_trace_set_error(p->t, p->rank, 0, "the file ends in its table of ranks");
	begin = read_number(bounds, 8);
	end = read_number(bounds + 8, 8);
	if (begin > end || end > file_bytes - 8)
		return ms_trace_set_error(p->t, p->rank, 0,
					  "its part, %llu to %llu, lies behind the end of the file",
					  (unsigned long long)begin, (unsigned long long)end);
	p->size = (size_t)(end - begin);
	part = malloc(p->size + 1);
	if (!part)
		return ms_file_set_no_memory(p->error, p->path);
	p->at = part;
	ok = read_at(file, 8 + begin, part, p->size)
		     ? one_rank(p)
		     : ms_trace_set_error(p->t, p->rank, 0, "cannot be read: %s", strerror(errno));
	free(part);
	return ok;
}

bool ms_goal_binary(struct ms_trace *t, void *file, const struct ms_trace_place *place,
		    const char *path, struct ms_file_error *error)
{
	uint8_t head[HEAD_BYTES];
	off_t size;
	bool ok;

	if (fseeko(file, 0, SEEK_END) || (size = ftello(file)) < 0 ||
	    !read_at(file, 8, head, sizeof(head)))
		return ms_file_set_error(error, path, 0, "the file ends in its head");
	ok = ms_trace_ranks(t, read_u32(head), place, 0);
	for (uint32_t r = 0; ok && r < read_u32(head); r++) {
		struct part p = {.t = t, .path = path, .error = error, .rank = r};

		ok = load_rank(&p, file, (uint64_t)size);
	}
	return ok;
}
