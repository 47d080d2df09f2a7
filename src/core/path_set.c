/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/path_set.h"

#include <string.h>

#include "base/assert.h"
#include "base/bits.h"

/* A probe id is a sequence number of 6 bits above the index of its path. */
#define ID_PATH_BITS 10u
/* A path flaps when it dies within so many of the longest probe intervals after it came back. */
#define FLAP_INTERVALS 16u
#define FLAPS_MAX 16u
_Static_assert(MT_EVS_MAX <= 1u << ID_PATH_BITS, "a probe id holds the index of every path");

/* The arrays of a set stand behind it one after the other, those of wider elements first. */
static size_t whole_words(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

size_t mt_path_set_size(uint16_t n_evs, uint32_t n_ports, bool path_ids)
{
	return sizeof(struct mt_path_set) + n_ports * sizeof(struct mt_plane) +
	       whole_words(n_evs * sizeof(struct mt_path)) +
	       (path_ids ? whole_words(n_evs * sizeof(struct mt_path_kin)) : 0) +
	       whole_words(n_evs * sizeof(uint16_t)) +
	       whole_words(n_ports * sizeof(struct mt_path_port));
}

struct mt_path_cold *mt_path_set_cold(struct mt_path_set *s, uint16_t path)
{
	size_t bytes = s->n_paths * sizeof(struct mt_path_cold);

	if (s->cold)
		return &s->cold[path];
	s->cold = mb_pool_get(s->pool, bytes);
	if (!s->cold)
		return NULL;
	memset(s->cold, 0, bytes);
	for (uint16_t i = 0; i < s->n_paths; i++)
		s->cold[i].next_probe_ns = MB_NEVER;
	return &s->cold[path];
}

void mt_path_set_fini(struct mt_path_set *s)
{
	mb_pool_put(s->pool, s->cold, s->n_paths * sizeof(struct mt_path_cold));
	s->cold = NULL;
}

static uint16_t leader_of(const struct mt_path_set *s, uint16_t path)
{
	return s->kin ? s->kin[path].leader : path;
}

/* Shares n_active out over the ports, at most one apart, as far as each has paths. */
static void choose_active(struct mt_path_set *s, uint32_t n_active)
{
	uint32_t given;

	do {
		given = 0;
		for (uint32_t p = 0; p < s->n_ports && n_active > 0; p++) {
			struct mt_path_port *port = &s->ports[p];
			uint16_t next = (uint16_t)(port->first + port->active);

			if (port->active == port->count ||
			    leader_of(s, s->order[next]) != s->order[next])
				continue;
			if (s->kin)
				s->kin[s->order[next]].serving = 1;
			port->active++;
			n_active--;
			given++;
		}
	} while (given > 0);
}

/* Links the EVs of a port that have the same number into rings. */
static void find_twins(struct mt_path_set *s, uint8_t port, const uint16_t *ids)
{
	uint16_t n = s->n_paths;

	/* Until rings are closed `serving` holds the leader of the path with this number. */
	for (uint16_t i = 0; i < n; i++)
		s->kin[i].serving = MT_PATH_NONE;
	for (uint16_t i = 0; i < n; i++) {
		uint16_t *leader = &s->kin[ids[i]].serving;

		if (s->paths[i].port != port)
			continue;
		if (*leader == MT_PATH_NONE)
			*leader = s->kin[i].twin = i;
		s->kin[i].leader = *leader;
		s->kin[i].twin = s->kin[*leader].twin;
		s->kin[*leader].twin = i;
	}
}

/* Puts the EVs of a port into order[]: first one of each path, then the others. */
static void group_port(struct mt_path_set *s, uint8_t p, uint16_t *at)
{
	for (int others = 0; others < 2; others++)
		for (uint16_t i = 0; i < s->n_paths; i++) {
			if (s->paths[i].port != p || (leader_of(s, i) != i) != others)
				continue;
			s->paths[i].place = *at;
			s->order[(*at)++] = i;
			s->ports[p].count++;
		}
	s->ports[p].usable = s->ports[p].count;
}

static void group_by_port(struct mt_path_set *s, const uint16_t *ids)
{
	uint16_t at = 0;

	for (uint8_t p = 0; p < s->n_ports; p++) {
		s->ports[p] = (struct mt_path_port){.first = at, .reverse = MT_PATH_NONE};
		if (s->kin)
			find_twins(s, p, ids);
		group_port(s, p, &at);
	}
	for (uint16_t i = 0; s->kin && i < s->n_paths; i++)
		s->kin[i].serving = 0;
}

struct mt_path_set *mt_path_set_init(void *mem, const struct mt_ev_profile_cfg *profile,
				     uint32_t n_ports, const struct mt_addr *peer,
				     struct mb_pool *pool)
{
	struct mt_path_set *s = mem;
	uint8_t *at = (uint8_t *)mem + sizeof(*s);
	uint16_t n = profile->n_evs;

	memset(mem, 0, mt_path_set_size(n, n_ports, profile->path_ids != NULL));
	s->pool = pool;
	mt_planes_init(&s->planes, (struct mt_plane *)(void *)at, n_ports);
	at += n_ports * sizeof(struct mt_plane);
	s->paths = (struct mt_path *)(void *)at;
	at += whole_words(n * sizeof(struct mt_path));
	if (profile->path_ids) {
		s->kin = (struct mt_path_kin *)(void *)at;
		at += whole_words(n * sizeof(struct mt_path_kin));
	}
	s->order = (uint16_t *)(void *)at;
	at += whole_words(n * sizeof(uint16_t));
	s->ports = (struct mt_path_port *)(void *)at;
	mb_link_init(&s->peers);

	mb_link_init(&s->link);
	mb_link_init(&s->users);
	mb_timer_init(&s->timer);
	s->peer = *peer;
	s->n_paths = s->n_usable = n;
	s->n_ports = (uint8_t)n_ports;
	s->open_ports = UINT32_MAX;
	s->min_active = profile->min_active;
	s->ignores = profile->ignores;
	s->revive_probes = profile->revive_probes;
	s->probe_interval_ns = profile->probe_interval_ns;
	s->probe_interval_max_ns = profile->probe_interval_max_ns;
	for (uint16_t i = 0; i < n; i++) {
		s->paths[i].value = profile->evs[i].value;
		s->paths[i].port = profile->evs[i].port;
		s->own_ports |= 1u << s->paths[i].port;
	}
	group_by_port(s, profile->path_ids);
	choose_active(s, profile->n_active);
	return s;
}

static bool in_active_place(const struct mt_path_set *s, const struct mt_path *p)
{
	return p->place < s->ports[p->port].first + s->ports[p->port].active;
}

#define TO(state) (1u << MT_EV_##state)

/* REQ(req.ev.state-machine) */
static const uint8_t legal[MT_EV_STATES] = {
	[MT_EV_GOOD] = TO(SKIP) | TO(ASSUMED_BAD) | TO(DENIED),
	[MT_EV_SKIP] = TO(GOOD) | TO(ASSUMED_BAD) | TO(DENIED),
	[MT_EV_ASSUMED_BAD] = TO(GOOD) | TO(SKIP) | TO(DENIED),
	[MT_EV_DENIED] = TO(GOOD),
};

/* The one place where a state changes; keeps the counts of usable paths right. */
static void set_state(struct mt_path_set *s, uint16_t path, enum mt_ev_state state)
{
	struct mt_path *p = &s->paths[path];
	bool was = mt_path_usable(p), is;

	mb_assert(legal[p->state] >> state & 1);
	p->state = (uint8_t)state;
	is = mt_path_usable(p);
	if (was == is)
		return;
	s->n_usable = (uint16_t)(s->n_usable + is - was);
	s->ports[p->port].usable = (uint16_t)(s->ports[p->port].usable + is - was);
	if (s->kin && in_active_place(s, p)) {
		struct mt_path_kin *leader = &s->kin[s->kin[path].leader];

		leader->serving = (uint16_t)(leader->serving + is - was);
	}
}

bool mt_path_set_skip(struct mt_path_set *s, uint16_t path)
{
	if (s->paths[path].state != MT_EV_GOOD)
		return false;
	set_state(s, path, MT_EV_SKIP);
	return true;
}

/* REQ(req.ev.skip-once) */
void mt_path_set_turn_over(struct mt_path_set *s, uint16_t path)
{
	mb_assert(s->paths[path].state == MT_EV_SKIP);
	set_state(s, path, MT_EV_GOOD);
}

/* Whether a usable EV of the same path takes part in the rotation. */
static bool served(const struct mt_path_set *s, uint16_t path)
{
	const struct mt_path *p = &s->paths[path];

	return s->kin ? s->kin[s->kin[path].leader].serving > 0
		      : in_active_place(s, p) && mt_path_usable(p);
}

/* The first usable backup of a port whose path takes no part in the rotation; the end if none
 * is. */
static uint16_t find_backup(const struct mt_path_set *s, const struct mt_path_port *port)
{
	uint16_t at = (uint16_t)(port->first + port->active);
	uint16_t end = (uint16_t)(port->first + port->count);

	while (at < end && (!mt_path_usable(&s->paths[s->order[at]]) || served(s, s->order[at])))
		at++;
	return at;
}

/*
 * The active place, of an EV that is of no use, for a backup that is usable now: that of a twin, so
 * that no path ever has two, or the first; the first backup's if none is.
 */
static uint16_t find_idle(const struct mt_path_set *s, const struct mt_path_port *port,
			  uint16_t path)
{
	uint16_t at = port->first, end = (uint16_t)(port->first + port->active);

	for (uint16_t twin = mt_path_set_twin(s, path); twin != path;
	     twin = mt_path_set_twin(s, twin))
		if (in_active_place(s, &s->paths[twin]))
			return s->paths[twin].place;
	while (at < end && mt_path_usable(&s->paths[s->order[at]]))
		at++;
	return at;
}

/* A usable backup takes the active place of one that is of no use. */
static void swap_places(struct mt_path_set *s, uint16_t active, uint16_t backup)
{
	uint16_t path = s->order[active];

	s->order[active] = s->order[backup];
	s->order[backup] = path;
	s->paths[s->order[active]].place = active;
	s->paths[s->order[backup]].place = backup;
	if (s->kin)
		s->kin[s->kin[s->order[active]].leader].serving++;
}

/*
 * Keeps the rotation full after `path` changed: an active path of no use changes places with a
 * usable backup of its port, a usable backup with an active path of no use.
 * REQ(req.spray.backup-same-plane)
 */
static void settle(struct mt_path_set *s, uint16_t path)
{
	const struct mt_path *p = &s->paths[path];
	const struct mt_path_port *port = &s->ports[p->port];
	bool active = in_active_place(s, p), usable = mt_path_usable(p);
	uint16_t other;

	if (active == usable)
		return;
	if (active) {
		other = find_backup(s, port);
		if (other < port->first + port->count)
			swap_places(s, p->place, other);
		return;
	}
	if (served(s, path))
		return;
	other = find_idle(s, port, path);
	if (other < port->first + port->active)
		swap_places(s, other, p->place);
}

/* What must hold between calls; for mb_assert_slow. */
static bool consistent(const struct mt_path_set *s)
{
	uint32_t usable = 0;

	for (uint8_t p = 0; p < s->n_ports; p++) {
		const struct mt_path_port *port = &s->ports[p];
		uint32_t here = 0;

		for (uint16_t at = port->first; at < port->first + port->count; at++) {
			const struct mt_path *path = &s->paths[s->order[at]];

			if (path->place != at || path->port != p)
				return false;
			here += mt_path_usable(path);
		}
		if (here != port->usable)
			return false;
		usable += here;
	}
	return usable == s->n_usable;
}

static uint64_t interval(const struct mt_path_set *s, uint8_t backoff)
{
	uint64_t gap = s->probe_interval_ns;

	for (uint8_t i = 0; i < backoff && gap < s->probe_interval_max_ns; i++)
		gap *= 2;
	return gap < s->probe_interval_max_ns ? gap : s->probe_interval_max_ns;
}

/* To the probe after one that was not answered. */
static uint64_t probe_gap(const struct mt_path_set *s, uint8_t backoff)
{
	uint64_t gap = interval(s, backoff);

	return gap < 2 * s->probe_rtt_ns ? 2 * s->probe_rtt_ns : gap;
}

uint32_t mt_path_set_usable(const struct mt_path_set *s)
{
	uint32_t usable = 0;

	for (uint8_t p = 0; p < s->n_ports; p++)
		if (s->open_ports >> p & 1)
			usable += s->ports[p].usable;
	return usable;
}

void mt_path_set_open(struct mt_path_set *s, uint32_t ports)
{
	s->open_ports = ports;
}

static uint16_t bad_longest(const struct mt_path_set *s)
{
	uint16_t found = MT_PATH_NONE;

	for (uint16_t i = 0; i < s->n_paths; i++)
		if (s->paths[i].state == MT_EV_ASSUMED_BAD && mt_path_open(s, i) &&
		    (found == MT_PATH_NONE ||
		     s->cold[i].bad_since_ns < s->cold[found].bad_since_ns))
			found = i;
	return found;
}

static void take_back(struct mt_path_set *s, uint16_t path, enum mt_ev_state state)
{
	set_state(s, path, state);
	if (s->cold) {
		s->cold[path].next_probe_ns = MB_NEVER;
		s->cold[path].probe_pending = 0;
	}
	settle(s, path);
}

bool mt_path_set_forgive(struct mt_path_set *s, uint16_t path, uint64_t since_ns)
{
	if (s->paths[path].state != MT_EV_ASSUMED_BAD || s->cold[path].bad_since_ns < since_ns)
		return false;
	take_back(s, path, MT_EV_GOOD);
	mb_assert_slow(consistent(s));
	return true;
}

/*
 * A path that dies soon after it came back has to prove itself for longer each time: its probes
 * begin at twice the interval they had the last time. REQ(req.ev.flapping)
 */
static void count_flap(const struct mt_path_set *s, struct mt_path_cold *c, uint64_t now_ns)
{
	if (c->revived == 0 || now_ns - c->revived_ns > FLAP_INTERVALS * s->probe_interval_max_ns)
		c->flaps = 0;
	else if (c->flaps < FLAPS_MAX)
		c->flaps++;
	c->backoff = c->flaps;
}

static bool ignored(const struct mt_path_set *s, enum mt_ev_cause cause)
{
	return (cause == MT_EV_BY_LOSS && s->ignores & MT_EV_IGNORES_LOSS) ||
	       (cause == MT_EV_BY_MARK && s->ignores & MT_EV_IGNORES_MARKS);
}

unsigned mt_path_set_retire(struct mt_path_set *s, uint16_t path, uint64_t now_ns,
			    enum mt_ev_cause cause, struct mt_path_change changes[2])
{
	struct mt_path_cold *c;
	unsigned n = 0;

	if (!mt_path_usable(&s->paths[path]) || ignored(s, cause))
		return 0;
	c = mt_path_set_cold(s, path);
	if (!c)
		return 0;
	if (mt_path_open(s, path) && mt_path_set_usable(s) <= s->min_active) {
		uint16_t other = bad_longest(s);

		if (other == MT_PATH_NONE)
			return 0; /* all others are denied: a bad path is better than none */
		take_back(s, other, MT_EV_GOOD);
		changes[n++] = (struct mt_path_change){other, MT_EV_GOOD, MT_EV_BY_FLOOR};
	}
	set_state(s, path, MT_EV_ASSUMED_BAD);
	c->bad_since_ns = now_ns;
	count_flap(s, c, now_ns);
	c->next_probe_ns =
		s->ignores & MT_EV_NO_PROBES ? MB_NEVER : now_ns + interval(s, c->backoff);
	c->probe_pending = c->answered = 0;
	c->retired++;
	settle(s, path);
	changes[n++] = (struct mt_path_change){path, MT_EV_ASSUMED_BAD, (uint8_t)cause};
	mb_assert_slow(consistent(s));
	return n;
}

bool mt_path_set_restore(struct mt_path_set *s, uint16_t path, uint64_t now_ns)
{
	if (s->paths[path].state != MT_EV_ASSUMED_BAD)
		return false;
	take_back(s, path, MT_EV_GOOD);
	mb_assert_slow(consistent(s));
	s->cold[path].revived++;
	s->cold[path].revived_ns = now_ns;
	return true;
}

/* REQ(req.ev.denied) */
bool mt_path_set_deny(struct mt_path_set *s, uint16_t path, bool deny)
{
	enum mt_ev_state want = deny ? MT_EV_DENIED : MT_EV_GOOD;

	if (s->paths[path].state == want || (!deny && s->paths[path].state != MT_EV_DENIED))
		return false;
	take_back(s, path, want);
	mb_assert_slow(consistent(s));
	return true;
}

/* Rises at once, sinks slowly. */
static void sample_rtt(struct mt_path_set *s, uint64_t rtt_ns)
{
	s->probe_rtt_ns -= s->probe_rtt_ns / 8;
	if (rtt_ns > s->probe_rtt_ns)
		s->probe_rtt_ns = rtt_ns;
}

/* Says whether one more probe may go out in this interval, and counts it. */
static bool spend_probe(struct mt_path_set *s, uint64_t now_ns)
{
	if (now_ns - s->probes_since_ns >= s->probe_interval_ns) {
		s->probes_since_ns = now_ns;
		s->probes = 0;
	}
	if (s->probes == MT_PROBES_AT_ONCE)
		return false;
	s->probes++;
	return true;
}

uint16_t mt_path_set_next_probe(struct mt_path_set *s, uint64_t now_ns)
{
	for (uint16_t k = 0; s->cold && k < s->n_paths; k++) {
		uint16_t i = (uint16_t)((s->probe_from + k) % s->n_paths);
		struct mt_path_cold *c = &s->cold[i];

		if (c->next_probe_ns > now_ns || !mt_path_open(s, i))
			continue;
		if (!spend_probe(s, now_ns))
			return MT_PATH_NONE;
		s->probe_from = (uint16_t)(i + 1);
		/* A silent peer answers nobody. REQ(req.ev.endpoint) */
		if (c->probe_pending && !mt_presence_silent(&s->presence, now_ns)) {
			c->answered = 0;
			if (c->backoff < UINT8_MAX)
				c->backoff++;
		}
		c->probe_pending = 0;
		c->next_probe_ns = now_ns + probe_gap(s, c->backoff);
		return i;
	}
	return MT_PATH_NONE;
}

uint64_t mt_path_set_probe_deadline(const struct mt_path_set *s)
{
	uint64_t earliest = MB_NEVER;

	for (uint16_t i = 0; s->cold && i < s->n_paths; i++)
		if (s->cold[i].next_probe_ns < earliest && mt_path_open(s, i))
			earliest = s->cold[i].next_probe_ns;
	if (s->probes == MT_PROBES_AT_ONCE && earliest < s->probes_since_ns + s->probe_interval_ns)
		return s->probes_since_ns + s->probe_interval_ns;
	return earliest;
}

uint16_t mt_path_set_probe_id(struct mt_path_set *s, uint16_t path)
{
	return (uint16_t)(s->probe_seq++ << ID_PATH_BITS | path);
}

void mt_path_set_probe_sent(struct mt_path_set *s, uint16_t path, uint16_t id, uint64_t now_ns)
{
	struct mt_path_cold *c = mt_path_set_cold(s, path);

	if (!c)
		return;
	c->probe_id = id;
	c->probe_sent_ns = now_ns;
	c->probe_pending = 1;
}

/* REQ(req.ev.revive-marked) */
bool mt_path_set_probe_answered(struct mt_path_set *s, uint16_t id, uint64_t now_ns, bool marked,
				uint64_t *sent_ns, uint16_t *path, bool *revived)
{
	uint16_t i = id & ((1u << ID_PATH_BITS) - 1);
	struct mt_path_cold *c;

	*revived = false;
	if (i >= s->n_paths || !s->cold)
		return false;
	c = &s->cold[i];
	if (!c->probe_pending || c->probe_id != id)
		return false;
	*path = i;
	*sent_ns = c->probe_sent_ns;
	c->probe_pending = 0;
	sample_rtt(s, now_ns - c->probe_sent_ns);
	if (s->paths[i].state != MT_EV_ASSUMED_BAD)
		return true;
	c->backoff = c->flaps;
	c->next_probe_ns = now_ns + interval(s, c->backoff);
	if (++c->answered < s->revive_probes)
		return true;
	take_back(s, i, marked ? MT_EV_SKIP : MT_EV_GOOD);
	mb_assert_slow(consistent(s));
	c->revived++;
	c->revived_ns = now_ns;
	*revived = true;
	return true;
}
