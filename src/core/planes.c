/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/planes.h"

#include "base/assert.h"

/* One probe may be lost by chance, and three in a row hardly. */
#define CONFIRM_PROBES 3u
#define DOUBLINGS_MAX 32u

void mt_planes_init(struct mt_planes *p, struct mt_plane *planes, uint32_t n)
{
	*p = (struct mt_planes){.n = n, .plane = planes};
	for (uint32_t i = 0; i < n; i++)
		planes[i] = (struct mt_plane){.due_ns = UINT64_MAX};
}

static void enter(struct mt_planes *p, uint32_t i, bool suspect, bool left, uint64_t now_ns)
{
	uint32_t bit = 1u << i;

	p->suspect = (p->suspect & ~bit) | (suspect ? bit : 0);
	p->left = (p->left & ~bit) | (left ? bit : 0);
	p->plane[i].since_ns = now_ns;
	if (!suspect && !left)
		p->plane[i].due_ns = UINT64_MAX;
}

/* REQ(ep.port.suspicion) REQ(ep.port.word-limit) */
void mt_planes_told(struct mt_planes *p, uint32_t up, const struct mt_planes_wait *w,
		    uint64_t now_ns)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct mt_plane *plane = &p->plane[i];
		bool suspect = p->suspect >> i & 1, left = p->left >> i & 1;
		bool says_up = up >> i & 1;

		if (suspect && says_up)
			enter(p, i, false, false, now_ns);
		if (suspect || says_up != left || now_ns < plane->calm_ns)
			continue;
		plane->calm_ns = now_ns + w->interval_ns;
		plane->due_ns = now_ns;
		plane->probes = 0;
		if (!left)
			enter(p, i, true, false, now_ns);
	}
}

uint64_t mt_planes_deadline(const struct mt_planes *p)
{
	uint64_t first = UINT64_MAX;

	if ((p->suspect | p->left) == 0)
		return first;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->plane[i].due_ns < first)
			first = p->plane[i].due_ns;
	return first;
}

static uint64_t gap(const struct mt_plane *plane, const struct mt_planes_wait *w)
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

uint8_t mt_planes_next_probe(struct mt_planes *p, const struct mt_planes_wait *w, uint64_t now_ns,
			     bool *leave)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct mt_plane *plane = &p->plane[i];

		if (plane->due_ns > now_ns)
			continue;
		*leave = p->suspect >> i & 1 && plane->probes >= CONFIRM_PROBES;
		if (plane->probes < UINT8_MAX)
			plane->probes++;
		plane->due_ns = now_ns + gap(plane, w);
		return (uint8_t)i;
	}
	return MT_PLANE_NONE;
}

void mt_planes_postpone(struct mt_planes *p, uint32_t plane, uint64_t until_ns)
{
	if (p->plane[plane].probes > 0)
		p->plane[plane].probes--;
	p->plane[plane].due_ns = until_ns;
}

void mt_planes_leave(struct mt_planes *p, uint32_t plane, uint64_t now_ns)
{
	mb_assert(p->suspect >> plane & 1);
	enter(p, plane, false, true, now_ns);
}

bool mt_planes_alive(struct mt_planes *p, uint32_t plane, uint64_t sent_ns, uint64_t now_ns)
{
	uint32_t bit = 1u << plane;
	bool left = p->left & bit;

	if (((p->suspect | p->left) & bit) == 0 || sent_ns < p->plane[plane].since_ns)
		return false;
	enter(p, plane, false, false, now_ns);
	if (left)
		p->plane[plane].back_ns = now_ns;
	return left;
}

/* REQ(ep.port.no-blame) */
bool mt_planes_blameless(const struct mt_planes *p, uint32_t plane, uint64_t sent_ns)
{
	return (p->suspect | p->left) >> plane & 1 || sent_ns < p->plane[plane].back_ns;
}
