/* SPDX-License-Identifier: BSD-2-Clause */
/* probe_evidence.c - see probe_evidence.h. */
#include "prober/probe_evidence.h"

#include <string.h>

void probe_evidence_init(struct probe_evidence *e)
{
	memset(e, 0, sizeof(*e));
	e->step = 1;
}

void probe_evidence_step(struct probe_evidence *e)
{
	struct probe_evidence_route *r = &e->route[e->step % PROBE_EVIDENCE_ROUTES];

	/* One place a step: all of them within ten seconds. */
	if (r->step && e->step - r->step > PROBE_EVIDENCE_KEPT_STEPS)
		r->step = 0;
	for (uint32_t s = 0; s < MM_SYMPTOMS; s++)
		if (e->step - r->bad_step[s] > PROBE_EVIDENCE_BAD_KEPT_STEPS)
			r->bad[s] = 0;
	e->step++;
}

static bool same(const struct mm_route_of *a, const struct mm_route_of *b)
{
	return a->links == b->links && memcmp(a->link, b->link, a->links * sizeof(a->link[0])) == 0;
}

static struct probe_evidence_route *find(struct probe_evidence *e, const struct mm_route_of *of,
					 uint32_t memo)
{
	struct probe_evidence_route *free_one = NULL;

	if (memo < PROBE_EVIDENCE_ROUTES && e->route[memo].step && same(&e->route[memo].of, of))
		return &e->route[memo];
	for (uint32_t i = 0; i < PROBE_EVIDENCE_ROUTES; i++) {
		struct probe_evidence_route *r = &e->route[i];

		if (r->step && same(&r->of, of))
			return r;
		if (!r->step && !free_one)
			free_one = r;
	}
	if (free_one)
		*free_one = (struct probe_evidence_route){.of = *of};
	return free_one;
}

void probe_evidence_route(struct probe_evidence *e, const struct mm_route_of *of, uint32_t *memo,
			  const struct mm_counts *counts)
{
	struct probe_evidence_route *r = find(e, of, *memo);

	if (!r) {
		e->left_out++;
		return;
	}
	*memo = (uint32_t)(r - e->route);
	r->step = e->step;
	r->known += counts->known[MM_LOST];
	for (uint32_t s = 0; s < MM_SYMPTOMS; s++) {
		r->bad[s] += counts->bad[s];
		if (counts->bad[s])
			r->bad_step[s] = e->step;
	}
}

void probe_evidence_plain(struct probe_evidence *e, uint32_t plane, uint32_t sent, uint32_t lost)
{
	if (plane >= MF_PLANES_MAX)
		return;
	e->plain[plane].sent += sent;
	e->plain[plane].lost += lost;
}

static void see(struct probe_evidence *e, struct probe_evidence_seen *seen, uint32_t plane,
		uint32_t about)
{
	for (uint32_t i = 0; i < PROBE_EVIDENCE_SEEN; i++) {
		if (seen[i].times && (seen[i].plane != plane || seen[i].about != about))
			continue;
		seen[i].plane = plane;
		seen[i].about = about;
		seen[i].times++;
		return;
	}
	e->left_out++;
}

void probe_evidence_stray(struct probe_evidence *e, uint32_t plane, uint32_t host)
{
	see(e, e->stray, plane, host);
}

void probe_evidence_loop(struct probe_evidence *e, uint32_t plane, uint32_t t0)
{
	see(e, e->loop, plane, t0);
}
