/* SPDX-License-Identifier: BSD-2-Clause */
/* peer_port.c - the states of a peer's ports, moved by what it says and by probes. */
#include "core/ev/ev_set.h"

#include "base/assert.h"
#include "core/types.h"

/* One probe may be lost by chance, and three in a row hardly. */
#define CONFIRM_PROBES 3u
#define DOUBLINGS_MAX 32u

void mt_peer_ports_init(struct mt_peer_ports *p, struct mt_peer_port *planes, uint32_t n)
{
	mb_assert(n > 0 && n <= MT_PORTS_MAX);
	*p = (struct mt_peer_ports){.n = n, .port = planes};
	for (uint32_t i = 0; i < n; i++)
		planes[i] = (struct mt_peer_port){.probe_due_ns = UINT64_MAX};
}

static void set_port_state(struct mt_peer_ports *p, uint32_t i, bool suspect, bool left,
			   uint64_t now_ns)
{
	uint32_t bit = 1u << i;

	mb_assert(i < p->n && !(suspect && left));
	p->suspect = (p->suspect & ~bit) | (suspect ? bit : 0);
	p->abandoned = (p->abandoned & ~bit) | (left ? bit : 0);
	p->port[i].since_ns = now_ns;
	if (!suspect && !left)
		p->port[i].probe_due_ns = UINT64_MAX;
}

/* REQ(ep.port.suspicion) REQ(ep.port.word-limit) */
void mt_peer_ports_status(struct mt_peer_ports *p, uint32_t up, const struct mt_peer_port_timing *w,
			  uint64_t now_ns)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct mt_peer_port *plane = &p->port[i];
		bool suspect = p->suspect >> i & 1, left = p->abandoned >> i & 1;
		bool says_up = up >> i & 1;

		if (suspect && says_up)
			set_port_state(p, i, false, false, now_ns);
		if (suspect || says_up != left || now_ns < plane->holdoff_until_ns)
			continue;
		plane->holdoff_until_ns = now_ns + w->interval_ns;
		plane->probe_due_ns = now_ns;
		plane->probes = 0;
		if (!left)
			set_port_state(p, i, true, false, now_ns);
	}
}

uint64_t mt_peer_ports_deadline(const struct mt_peer_ports *p)
{
	uint64_t first = UINT64_MAX;

	mb_assert((p->suspect & p->abandoned) == 0);
	if ((p->suspect | p->abandoned) == 0)
		return first;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->port[i].probe_due_ns < first)
			first = p->port[i].probe_due_ns;
	return first;
}

static uint64_t probe_gap(const struct mt_peer_port *plane, const struct mt_peer_port_timing *w)
{
	uint64_t wait = w->interval_ns;

	if (plane->probes <= CONFIRM_PROBES)
		return w->answer_ns;
	for (uint32_t n = CONFIRM_PROBES + 1; n < plane->probes && n < DOUBLINGS_MAX; n++)
		wait = wait < w->interval_max_ns ? 2 * wait : wait;
	if (wait > w->interval_max_ns)
		wait = w->interval_max_ns;
	return wait > w->answer_ns ? wait : w->answer_ns;
}

uint8_t mt_peer_ports_next_probe(struct mt_peer_ports *p, const struct mt_peer_port_timing *w,
				 uint64_t now_ns, bool *leave)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct mt_peer_port *plane = &p->port[i];

		if (plane->probe_due_ns > now_ns)
			continue;
		*leave = p->suspect >> i & 1 && plane->probes >= CONFIRM_PROBES;
		if (plane->probes < UINT8_MAX)
			plane->probes++;
		plane->probe_due_ns = now_ns + probe_gap(plane, w);
		return (uint8_t)i;
	}
	return MT_PLANE_NONE;
}

void mt_peer_ports_postpone(struct mt_peer_ports *p, uint32_t plane, uint64_t until_ns)
{
	mb_assert(plane < p->n && until_ns != UINT64_MAX);
	if (p->port[plane].probes > 0)
		p->port[plane].probes--;
	p->port[plane].probe_due_ns = until_ns;
}

void mt_peer_ports_abandon(struct mt_peer_ports *p, uint32_t plane, uint64_t now_ns)
{
	mb_assert(p->suspect >> plane & 1);
	set_port_state(p, plane, false, true, now_ns);
}

bool mt_peer_ports_answered(struct mt_peer_ports *p, uint32_t plane, uint64_t sent_ns,
			    uint64_t now_ns)
{
	uint32_t bit = 1u << plane;
	bool left = p->abandoned & bit;

	mb_assert(plane < p->n);
	if (((p->suspect | p->abandoned) & bit) == 0 || sent_ns < p->port[plane].since_ns)
		return false;
	set_port_state(p, plane, false, false, now_ns);
	if (left)
		p->port[plane].restored_ns = now_ns;
	return left;
}

/* REQ(ep.port.not-attributed) */
bool mt_peer_ports_may_have_lost(const struct mt_peer_ports *p, uint32_t plane, uint64_t sent_ns)
{
	mb_assert(plane < p->n);
	return (p->suspect | p->abandoned) >> plane & 1 || sent_ns < p->port[plane].restored_ns;
}
