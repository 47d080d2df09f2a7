/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spray.c - the rotation: one port after the other, and within a port each active EV once a round.
 *
 * The order of a round is a random number XORed with the cursor: it costs no memory, visits each
 * place once, and two QPs with the same profile do not follow each other.
 */
#include "core/ev/spray.h"

#include "base/assert.h"
#include "base/bits.h"

void mt_spray_init(struct mt_spray *sp, uint64_t seed)
{
	*sp = (struct mt_spray){.width = MT_EVS_MAX};
	mb_prng_init(&sp->prng, seed);
}

void mt_spray_attach(struct mt_spray *sp, void *mem, uint32_t n_ports)
{
	mb_assert(mem && n_ports > 0 && n_ports <= MT_PORTS_MAX);
	sp->round_began = true; /* the first round is to be as wide as the window, too */
	sp->ports = mem;
	for (uint32_t p = 0; p < n_ports; p++) {
		uint64_t random = mb_prng_u64(&sp->prng);

		sp->ports[p] = (struct mt_spray_port){
			.order = (uint16_t)random,
			.base = (uint16_t)(random >> 16),
		};
	}
}

/* REQ(req.spray.width) */
void mt_spray_set_width(struct mt_spray *sp, uint64_t window, uint32_t n_ports)
{
	uint32_t packets = window < MT_EVS_MAX ? (uint32_t)window : MT_EVS_MAX;
	uint32_t evs = packets ? mb_pow2_ceil(packets) : 1;

	mb_assert(n_ports > 0);
	sp->round_began = false;
	sp->width = (uint16_t)((evs + n_ports - 1) / n_ports);
}

static void begin_round(struct mt_spray *sp, struct mt_spray_port *at, uint16_t active)
{
	at->cursor = 0;
	at->order = (uint16_t)mb_prng_u64(&sp->prng);
	at->width = sp->width < active ? sp->width : active;
	at->round_len = (uint16_t)mb_pow2_ceil(at->width);
	sp->round_began = true;
}

/*
 * One step of the round: an active place of the port, as an index below `active`.
 * REQ(req.spray.order)
 */
static uint16_t step(struct mt_spray *sp, uint8_t port, uint16_t active)
{
	struct mt_spray_port *at = &sp->ports[port];
	uint32_t place;

	mb_assert_slow(active > 0);
	do {
		if (at->cursor >= at->round_len)
			begin_round(sp, at, active);
		place = (at->cursor++ ^ at->order) & (at->round_len - 1u);
	} while (place >= at->width);
	return (uint16_t)(at->width == active ? place : (at->base + place) % active);
}

static bool is_avoided(const struct mt_ev_set *s, uint16_t ev, uint16_t avoid)
{
	return avoid != MT_EV_NONE && mt_ev_same_group(s, ev, avoid);
}

/*
 * Any EV of this port, used for want of one in the round: a GOOD one, or else one whose SKIP ends
 * here, because the rotation never reaches it to end it.
 */
static uint16_t any_of_port(struct mt_spray *sp, struct mt_ev_set *s, uint8_t port, uint16_t avoid)
{
	const struct mt_ev_set_port *pp = &s->ports[port];
	uint32_t from = mb_prng_below(&sp->prng, pp->count);
	uint16_t skipping = MT_EV_NONE;

	mb_assert(pp->usable > 0 && pp->usable <= pp->count);
	for (uint32_t k = 0; k < pp->count; k++) {
		uint16_t ev = s->order[pp->first + (from + k) % pp->count];

		if (is_avoided(s, ev, avoid))
			continue;
		if (s->evs[ev].state == MT_EV_GOOD)
			return ev;
		if (s->evs[ev].state == MT_EV_SKIP)
			skipping = ev;
	}
	if (skipping != MT_EV_NONE)
		mt_ev_end_skip(s, skipping);
	return skipping;
}

/*
 * The next EV of this port. The rest of a round, one round that ends every SKIP and one that finds
 * what they were are enough to see that no active EV will do.
 */
static uint16_t next_of_port(struct mt_spray *sp, struct mt_ev_set *s, uint8_t port, uint16_t avoid,
			     uint32_t *skipped)
{
	const struct mt_ev_set_port *pp = &s->ports[port];

	if (pp->usable == 0)
		return MT_EV_NONE;
	for (uint32_t tries = 3u * pp->active; tries > 0; tries--) {
		uint16_t ev = s->order[pp->first + step(sp, port, pp->active)];

		if (s->evs[ev].state == MT_EV_SKIP) {
			mt_ev_end_skip(s, ev);
			(*skipped)++;
		} else if (s->evs[ev].state == MT_EV_GOOD && !is_avoided(s, ev, avoid)) {
			return ev;
		}
	}
	return any_of_port(sp, s, port, avoid);
}

/* Where the group to avoid is the only one left it has to do: a usable EV of it. */
static uint16_t last_resort(const struct mt_ev_set *s, uint32_t port_mask, uint16_t avoid)
{
	uint16_t ev = avoid, usable = 0, found = MT_EV_NONE;

	do {
		if (mt_ev_is_usable(&s->evs[ev])) {
			usable++;
			found = ev;
		}
		ev = mt_ev_group_next(s, ev);
	} while (ev != avoid);
	return usable == mt_ev_set_count_usable(s) && port_mask >> s->evs[avoid].port & 1
		       ? found
		       : MT_EV_NONE;
}

/* REQ(req.spray.port-room) REQ(ep.port.survive) REQ(ep.port.return) */
uint16_t mt_spray_pick(struct mt_spray *sp, struct mt_ev_set *s, uint32_t port_mask, uint16_t avoid,
		       uint32_t *skipped)
{
	port_mask &= s->open_ports;
	for (uint32_t k = 0; k < s->n_ports; k++) {
		uint32_t port = sp->next_port + k;
		uint16_t ev;

		if (port >= s->n_ports)
			port -= s->n_ports;
		if (!(port_mask >> port & 1))
			continue;
		ev = next_of_port(sp, s, (uint8_t)port, avoid, skipped);
		if (ev == MT_EV_NONE)
			continue;
		mb_assert_slow(mt_ev_is_usable(&s->evs[ev]) && s->evs[ev].port == port);
		sp->next_port = (uint8_t)(port + 1 == s->n_ports ? 0 : port + 1);
		return ev;
	}
	return avoid == MT_EV_NONE ? MT_EV_NONE : last_resort(s, port_mask, avoid);
}

/* REQ(req.spray.rotation) */
uint16_t mt_spray_pick_run(struct mt_spray *sp, struct mt_ev_set *s, uint32_t port_mask,
			   uint32_t max_run, uint32_t *skipped)
{
	const struct mt_ev_entry *p = &s->evs[sp->run_ev];

	mb_assert_slow(max_run >= 1 && max_run <= MT_RUN_MAX);
	if (sp->run_left > 0 && p->state == MT_EV_GOOD &&
	    (port_mask & s->open_ports) >> p->port & 1) {
		sp->run_left--;
		return sp->run_ev;
	}
	sp->run_left = 0;
	sp->run_ev = mt_spray_pick(sp, s, port_mask, MT_EV_NONE, skipped);
	if (sp->run_ev == MT_EV_NONE) {
		sp->run_ev = 0;
		return MT_EV_NONE;
	}
	sp->run_left = (uint8_t)(max_run - 1);
	return sp->run_ev;
}

static uint16_t usable_of_port(const struct mt_ev_set *s, uint32_t port, uint16_t from)
{
	const struct mt_ev_set_port *pp = &s->ports[port];

	mb_assert(port < s->n_ports);
	for (uint16_t k = 0; k < pp->count && pp->usable > 0; k++) {
		uint16_t ev = s->order[pp->first + (from + k) % pp->count];

		if (mt_ev_is_usable(&s->evs[ev]))
			return ev;
	}
	return MT_EV_NONE;
}

uint16_t mt_spray_pick_probe(const struct mt_ev_set *s, uint32_t port, uint16_t from)
{
	uint16_t ev = usable_of_port(s, port, from);

	if (ev != MT_EV_NONE || s->ports[port].count == 0)
		return ev;
	return s->order[s->ports[port].first + from % s->ports[port].count];
}

/* An EV of the port, or of the next one that may be used, whatever is known of it. */
static uint16_t least_bad(const struct mt_ev_set *s, uint32_t port, uint16_t from)
{
	for (uint32_t k = 0; k < s->n_ports; k++) {
		uint32_t p = (port + k) % s->n_ports;

		if (s->open_ports >> p & 1 && s->ports[p].count > 0)
			return s->order[s->ports[p].first + from % s->ports[p].count];
	}
	return MT_EV_NONE;
}

uint16_t mt_spray_pick_control(struct mt_spray *sp, const struct mt_ev_set *s, uint8_t port)
{
	/* In any fixed order SACKs and ACKs that come in pairs would keep to their own EVs. */
	uint16_t from = (uint16_t)mb_prng_u64(&sp->prng);

	for (uint32_t k = 0; k < s->n_ports; k++) {
		uint32_t p = (port + k) % s->n_ports;
		uint16_t ev = mt_reverse_ev_get(s, p);

		if (ev == MT_EV_NONE && s->open_ports >> p & 1)
			ev = usable_of_port(s, p, from);
		if (ev != MT_EV_NONE)
			return ev;
	}
	return least_bad(s, port, from);
}

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
