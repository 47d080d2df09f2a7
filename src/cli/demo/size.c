/* SPDX-License-Identifier: BSD-2-Clause */
/* How large a demo this machine carries: see size.h. */
#include "cli/demo/size.h"

#define RANKS 8u
#define PACE_BPS 50000000u
#define VECTOR_BYTES 4194304u

void demo_size_choose(struct demo_shape *shape, const struct demo_options *o)
{
	*shape = (struct demo_shape){
		.ranks = o->ranks ? o->ranks : RANKS,
		.planes = o->planes,
		.paths = o->paths,
		.pace_bps = o->pace_bps ? o->pace_bps : PACE_BPS,
		.vector_bytes = VECTOR_BYTES,
	};
}
