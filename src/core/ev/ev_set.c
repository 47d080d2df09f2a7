/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_set.c - the EVs of one destination: which take part in the rotation, which are bad, and when
 * the bad ones are probed. ev_set_init.c makes the set.
 *
 * order[] holds the EVs of each port one after the other, active places first. Every change of a
 * state goes through set_state(), which keeps the counts, and is followed by rebalance_port(),
 * which keeps the active places filled.
 */
#include "core/ev/ev_set.h"

#include "base/assert.h"
#include "base/bits.h"

#define FLAPS_MAX 16u
/* Unanswered probes double an interval so often, relapses up to the longest. */
#define FAILURES_MAX 4u

static bool is_active(const struct mt_ev_set *s, uint16_t ev)
{
	const struct mt_ev_port *port = &s->shared->ports[mt_ev_port(s, ev)];

	return mt_ev_slot(s, ev) < port->first + port->active;
}

/* How many usable EVs of a group are in active places. */
static uint16_t group_active(const struct mt_ev_set *s, uint16_t ev)
{
	return s->order[2u * s->n_evs + s->shared->groups[ev].head];
}

static void count_group_active(struct mt_ev_set *s, uint16_t ev, int more)
{
	uint16_t *n;

	if (!s->shared->groups)
		return;
	mb_assert(s->own_places);
	n = &s->own_places[2u * s->n_evs + s->shared->groups[ev].head];
	*n = (uint16_t)(*n + more);
}

#define TO(state) (1u << MT_EV_##state)

/* REQ(req.ev.state-machine) */
static const uint8_t legal[MT_EV_STATES] = {
	[MT_EV_GOOD] = TO(ASSUMED_BAD) | TO(DENIED),
	[MT_EV_ASSUMED_BAD] = TO(GOOD) | TO(DENIED),
	[MT_EV_DENIED] = TO(GOOD),
};

/* The one place where a state changes; keeps the counts of usable EVs right. */
static void set_state(struct mt_ev_set *s, uint16_t ev, enum mt_ev_state state)
{
	struct mt_ev_bits *bits = &s->bits[ev / 64];
	struct mt_ev_set_port *port = &s->ports[mt_ev_port(s, ev)];
	uint64_t bit = UINT64_C(1) << ev % 64u;
	bool was = mt_ev_is_usable(s, ev), is = state == MT_EV_GOOD;

	mb_assert(legal[mt_ev_state_of(s, ev)] >> state & 1);
	bits->usable = is ? bits->usable | bit : bits->usable & ~bit;
	bits->denied = state == MT_EV_DENIED ? bits->denied | bit : bits->denied & ~bit;
	if (was == is)
		return;
	s->n_usable = (uint16_t)(s->n_usable + is - was);
	port->usable = (uint16_t)(port->usable + is - was);
	mb_assert(s->n_usable <= s->n_evs &&
		  port->usable <= s->shared->ports[mt_ev_port(s, ev)].count);
	if (is_active(s, ev))
		count_group_active(s, ev, is - was);
}

/* Whether a usable EV of the same group takes part in the rotation. */
static bool group_is_active(const struct mt_ev_set *s, uint16_t ev)
{
	return s->shared->groups ? group_active(s, ev) > 0
				 : is_active(s, ev) && mt_ev_is_usable(s, ev);
}

/* The first usable backup of a port whose group is not in the rotation; the end if none is. */
static uint16_t find_backup(const struct mt_ev_set *s, const struct mt_ev_port *port)
{
	uint16_t at = (uint16_t)(port->first + port->active);
	uint16_t end = (uint16_t)(port->first + port->count);

	while (at < end && (!mt_ev_is_usable(s, s->order[at]) || group_is_active(s, s->order[at])))
		at++;
	return at;
}

/*
 * The active place, of an EV that is of no use, for a backup that is usable now: that of another EV
 * of its group, so that no group ever has two, or the first; the first backup's if none is.
 */
static uint16_t find_idle_slot(const struct mt_ev_set *s, const struct mt_ev_port *port,
			       uint16_t ev)
{
	uint16_t at = port->first, end = (uint16_t)(port->first + port->active);

	for (uint16_t next = mt_ev_group_next(s, ev); next != ev; next = mt_ev_group_next(s, next))
		if (is_active(s, next))
			return mt_ev_slot(s, next);
	while (at < end && mt_ev_is_usable(s, s->order[at]))
		at++;
	return at;
}

static void put(struct mt_ev_set *s, uint16_t slot, uint16_t ev)
{
	s->own_places[slot] = ev;
	s->own_places[s->n_evs + ev] = slot;
}

/* A usable backup takes the active place of one that is of no use. */
static void swap_slots(struct mt_ev_set *s, uint16_t active, uint16_t backup)
{
	uint16_t ev = s->order[active];

	/* Places of one port: or planes would not stay equal. */
	mb_assert(mt_ev_port(s, ev) == mt_ev_port(s, s->order[backup]) && s->own_places);
	put(s, active, s->order[backup]);
	put(s, backup, ev);
	count_group_active(s, s->order[active], 1);
}

/*
 * Keeps the rotation full after `ev` changed: an active EV of no use changes places with a usable
 * backup of its port, a usable backup with an active EV of no use. REQ(req.spray.backup-same-plane)
 */
static void rebalance_port(struct mt_ev_set *s, uint16_t ev)
{
	const struct mt_ev_port *port = &s->shared->ports[mt_ev_port(s, ev)];
	bool active = is_active(s, ev), usable = mt_ev_is_usable(s, ev);
	uint16_t other;

	if (active == usable)
		return;
	if (active) {
		other = find_backup(s, port);
		if (other < port->first + port->count)
			swap_slots(s, mt_ev_slot(s, ev), other);
		return;
	}
	if (group_is_active(s, ev))
		return;
	other = find_idle_slot(s, port, ev);
	if (other < port->first + port->active)
		swap_slots(s, other, mt_ev_slot(s, ev));
}

/* What must hold between calls; for mb_assert_slow. */
static bool set_is_consistent(const struct mt_ev_set *s)
{
	uint32_t usable = 0;

	for (uint8_t p = 0; p < s->n_ports; p++) {
		const struct mt_ev_port *port = &s->shared->ports[p];
		uint32_t here = 0;

		for (uint16_t at = port->first; at < port->first + port->count; at++) {
			uint16_t ev = s->order[at];

			if (mt_ev_slot(s, ev) != at || mt_ev_port(s, ev) != p)
				return false;
			here += mt_ev_is_usable(s, ev);
		}
		if (here != s->ports[p].usable)
			return false;
		usable += here;
	}
	return usable == s->n_usable;
}

static uint64_t probe_interval(const struct mt_ev_set *s, uint8_t backoff)
{
	uint64_t gap = s->shared->probe_interval_ns, longest = s->shared->probe_interval_max_ns;

	for (uint8_t i = 0; i < backoff && gap < longest; i++)
		gap *= 2;
	return gap < longest ? gap : longest;
}

uint32_t mt_ev_set_count_usable(const struct mt_ev_set *s)
{
	uint32_t usable = 0;

	for (uint8_t p = 0; p < s->n_ports; p++)
		if (s->open_ports >> p & 1)
			usable += s->ports[p].usable;
	return usable;
}

static uint16_t longest_bad(const struct mt_ev_set *s)
{
	const struct mt_ev_fault *found = NULL;

	for (uint16_t i = 0; i < s->n_faults; i++) {
		const struct mt_ev_fault *f = &s->faults[i];

		if (mt_ev_state_of(s, f->ev) == MT_EV_ASSUMED_BAD && mt_ev_is_open(s, f->ev) &&
		    (!found || f->bad_since_ns < found->bad_since_ns))
			found = f;
	}
	return found ? found->ev : MT_EV_NONE;
}

static void restore_ev(struct mt_ev_set *s, uint16_t ev, enum mt_ev_state state)
{
	struct mt_ev_fault *f = mt_ev_fault(s, ev);

	set_state(s, ev, state);
	if (f)
		f->next_probe_ns = MB_NEVER;
	rebalance_port(s, ev);
	mb_assert_slow(set_is_consistent(s));
}

/* Takes back the EV of an open port that has been bad longest; MT_EV_NONE: none is bad. */
static uint16_t restore_longest_bad(struct mt_ev_set *s)
{
	uint16_t ev = longest_bad(s);

	if (ev != MT_EV_NONE)
		restore_ev(s, ev, MT_EV_GOOD);
	return ev;
}

/* REQ(req.ev.min-active) */
uint16_t mt_ev_set_restore_to_floor(struct mt_ev_set *s)
{
	if (mt_ev_set_count_usable(s) >= s->shared->min_active)
		return MT_EV_NONE;
	return restore_longest_bad(s);
}

bool mt_ev_restore_after_port_down(struct mt_ev_set *s, uint16_t ev, uint64_t since_ns)
{
	mb_assert(ev < s->n_evs);
	if (mt_ev_state_of(s, ev) != MT_EV_ASSUMED_BAD ||
	    mt_ev_fault(s, ev)->bad_since_ns < since_ns)
		return false;
	restore_ev(s, ev, MT_EV_GOOD);
	return true;
}

/*
 * An EV that is retired soon after its return has to prove itself for longer each time: its probes
 * begin at twice the interval they had the last time. REQ(req.ev.flapping)
 */
static void count_flap(const struct mt_ev_set *s, struct mt_ev_fault *c, uint64_t now_ns)
{
	if (!mt_ev_may_flap(s, c, now_ns))
		c->flaps = 0;
	else if (c->flaps < FLAPS_MAX)
		c->flaps++;
	c->backoff = c->flaps;
}

/* As a flap, but it was not in use. */
static void fail_trial(const struct mt_ev_set *s, struct mt_ev_fault *c, uint64_t now_ns)
{
	c->on_trial = false;
	if (mt_ev_state_of(s, c->ev) != MT_EV_ASSUMED_BAD)
		return;
	if (c->flaps < FLAPS_MAX)
		c->flaps++;
	c->backoff = c->flaps;
	c->answered = 0;
	c->next_probe_ns = now_ns + probe_interval(s, c->backoff);
}

static bool is_ignored(const struct mt_ev_set *s, enum mt_ev_cause cause)
{
	return ((cause == MT_EV_BY_LOSS || cause == MT_EV_BY_LATE) &&
		s->shared->ignores & MT_EV_IGNORES_LOSS) ||
	       (cause == MT_EV_BY_MARK && s->shared->ignores & MT_EV_IGNORES_MARKS);
}

unsigned mt_ev_retire(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns, enum mt_ev_cause cause,
		      struct mt_ev_change changes[2])
{
	struct mt_ev_fault *c = mt_ev_fault(s, ev);
	unsigned n = 0;

	mb_assert(ev < s->n_evs && (unsigned)cause < MT_EV_CAUSES);
	if (c && c->on_trial)
		fail_trial(s, c, now_ns);
	if (!mt_ev_is_usable(s, ev) || is_ignored(s, cause))
		return 0;
	c = mt_ev_get_fault(s, ev, now_ns);
	if (!c || !mt_ev_set_own_places(s))
		return 0;
	if (mt_ev_is_open(s, ev) && mt_ev_set_count_usable(s) <= s->shared->min_active) {
		uint16_t other = restore_longest_bad(s);

		if (other == MT_EV_NONE)
			return 0; /* all others are denied: a bad EV is better than none */
		changes[n++] = (struct mt_ev_change){other, MT_EV_GOOD, MT_EV_BY_FLOOR};
	}
	set_state(s, ev, MT_EV_ASSUMED_BAD);
	c->bad_since_ns = now_ns;
	count_flap(s, c, now_ns);
	c->next_probe_ns = s->shared->ignores & MT_EV_NO_PROBES
				   ? MB_NEVER
				   : now_ns + probe_interval(s, c->backoff);
	c->probe_unanswered = false;
	c->answered = 0;
	c->retired++;
	mt_reorder_retire(&s->reorder, ev);
	rebalance_port(s, ev);
	changes[n++] = (struct mt_ev_change){ev, MT_EV_ASSUMED_BAD, (uint8_t)cause};
	mb_assert_slow(set_is_consistent(s));
	return n;
}

/* REQ(req.ev.hint) REQ(req.ev.min-active) */
bool mt_ev_suspect(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns)
{
	struct mt_ev_fault *f;

	mb_assert(ev < s->n_evs);
	if (!mt_ev_is_usable(s, ev) || mt_ev_was_heard(s, ev) || mt_ev_fault(s, ev) ||
	    s->shared->ignores & (MT_EV_IGNORES_LOSS | MT_EV_NO_PROBES) ||
	    mt_ev_set_count_usable(s) <= s->shared->min_active)
		return false;
	f = mt_ev_get_fault(s, ev, now_ns);
	if (!f || !mt_ev_set_own_places(s))
		return false;
	set_state(s, ev, MT_EV_ASSUMED_BAD);
	f->bad_since_ns = now_ns;
	f->next_probe_ns = now_ns;
	rebalance_port(s, ev);
	mb_assert_slow(set_is_consistent(s));
	return true;
}

/* Counts the return of a bad EV that its probes have earned, which restore_ev() does not. */
static void revive(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns)
{
	struct mt_ev_fault *f = mt_ev_fault(s, ev);

	mb_assert(f);
	restore_ev(s, ev, MT_EV_GOOD);
	f->revived++;
	f->revived_ns = now_ns;
}

void mt_ev_note_lost_bytes(struct mt_ev_set *s, uint16_t ev, uint16_t bytes)
{
	struct mt_ev_fault *f = mt_ev_fault(s, ev);

	mb_assert(ev < s->n_evs);
	if (f && f->lost_bytes < bytes)
		f->lost_bytes = bytes;
}

/* Whether enough probes of a bad EV are answered with this one, and a packet must follow. */
static bool earns_trial(const struct mt_ev_set *s, const struct mt_ev_fault *c)
{
	return mt_ev_state_of(s, c->ev) == MT_EV_ASSUMED_BAD && c->flaps > 0 && c->lost_bytes > 0 &&
	       c->answered + 1u >= s->shared->revive_probes;
}

static bool awaits_trial(const struct mt_ev_set *s, uint16_t ev)
{
	return ev != MT_EV_NONE && mt_ev_is_open(s, ev) &&
	       mt_ev_state_of(s, ev) == MT_EV_ASSUMED_BAD;
}

/* One EV at a time is on offer; others come again with their next answers. */
static void offer_trial(struct mt_ev_set *s, struct mt_ev_fault *c, uint64_t now_ns)
{
	c->backoff = c->flaps;
	c->next_probe_ns = now_ns + probe_interval(s, c->backoff);
	if (awaits_trial(s, s->trial))
		return;
	s->trial = c->ev;
	s->trial_refused = 0;
}

/* What left before the EV went bad says nothing of it since. */
bool mt_ev_pass_trial(struct mt_ev_set *s, uint16_t ev, uint64_t sent_ns, uint64_t now_ns)
{
	struct mt_ev_fault *f = mt_ev_fault(s, ev);

	mb_assert(ev < s->n_evs);
	if (!f || !f->on_trial || sent_ns < f->bad_since_ns)
		return false;
	f->on_trial = false;
	return mt_ev_restore(s, ev, now_ns);
}

bool mt_ev_restore(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns)
{
	mb_assert(ev < s->n_evs);
	if (mt_ev_state_of(s, ev) != MT_EV_ASSUMED_BAD)
		return false;
	revive(s, ev, now_ns);
	return true;
}

bool mt_ev_clear_of_loss(struct mt_ev_set *s, uint16_t ev)
{
	struct mt_ev_fault *f = mt_ev_fault(s, ev);

	mb_assert(ev < s->n_evs);
	if (mt_ev_state_of(s, ev) != MT_EV_ASSUMED_BAD)
		return false;
	restore_ev(s, ev, MT_EV_GOOD);
	if (f->flaps > 0)
		f->flaps--;
	return true;
}

/* REQ(req.ev.denied) */
bool mt_ev_deny(struct mt_ev_set *s, uint16_t ev, bool deny)
{
	enum mt_ev_state want = deny ? MT_EV_DENIED : MT_EV_GOOD;

	mb_assert(ev < s->n_evs);
	if (mt_ev_state_of(s, ev) == want || (!deny && mt_ev_state_of(s, ev) != MT_EV_DENIED))
		return false;
	if (!mt_ev_set_own_places(s))
		return false;
	restore_ev(s, ev, want);
	return true;
}

/* Rises at once, sinks slowly. */
void mt_ev_set_sample_rtt(struct mt_ev_set *s, uint64_t rtt_ns)
{
	s->probe_rtt_ns -= s->probe_rtt_ns / 8;
	if (rtt_ns > s->probe_rtt_ns)
		s->probe_rtt_ns = rtt_ns;
}

void mt_ev_count_failure(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns)
{
	struct mt_ev_fault *c = mt_ev_fault(s, ev);

	mb_assert(ev < s->n_evs && c);
	c->answered = 0;
	if (c->backoff < c->flaps + FAILURES_MAX)
		c->backoff++;
	c->next_probe_ns = now_ns + probe_interval(s, c->backoff);
}

bool mt_ev_count_answer(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns)
{
	struct mt_ev_fault *c = mt_ev_fault(s, ev);

	mb_assert(ev < s->n_evs && c);
	c->backoff = c->flaps;
	if (mt_ev_state_of(s, ev) != MT_EV_ASSUMED_BAD)
		return false;
	c->next_probe_ns = now_ns + probe_interval(s, c->backoff);
	if (++c->answered < s->shared->revive_probes)
		return false;
	revive(s, ev, now_ns);
	return true;
}

/* Says whether one more probe may go out in this interval, and counts it. */
static bool take_probe_budget(struct mt_ev_set *s, uint64_t now_ns)
{
	if (now_ns - s->probes_since_ns >= s->shared->probe_interval_ns) {
		s->probes_since_ns = now_ns;
		s->probes = 0;
	}
	if (s->probes == MT_EV_PROBES_PER_INTERVAL)
		return false;
	s->probes++;
	mb_assert(s->probes <= MT_EV_PROBES_PER_INTERVAL);
	return true;
}

/* When the next probe of an EV is due after one that is sent now. */
static uint64_t after_probe(const struct mt_ev_set *s, const struct mt_ev_fault *f, uint64_t now_ns)
{
	uint64_t gap = s->stretch * probe_interval(s, f->backoff);

	return now_ns + (gap < 2 * s->probe_rtt_ns ? 2 * s->probe_rtt_ns : gap);
}

uint16_t mt_ev_set_next_probe(struct mt_ev_set *s, uint64_t now_ns, bool peer_silent)
{
	uint32_t at =
		s->n_faults && s->probe_from < s->n_evs ? mt_ev_fault_rank(s, s->probe_from) : 0;

	for (uint16_t k = 0; k < s->n_faults; k++, at++) {
		struct mt_ev_fault *c = &s->faults[at % s->n_faults];

		if (c->next_probe_ns > now_ns || !mt_ev_is_open(s, c->ev))
			continue;
		if (!take_probe_budget(s, now_ns))
			return MT_EV_NONE;
		s->probe_from = (uint16_t)(c->ev + 1);
		/* A silent peer answers no probe. REQ(req.ev.endpoint) */
		if (c->probe_unanswered && !peer_silent)
			mt_ev_count_failure(s, c->ev, now_ns);
		c->probe_unanswered = false;
		c->next_probe_ns = after_probe(s, c, now_ns);
		return c->ev;
	}
	return MT_EV_NONE;
}

uint64_t mt_ev_set_probe_deadline(const struct mt_ev_set *s)
{
	uint64_t earliest = MB_NEVER, interval_ends = s->probes_since_ns;

	for (uint16_t i = 0; i < s->n_faults; i++)
		if (s->faults[i].next_probe_ns < earliest && mt_ev_is_open(s, s->faults[i].ev))
			earliest = s->faults[i].next_probe_ns;
	interval_ends += s->shared->probe_interval_ns;
	return s->probes == MT_EV_PROBES_PER_INTERVAL && earliest < interval_ends ? interval_ends
										  : earliest;
}

void mt_ev_set_hasten_probes(struct mt_ev_set *s, uint64_t now_ns)
{
	uint64_t latest = now_ns + s->shared->probe_interval_max_ns;

	for (uint16_t i = 0; i < s->n_faults; i++)
		if (s->faults[i].next_probe_ns > latest && s->faults[i].next_probe_ns != MB_NEVER)
			s->faults[i].next_probe_ns = now_ns;
}

void mt_ev_probe_sent(struct mt_ev_set *s, uint16_t ev)
{
	struct mt_ev_fault *f = mt_ev_fault(s, ev);

	mb_assert(ev < s->n_evs);
	if (f)
		f->probe_unanswered = true;
}

bool mt_ev_probe_answered(struct mt_ev_set *s, uint16_t ev, uint64_t sent_ns, uint64_t now_ns)
{
	struct mt_ev_fault *f = mt_ev_fault(s, ev);

	mb_assert(ev < s->n_evs && sent_ns <= now_ns);
	mt_ev_set_sample_rtt(s, now_ns - sent_ns);
	if (!f || sent_ns < f->bad_since_ns)
		return false;
	f->probe_unanswered = false;
	if (earns_trial(s, f)) {
		offer_trial(s, f, now_ns);
		return false;
	}
	return mt_ev_count_answer(s, ev, now_ns);
}

void mt_ev_probe_late(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns)
{
	mb_assert(ev < s->n_evs);
	if (mt_ev_state_of(s, ev) != MT_EV_ASSUMED_BAD)
		return;
	mt_ev_fault(s, ev)->probe_unanswered = false;
	mt_ev_count_failure(s, ev, now_ns);
}
