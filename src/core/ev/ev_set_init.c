/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_set_init.c - makes an EV set, and gives it memory for what only a set with EVs in trouble has:
 * records of those EVs, and places of its own in which they change.
 */
#include <string.h>

#include "base/assert.h"
#include "core/ev/ev_set.h"

/* The first block of records is for so many EVs. */
#define FAULTS_MIN 4u
/* An EV flaps when it is retired within so many of the longest probe intervals after its return. */
#define FLAP_INTERVALS 16u

static size_t bits_size(uint16_t n_evs)
{
	return (n_evs + 63u) / 64u * sizeof(struct mt_ev_bits);
}

size_t mt_ev_set_size(uint16_t n_evs, uint32_t n_ports)
{
	size_t ports = n_ports * (sizeof(struct mt_peer_port) + sizeof(uint64_t) +
				  sizeof(struct mt_ev_set_port));

	return sizeof(struct mt_ev_set) + bits_size(n_evs) + ((ports + 7) & ~(size_t)7);
}

static void init_evs(struct mt_ev_set *s)
{
	for (uint16_t i = 0; i < s->n_evs; i++)
		s->bits[i / 64].usable |= UINT64_C(1) << i % 64u;
	for (uint32_t p = 0; p < s->n_ports; p++)
		s->ports[p] = (struct mt_ev_set_port){
			.usable = s->shared->ports[p].count,
			.reverse_ev = MT_EV_NONE,
		};
}

struct mt_ev_set *mt_ev_set_init(void *mem, struct mt_ev_shared *shared, const struct rd_gid *peer,
				 struct mb_pool *pool)
{
	struct mt_ev_set *s = mem;
	uint16_t n = shared->n_evs;
	uint8_t *at = (uint8_t *)mem + sizeof(*s) + bits_size(n);

	memset(mem, 0, mt_ev_set_size(n, shared->n_ports));
	s->shared = shared;
	shared->refs++;
	s->order = shared->places;
	s->pool = pool;
	mt_peer_ports_init(&s->peer_ports, (struct mt_peer_port *)(void *)at, shared->n_ports);
	s->proved_ns = (uint64_t *)(void *)(at + shared->n_ports * sizeof(struct mt_peer_port));
	s->ports = (struct mt_ev_set_port *)(void *)(s->proved_ns + shared->n_ports);
	mb_link_init(&s->peers);
	mb_link_init(&s->link);
	mb_link_init(&s->probe_turn);
	mb_link_init(&s->users);
	mb_timer_init(&s->timer);
	mt_reorder_init(&s->reorder, n);
	s->peer = *peer;
	s->trial = MT_EV_NONE;
	s->n_evs = s->n_usable = s->n_unheard = n;
	s->n_ports = shared->n_ports;
	s->open_ports = UINT32_MAX;
	s->stretch = 1;
	init_evs(s);
	return s;
}

void mt_ev_set_fini(struct mt_ev_set *s)
{
	mb_assert(s->refs == 0 && mb_link_is_empty(&s->users) && s->shared->refs > 0);
	mb_pool_put(s->pool, s->faults, s->faults_room * sizeof(*s->faults));
	mb_pool_put(s->pool, s->own_places, mt_ev_places_size(s->shared));
	s->faults = NULL;
	s->own_places = NULL;
	s->shared->refs--;
}

/* ---- records of EVs in trouble, in the order of EVs ---- */

static void add_fault(struct mt_ev_set *s, uint16_t ev)
{
	uint32_t at = mt_ev_fault_rank(s, ev);

	mb_assert(s->n_faults < s->faults_room && at <= s->n_faults);
	memmove(s->faults + at + 1, s->faults + at, (s->n_faults - at) * sizeof(*s->faults));
	s->faults[at] = (struct mt_ev_fault){.ev = ev, .next_probe_ns = MB_NEVER};
	s->n_faults++;
	s->bits[ev / 64].fault |= UINT64_C(1) << ev % 64u;
}

void mt_ev_set_add_faults(struct mt_ev_set *s, void *mem)
{
	mb_assert(!s->faults && mem);
	s->faults = mem;
	s->faults_room = s->n_evs;
	for (uint16_t i = 0; i < s->n_evs; i++)
		add_fault(s, i);
}

bool mt_ev_may_flap(const struct mt_ev_set *s, const struct mt_ev_fault *f, uint64_t now_ns)
{
	return f->revived > 0 &&
	       now_ns - f->revived_ns <= FLAP_INTERVALS * s->shared->probe_interval_max_ns;
}

/* Whether a record says no more than that there is none. */
static bool is_over(const struct mt_ev_set *s, const struct mt_ev_fault *f, uint64_t now_ns)
{
	return mt_ev_is_usable(s, f->ev) && f->ev != s->trial && f->overload_losses == 0 &&
	       !mt_ev_may_flap(s, f, now_ns);
}

static void drop_over(struct mt_ev_set *s, uint64_t now_ns)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < s->n_faults; i++) {
		struct mt_ev_fault f = s->faults[i];

		if (is_over(s, &f, now_ns))
			s->bits[f.ev / 64].fault &= ~(UINT64_C(1) << f.ev % 64u);
		else
			s->faults[kept++] = f;
	}
	s->n_faults = kept;
}

/* Room for one more record: that of one which is over, else twice as much as before. */
static bool make_room(struct mt_ev_set *s, uint64_t now_ns)
{
	uint32_t room = s->faults_room ? 2u * s->faults_room : FAULTS_MIN;
	struct mt_ev_fault *more;

	drop_over(s, now_ns);
	if (s->n_faults < s->faults_room)
		return true;
	room = room < s->n_evs ? room : s->n_evs;
	more = mb_pool_get(s->pool, room * sizeof(*more));
	if (!more)
		return false;
	if (s->faults)
		memcpy(more, s->faults, s->n_faults * sizeof(*more));
	mb_pool_put(s->pool, s->faults, s->faults_room * sizeof(*more));
	s->faults = more;
	s->faults_room = (uint16_t)room;
	return true;
}

struct mt_ev_fault *mt_ev_get_fault(struct mt_ev_set *s, uint16_t ev, uint64_t now_ns)
{
	struct mt_ev_fault *f = mt_ev_fault(s, ev);

	if (f)
		return f;
	if (s->n_faults == s->faults_room && !make_room(s, now_ns))
		return NULL;
	add_fault(s, ev);
	return mt_ev_fault(s, ev);
}

/* ---- places ---- */

bool mt_ev_set_own_places(struct mt_ev_set *s)
{
	size_t size = mt_ev_places_size(s->shared);

	if (s->own_places || !(s->shared->has_backups || s->shared->groups))
		return true;
	s->own_places = mb_pool_get(s->pool, size);
	if (!s->own_places)
		return false;
	s->order = memcpy(s->own_places, s->shared->places, size);
	return true;
}
