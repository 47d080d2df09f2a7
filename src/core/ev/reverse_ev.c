/* SPDX-License-Identifier: BSD-2-Clause */
/* reverse_ev.c - which EV a receiver tests next, to know a reverse path for its answers. */
#include "core/ev/reverse_ev.h"
#include "base/assert.h"

#include "core/ev/spray.h"

/* REQ(req.reverse.probe) */
uint16_t mt_reverse_ev_candidate(struct mt_ev_set *s, struct mb_prng *prng)
{
	uint16_t from = (uint16_t)mb_prng_u64(prng);

	mb_assert(s->reverse_ev_plane < s->n_ports);
	for (uint32_t k = 1; k <= s->n_ports; k++) {
		uint32_t port = (s->reverse_ev_plane + k) % s->n_ports;

		if (!(s->open_ports & s->own_ports & 1u << port))
			continue;
		s->reverse_ev_plane = (uint8_t)port;
		return mt_spray_pick_probe(s, port, from);
	}
	return MT_EV_NONE;
}
