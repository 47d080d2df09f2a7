/* SPDX-License-Identifier: BSD-2-Clause */
/* How large a demo this machine carries: see demo_size.h. */
#include "demo/demo_size.h"

#define VECTOR_BYTES 4194304u
#define PACKET_BYTES 4096u
/* Above this the pace is no longer kept. */
#define LOAD_MAX_PERCENT 85u

/* Tried in this order. */
static const struct {
	uint32_t ranks;
	uint64_t pace_bps;
} sizes[] = {{8, 50000000}, {8, 25000000}, {4, 25000000}};

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* In the lab a path is a T1, and three switches are on the way. */
const struct demo_place demo_place_lab = {.paths = 4, .datagrams_per_packet = 10};
const struct demo_place demo_place_loopback = {.paths = 8, .datagrams_per_packet = 5};

uint64_t demo_size_load(const struct demo_shape *shape, const struct demo_place *place,
			uint64_t capacity)
{
	uint64_t packets = shape->pace_bps * shape->planes * shape->ranks / 8 / PACKET_BYTES;

	return packets * place->datagrams_per_packet * 100 / capacity;
}

void demo_size_choose(struct demo_shape *shape, const struct demo_options *o,
		      const struct demo_place *place, uint64_t capacity)
{
	for (size_t i = 0; i < SIZES; i++) {
		*shape = (struct demo_shape){
			.ranks = o->ranks ? o->ranks : sizes[i].ranks,
			.planes = o->planes,
			.paths = o->paths ? o->paths : place->paths,
			.pace_bps = o->pace_bps ? o->pace_bps : sizes[i].pace_bps,
			.vector_bytes = VECTOR_BYTES,
		};
		if (!capacity || demo_size_load(shape, place, capacity) <= LOAD_MAX_PERCENT)
			return;
	}
}
