/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spray.c - the rotation: one port after the other, and within a port each active EV once a round.
 *
 * The order of a round is a random number XORed with the cursor: it costs no memory, visits each
 * place once, and two QPs with the same profile do not follow each other. Where a controller has
 * given hosts orders that keep them apart, that number is 0 until the QP hears of a queue.
 */
#include "core/ev/spray.h"

#include "base/assert.h"
#include "base/bits.h"

void mt_spray_init(struct mt_spray *sp, uint64_t seed)
{
	*sp = (struct mt_spray){.width = MT_EVS_MAX};
	mb_prng_init(&sp->prng, seed);
}

void mt_spray_attach(struct mt_spray *sp, void *mem, uint32_t n_ports, uint16_t n_evs)
{
	uint64_t *skips = mem;

	mb_assert(mem && n_ports > 0 && n_ports <= MT_PORTS_MAX && n_evs <= MT_EVS_MAX);
	sp->round_began = true; /* the first round is to be as wide as the window, too */
	sp->in_order = true;
	for (uint32_t i = 0; i < mt_spray_skips_size(n_evs) / sizeof(*skips); i++)
		*skips++ = 0;
	sp->ports = (struct mt_spray_port *)(void *)skips;
	for (uint32_t p = 0; p < n_ports; p++) {
		uint64_t random = mb_prng_u64(&sp->prng);

		sp->ports[p] = (struct mt_spray_port){
			.order = (uint16_t)random,
			.base = (uint16_t)(random >> 16),
		};
		((struct mt_spray_rtt *)(sp->ports + n_ports))[p] = (struct mt_spray_rtt){0};
	}
}

/*
 * Binary logarithm with seven bits behind the point, those between powers of two linear; of more
 * than four seconds, that of four seconds.
 */
#define LOG_BITS 7u
#define LOG_ONE (1u << LOG_BITS)

static uint16_t log_of(uint64_t ns)
{
	uint64_t most = ns > UINT32_MAX ? UINT32_MAX : ns;
	uint64_t whole = mb_log2(most);

	mb_assert(ns > 0);
	return (uint16_t)(whole * LOG_ONE + ((most << LOG_BITS >> whole) & (LOG_ONE - 1)));
}

/* Whether packets by port b take more than twice as long as by a, as far as both are known. */
static bool is_far_below(const struct mt_spray_rtt *a, const struct mt_spray_rtt *b)
{
	return a->samples == MT_SPRAY_SAMPLES && b->samples == MT_SPRAY_SAMPLES &&
	       a->log + LOG_ONE < b->log;
}

_Static_assert(MT_PORTS_MAX <= 32, "a port in the five bits of mt_spray.fast");

bool mt_spray_sample_rtt(struct mt_spray *sp, const struct mt_ev_set *s, uint32_t port,
			 uint64_t rtt_ns)
{
	struct mt_spray_rtt *rtts = mt_spray_rtts(sp, s), *rtt = &rtts[port];
	int32_t off = log_of(rtt_ns) - rtt->log;

	mb_assert_slow(port < s->n_ports);
	rtt->log = (uint16_t)(rtt->log + off / (int32_t)(rtt->samples + 1u)) & MT_SPRAY_LOG_MAX;
	if (rtt->samples < MT_SPRAY_SAMPLES) {
		rtt->samples++;
		return false;
	}
	if (rtt->log < rtts[sp->fast].log)
		sp->fast = (uint8_t)(port & 31);
	return rtts[sp->fast].log + LOG_ONE < rtt->log;
}

bool mt_spray_is_unlike(struct mt_spray *sp, const struct mt_ev_set *s, uint32_t port)
{
	const struct mt_spray_rtt *rtts = mt_spray_rtts(sp, s);

	for (uint32_t p = 0; p < s->n_ports; p++)
		if (is_far_below(&rtts[p], &rtts[port]) && s->open_ports >> p & 1 &&
		    s->ports[p].usable > 0)
			return true;
	sp->fast = (uint8_t)(port & 31); /* the one that was may not be used, or is not known */
	return false;
}

/* Whether an open port of the rotation has a usable EV, but for these. */
static bool rotation_has_port_but(const struct mt_ev_set *s, uint32_t port_mask)
{
	for (uint32_t p = 0; p < s->n_ports; p++)
		if ((s->open_ports & ~port_mask) >> p & 1 && s->shared->ports[p].active > 0 &&
		    s->ports[p].usable > 0)
			return true;
	return false;
}

uint32_t mt_spray_not_full(const struct mt_spray *sp, const struct mt_ev_set *s, uint32_t ports)
{
	uint32_t full = mt_spray_flights(sp, s)->full;

	return full > 0 && rotation_has_port_but(s, full) ? ports & ~full : ports;
}

void *mt_spray_detach(struct mt_spray *sp, uint16_t n_evs)
{
	uint8_t *behind = (uint8_t *)sp->ports;

	sp->ports = NULL;
	return behind ? behind - mt_spray_skips_size(n_evs) : NULL;
}

static uint64_t *skips_word(const struct mt_spray *sp, uint16_t ev)
{
	return (uint64_t *)(void *)sp->ports - 1 - ev / 64;
}

void mt_spray_skip_once(struct mt_spray *sp, const struct mt_ev_set *s, uint16_t ev)
{
	mb_assert(ev < s->n_evs);
	mt_spray_leave_order(sp);
	if (sp->ports && mt_ev_is_usable(s, ev))
		*skips_word(sp, ev) |= UINT64_C(1) << ev % 64u;
}

static void end_skip(struct mt_spray *sp, uint16_t ev)
{
	*skips_word(sp, ev) &= ~(UINT64_C(1) << ev % 64u);
}

/* REQ(req.spray.width) */
void mt_spray_set_width(struct mt_spray *sp, uint64_t window, uint32_t n_ports)
{
	uint64_t packets = window < MT_EVS_MAX ? window : MT_EVS_MAX;
	uint32_t evs = packets ? mb_pow2_ceil((uint32_t)packets) : 1;

	mb_assert(n_ports > 0);
	sp->round_began = false;
	sp->width = (uint16_t)((evs + n_ports - 1) / n_ports);
}

/*
 * Hosts stay apart as long as each does what the others expect of it: all EVs, none of them passed
 * over. REQ(req.spray.in-order)
 */
static bool keeps_order(const struct mt_spray *sp, const struct mt_ev_set *s, uint8_t port)
{
	return s->shared->ordered && sp->in_order &&
	       s->ports[port].usable == s->shared->ports[port].count;
}

static void begin_round(struct mt_spray *sp, const struct mt_ev_set *s, uint8_t port)
{
	const struct mt_ev_port *pp = &s->shared->ports[port];
	struct mt_spray_port *at = &sp->ports[port];
	bool in_order = keeps_order(sp, s, port);

	at->cursor = 0;
	at->order = in_order ? 0 : (uint16_t)mb_prng_u64(&sp->prng);
	at->width = sp->width < pp->active ? sp->width : pp->active;
	at->first = 0;
	if (!in_order && at->width < pp->active)
		at->first = at->base % pp->active;
	at->round_len = (uint16_t)mb_pow2_ceil(at->width);
	sp->round_began = true;
}

/*
 * One step of the round: an active place of the port, as an index below `active`.
 * REQ(req.spray.order)
 */
static uint16_t step(struct mt_spray *sp, const struct mt_ev_set *s, uint8_t port)
{
	struct mt_spray_port *at = &sp->ports[port];
	uint32_t active = s->shared->ports[port].active;
	uint32_t place;

	mb_assert_slow(active > 0);
	do {
		if (at->cursor >= at->round_len)
			begin_round(sp, s, port);
		place = (at->cursor++ ^ at->order) & (at->round_len - 1u);
	} while (place >= at->width);
	place += at->first;
	return (uint16_t)(place < active ? place : place % active);
}

static bool is_avoided(const struct mt_ev_set *s, uint16_t ev, uint16_t avoid)
{
	return avoid != MT_EV_NONE && mt_ev_same_group(s, ev, avoid);
}

/*
 * Any EV of this port, used for want of one in the round: one that is not skipped, or else one
 * whose skip ends here, because the rotation never reaches it to end it.
 */
static uint16_t any_of_port(struct mt_spray *sp, struct mt_ev_set *s, uint8_t port, uint16_t avoid)
{
	const struct mt_ev_port *pp = &s->shared->ports[port];
	uint32_t from = mb_prng_below(&sp->prng, pp->count);
	uint16_t skipping = MT_EV_NONE;

	mb_assert(s->ports[port].usable > 0 && s->ports[port].usable <= pp->count);
	for (uint32_t k = 0; k < pp->count; k++) {
		uint16_t ev = s->order[pp->first + (from + k) % pp->count];

		if (is_avoided(s, ev, avoid) || !mt_ev_is_usable(s, ev))
			continue;
		if (!mt_spray_skips(sp, ev))
			return ev;
		skipping = ev;
	}
	if (skipping != MT_EV_NONE)
		end_skip(sp, skipping);
	return skipping;
}

/* The port that comes after this one. */
static uint8_t port_after(const struct mt_ev_set *s, uint32_t port)
{
	return (uint8_t)(port + 1 == s->n_ports ? 0 : port + 1);
}

/*
 * The next EV of this port; MT_EV_NONE: it has none, or that one was to be skipped, and the turn is
 * that of the next port. The rest of a round and one more are enough to see that no active EV will
 * do. REQ(req.spray.skip-turn)
 */
static uint16_t next_of_port(struct mt_spray *sp, struct mt_ev_set *s, uint8_t port, uint16_t avoid,
			     uint32_t *skipped)
{
	const struct mt_ev_port *pp = &s->shared->ports[port];

	if (s->ports[port].usable == 0)
		return MT_EV_NONE;
	for (uint32_t tries = 2u * pp->active; tries > 0; tries--) {
		uint16_t ev = s->order[pp->first + step(sp, s, port)];

		if (!mt_ev_is_usable(s, ev))
			continue;
		if (mt_spray_skips(sp, ev)) {
			end_skip(sp, ev);
			(*skipped)++;
			if (sp->next_port == port)
				sp->next_port = port_after(s, port);
			return MT_EV_NONE;
		}
		if (!is_avoided(s, ev, avoid))
			return ev;
	}
	return any_of_port(sp, s, port, avoid);
}

/* Where the group to avoid is the only one left it has to do: a usable EV of it. */
static uint16_t last_resort(const struct mt_ev_set *s, uint32_t port_mask, uint16_t avoid)
{
	uint16_t ev = avoid, usable = 0, found = MT_EV_NONE;

	do {
		if (mt_ev_is_usable(s, ev)) {
			usable++;
			found = ev;
		}
		ev = mt_ev_group_next(s, ev);
	} while (ev != avoid);
	return usable == mt_ev_set_count_usable(s) && port_mask >> mt_ev_port(s, avoid) & 1
		       ? found
		       : MT_EV_NONE;
}

/*
 * The next EV of the next port in port_mask that takes part in the rotation; or, with `standby`, of
 * one that does not, because there are more ports than active EVs.
 */
static uint16_t next_of_ports(struct mt_spray *sp, struct mt_ev_set *s, uint32_t port_mask,
			      bool standby, uint16_t avoid, uint32_t *skipped)
{
	uint32_t first = sp->next_port;

	for (uint32_t k = 0; k < s->n_ports; k++) {
		uint32_t port = first + k;
		uint16_t ev;

		if (port >= s->n_ports)
			port -= s->n_ports;
		if (!(port_mask >> port & 1) || (s->shared->ports[port].active == 0) != standby)
			continue;
		ev = next_of_port(sp, s, (uint8_t)port, avoid, skipped);
		if (ev == MT_EV_NONE)
			continue;
		mb_assert_slow(mt_ev_is_usable(s, ev) && mt_ev_port(s, ev) == port);
		sp->next_port = port_after(s, port);
		return ev;
	}
	return MT_EV_NONE;
}

/* Whether one of these ports is out of the rotation and has a usable EV. */
static bool has_standby(const struct mt_ev_set *s, uint32_t ports)
{
	for (uint32_t p = 0; p < s->n_ports; p++)
		if (ports >> p & 1 && s->shared->ports[p].active == 0 && s->ports[p].usable > 0)
			return true;
	return false;
}

/* Whether an open port of the rotation has a usable EV but those to avoid, be there room or not. */
static bool rotation_has_usable(const struct mt_ev_set *s, uint16_t avoid)
{
	for (uint16_t i = 0; i < s->n_evs; i++)
		if (s->shared->ports[mt_ev_port(s, i)].active > 0 && mt_ev_is_open(s, i) &&
		    mt_ev_is_usable(s, i) && !is_avoided(s, i, avoid))
			return true;
	return false;
}

/*
 * As next_of_ports. Where all ports with room lose their turns and no other is to have one, they
 * have another: each lap ends a skip at least. REQ(req.spray.skip-turn)
 */
static uint16_t rotate(struct mt_spray *sp, struct mt_ev_set *s, uint32_t ports, bool standby,
		       uint16_t avoid, uint32_t *skipped)
{
	uint32_t before;
	uint16_t ev;

	do {
		before = *skipped;
		ev = next_of_ports(sp, s, ports, standby, avoid, skipped);
	} while (ev == MT_EV_NONE && *skipped != before && !rotation_has_port_but(s, ports));
	return ev;
}

/*
 * A port without an active EV carries data only when the others have no usable EV left: the profile
 * says which are active. REQ(req.spray.port-room) REQ(req.spray.standby-port)
 */
static uint16_t pick_elsewhere(struct mt_spray *sp, struct mt_ev_set *s, uint32_t ports,
			       uint16_t avoid, uint32_t *skipped)
{
	uint16_t ev = MT_EV_NONE;

	if (has_standby(s, ports) && !rotation_has_usable(s, avoid))
		ev = rotate(sp, s, ports, true, avoid, skipped);
	return ev != MT_EV_NONE || avoid == MT_EV_NONE ? ev : last_resort(s, ports, avoid);
}

/* REQ(ep.port.survive) REQ(ep.port.return) */
uint16_t mt_spray_pick(struct mt_spray *sp, struct mt_ev_set *s, uint32_t port_mask, uint16_t avoid,
		       uint32_t *skipped)
{
	uint32_t ports = port_mask & s->open_ports;
	uint16_t ev = rotate(sp, s, ports, false, avoid, skipped);

	return ev != MT_EV_NONE ? ev : pick_elsewhere(sp, s, ports, avoid, skipped);
}

/* REQ(req.spray.rotation) */
uint16_t mt_spray_pick_run(struct mt_spray *sp, struct mt_ev_set *s, uint32_t port_mask,
			   uint32_t max_run, uint32_t *skipped)
{
	mb_assert_slow(max_run >= 1 && max_run <= MT_RUN_MAX);
	if (sp->run_left > 0 && mt_ev_is_usable(s, sp->run_ev) && !mt_spray_skips(sp, sp->run_ev) &&
	    (port_mask & s->open_ports) >> mt_ev_port(s, sp->run_ev) & 1) {
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
	const struct mt_ev_port *pp = &s->shared->ports[port];

	mb_assert(port < s->n_ports);
	for (uint16_t k = 0; k < pp->count && s->ports[port].usable > 0; k++) {
		uint16_t ev = s->order[pp->first + (from + k) % pp->count];

		if (mt_ev_is_usable(s, ev))
			return ev;
	}
	return MT_EV_NONE;
}

uint16_t mt_spray_pick_probe(const struct mt_ev_set *s, uint32_t port, uint16_t from)
{
	uint16_t ev = usable_of_port(s, port, from);

	if (ev != MT_EV_NONE || s->shared->ports[port].count == 0)
		return ev;
	return s->order[s->shared->ports[port].first + from % s->shared->ports[port].count];
}

/* An EV of the port, or of the next one that may be used, whatever is known of it. */
static uint16_t least_bad(const struct mt_ev_set *s, uint32_t port, uint16_t from)
{
	for (uint32_t k = 0; k < s->n_ports; k++) {
		uint32_t p = (port + k) % s->n_ports;

		if (s->open_ports >> p & 1 && s->shared->ports[p].count > 0)
			return s->order[s->shared->ports[p].first +
					from % s->shared->ports[p].count];
	}
	return MT_EV_NONE;
}

uint16_t mt_spray_pick_control(struct mt_spray *sp, const struct mt_ev_set *s, uint8_t port)
{
	/* In any fixed order SACKs and ACKs that come in pairs would keep to their own EVs. */
	uint16_t from = (uint16_t)mb_prng_u64(&sp->prng);

	for (uint32_t k = 0; k < s->n_ports; k++) {
		uint32_t p = (port + k) % s->n_ports;
		uint16_t ev = mt_spray_reverse_ev(sp, s, p);

		if (ev == MT_EV_NONE && s->open_ports >> p & 1)
			ev = usable_of_port(s, p, from);
		if (ev != MT_EV_NONE)
			return ev;
	}
	return least_bad(s, port, from);
}

/* Up to n usable EVs of a port: its reverse EV, then the others from a random one on. */
static uint32_t pick_of_port(struct mt_spray *sp, const struct mt_ev_set *s, uint32_t port,
			     uint32_t n, uint16_t *evs)
{
	const struct mt_ev_port *pp = &s->shared->ports[port];
	uint32_t from = (uint32_t)mb_prng_below(&sp->prng, pp->count);
	uint16_t reverse = mt_spray_reverse_ev(sp, s, port);
	uint32_t got = 0;

	if (reverse != MT_EV_NONE)
		evs[got++] = reverse;
	for (uint32_t k = 0; k < pp->count && got < n; k++) {
		uint16_t ev = s->order[pp->first + (from + k) % pp->count];

		if (ev != reverse && mt_ev_is_usable(s, ev))
			evs[got++] = ev;
	}
	return got;
}

uint32_t mt_spray_pick_tail(struct mt_spray *sp, const struct mt_ev_set *s, uint32_t n,
			    uint16_t *evs)
{
	uint32_t ports = s->open_ports & s->shared->own_ports, left = mb_popcount64(ports);
	uint32_t first = mb_prng_below(&sp->prng, s->n_ports);
	uint32_t got = 0;

	for (uint32_t k = 0; k < s->n_ports && got < n; k++) {
		uint32_t port = (first + k) % s->n_ports;

		if (!(ports >> port & 1))
			continue;
		got += pick_of_port(sp, s, port, (n - got + left - 1) / left, evs + got);
		left--;
	}
	if (got > 0)
		return got;
	evs[0] = mt_spray_pick_control(sp, s, (uint8_t)first);
	return evs[0] != MT_EV_NONE;
}

uint16_t mt_reverse_ev_newest(const struct mt_ev_set *s, uint32_t port_mask, uint16_t avoid)
{
	uint16_t newest = MT_EV_NONE;
	uint64_t proved_ns = 0;

	for (uint32_t p = 0; p < s->n_ports; p++) {
		uint16_t ev = mt_reverse_ev_get(s, p);

		if (ev == MT_EV_NONE || is_avoided(s, ev, avoid) || !(port_mask >> p & 1) ||
		    s->proved_ns[p] < proved_ns)
			continue;
		newest = ev;
		proved_ns = s->proved_ns[p];
	}
	return newest;
}

/* REQ(req.reverse.probe) */
uint16_t mt_reverse_ev_candidate(struct mt_ev_set *s, struct mb_prng *prng)
{
	uint16_t from = (uint16_t)mb_prng_u64(prng);

	mb_assert(s->reverse_ev_plane < s->n_ports);
	for (uint32_t k = 1; k <= s->n_ports; k++) {
		uint32_t port = (s->reverse_ev_plane + k) % s->n_ports;

		if (!(s->open_ports & s->shared->own_ports & 1u << port))
			continue;
		s->reverse_ev_plane = (uint8_t)port;
		return mt_spray_pick_probe(s, port, from);
	}
	return MT_EV_NONE;
}
