/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roce_cut.c - which QP sends which bytes. Each message is cut into as many parts as there are QPs,
 * all of one size, a multiple of 128 bytes, but the last ones, which may be shorter or empty; a
 * part is cut into packets. An empty message is one empty packet of the first QP.
 */
#include "sim/roce_state.h"

#define GRAIN 128u

void ms_rcut_of(struct ms_rcut *c, const struct ms_flow *f, const struct ms_roce_cfg *cfg)
{
	*c = (struct ms_rcut){
		.bytes = f->bytes,
		.message_bytes = f->message_bytes,
		.messages = f->messages,
		.mtu = cfg->path_mtu,
		.qps = cfg->qps,
	};
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

static uint64_t last_bytes(const struct ms_rcut *c)
{
	return c->bytes - c->message_bytes * (c->messages - 1);
}

/* The part of QP i, of a message of so many bytes; its offset is that in the message. */
static struct ms_rpart part_of(const struct ms_rcut *c, uint32_t i, uint64_t bytes)
{
	uint64_t size = divide_up(divide_up(bytes, c->qps), GRAIN) * GRAIN, at = i * size;
	uint64_t left = at < bytes ? bytes - at : 0;

	return (struct ms_rpart){at, left < size ? left : size};
}

static uint64_t packets(const struct ms_rcut *c, uint32_t i, uint64_t bytes)
{
	return bytes ? divide_up(part_of(c, i, bytes).bytes, c->mtu) : i == 0;
}

uint64_t ms_rcut_end(const struct ms_rcut *c, uint32_t i, uint32_t messages)
{
	uint64_t whole = packets(c, i, c->message_bytes);

	if (messages < c->messages)
		return messages * whole;
	return (c->messages - 1) * whole + packets(c, i, last_bytes(c));
}

struct ms_rpart ms_rcut_at(const struct ms_rcut *c, uint32_t i, uint64_t n, uint32_t *message,
			   bool *first, bool *last)
{
	uint64_t whole = packets(c, i, c->message_bytes), bytes, in;
	uint64_t k = whole ? n / whole : c->messages - 1;
	struct ms_rpart part;

	k = k < c->messages - 1 ? k : c->messages - 1;
	bytes = k == c->messages - 1 ? last_bytes(c) : c->message_bytes;
	part = part_of(c, i, bytes);
	in = n - k * whole;
	*message = (uint32_t)k;
	*first = in == 0;
	*last = in + 1 == packets(c, i, bytes);
	part.offset += k * c->message_bytes + in * c->mtu;
	part.bytes -= in * c->mtu;
	part.bytes = part.bytes < c->mtu ? part.bytes : c->mtu;
	return part;
}
