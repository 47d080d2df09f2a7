/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths and their figures: see ping.h. */
#include "cli/ping/ping.h"

#include <stdlib.h>
#include <string.h>

static uint32_t value_of(const struct mrc_ctl_ev *ev)
{
	uint32_t value;

	memcpy(&value, ev->val, sizeof(value));
	return value;
}

uint32_t ping_path_value(const struct ping_path *path)
{
	return value_of(&path->ev);
}

int ping_paths_make(struct ping_paths *p, uint32_t hosts, const struct mrc_ctl_ev *evs, size_t n,
		    int64_t plane, int64_t value)
{
	*p = (struct ping_paths){.path = calloc((size_t)hosts * n, sizeof(*p->path))};
	if (!p->path)
		return -1;
	for (uint32_t host = 0; host < hosts; host++)
		for (size_t i = 0; i < n; i++)
			if ((plane < 0 || evs[i].port == plane + 1) &&
			    (value < 0 || value_of(&evs[i]) == value))
				p->path[p->n++] = (struct ping_path){.host = host, .ev = evs[i]};
	return p->n ? 0 : -1;
}

void ping_paths_fini(struct ping_paths *p)
{
	free(p->path);
	*p = (struct ping_paths){0};
}

void ping_figure_add(struct ping_figure *f, uint64_t rtt_ns)
{
	if (!f->answered || rtt_ns < f->min_ns)
		f->min_ns = rtt_ns;
	if (rtt_ns > f->max_ns)
		f->max_ns = rtt_ns;
	f->sum_ns += rtt_ns;
	f->answered++;
}

void ping_figure_join(struct ping_figure *f, const struct ping_figure *other)
{
	if (other->answered && (!f->answered || other->min_ns < f->min_ns))
		f->min_ns = other->min_ns;
	if (other->max_ns > f->max_ns)
		f->max_ns = other->max_ns;
	f->sum_ns += other->sum_ns;
	f->sent += other->sent;
	f->answered += other->answered;
}

struct ping_figure ping_figure_host(const struct ping_paths *p, uint32_t host)
{
	struct ping_figure all = {0};

	for (size_t i = 0; i < p->n; i++)
		if (p->path[i].host == host)
			ping_figure_join(&all, &p->path[i].figure);
	return all;
}
