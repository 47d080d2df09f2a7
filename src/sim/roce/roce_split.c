/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roce_split.c - which QP sends which bytes. Each message is cut into as many parts as there are
 * QPs, all of one size, a multiple of 128 bytes, but the last ones, which may be shorter or empty;
 * a part is cut into packets. An empty message is one empty packet of the first QP.
 */
#include "sim/roce/roce_state.h"

#define GRAIN 128u

static uint64_t divide_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

static struct ms_rpart part_of(const struct ms_rcut *c, uint32_t i, uint64_t bytes)
{
	uint64_t size = divide_up(divide_up(bytes, c->qps), GRAIN) * GRAIN, at = i * size;
	uint64_t left = at < bytes ? bytes - at : 0;

	return (struct ms_rpart){at, left < size ? left : size};
}

uint64_t ms_roce_split_packets(const struct ms_rcut *c, uint32_t i, uint64_t bytes)
{
	return bytes ? divide_up(part_of(c, i, bytes).bytes, c->mtu) : i == 0;
}

struct ms_rpart ms_roce_split_packet(const struct ms_rcut *c, uint32_t i, uint64_t bytes,
				     uint64_t n)
{
	struct ms_rpart part = part_of(c, i, bytes);

	part.offset += n * c->mtu;
	part.bytes -= n * c->mtu;
	part.bytes = part.bytes < c->mtu ? part.bytes : c->mtu;
	return part;
}
