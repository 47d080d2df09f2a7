/* SPDX-License-Identifier: BSD-2-Clause */
/* Adding up statistics segments: see measure.h. */
#include "demo/measure.h"

#include "demo/demo.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

/* The name of a counter and where it goes in struct demo_counters. */
static const struct {
	const char *name;
	size_t offset;
} wanted[] = {
#define DEMO_COUNTER_ROW(name) {#name, offsetof(struct demo_counters, name)},
	DEMO_COUNTERS(DEMO_COUNTER_ROW)
#undef DEMO_COUNTER_ROW
};

#define WANTED (sizeof(wanted) / sizeof(wanted[0]))

static void add_counters(struct demo_sums *sums, const struct mrc_stats_segment *s)
{
	for (size_t i = 0; i < WANTED; i++) {
		uint64_t *to = (uint64_t *)(void *)((uint8_t *)&sums->counters + wanted[i].offset);

		*to += stats_counter(s, wanted[i].name);
	}
}

static void add_ev(struct demo_sums *sums, const struct mrc_stats_ev *ev, uint32_t paths)
{
	uint32_t path = ev->value % paths;
	struct demo_path_state *state;

	if (ev->port >= DEMO_PLANES_MAX || path >= DEMO_PATHS_MAX)
		return;
	state = &sums->path[ev->port][path];
	if (ev->state == MRC_STATS_EV_GOOD)
		state->good++;
	else if (ev->state == MRC_STATS_EV_SKIP)
		state->skip++;
	else
		state->bad++;
}

static void add_segment(struct demo_sums *sums, const struct mrc_stats_segment *s, uint32_t paths)
{
	add_counters(sums, s);
	for (uint32_t p = 0; p < DEMO_PLANES_MAX && p < s->ports; p++) {
		sums->tx_bytes[p] += s->port[p].tx_bytes;
		sums->overruns += s->port[p].rx_overruns;
	}
	for (uint32_t q = 0; q < MRC_STATS_QPS; q++) {
		const struct mrc_stats_qp *qp = &s->qp[q];

		if (!qp->qpn)
			continue;
		for (uint32_t i = 0; i < qp->evs && i < MRC_STATS_EVS; i++)
			add_ev(sums, &qp->ev[i], paths);
	}
}

void demo_counters_sum(const struct stats_reader *r, uint32_t paths, struct demo_sums *sums)
{
	*sums = (struct demo_sums){0};
	for (uint32_t i = 0; i < r->n; i++)
		add_segment(sums, r->process[i].now, paths);
}

/* A target that names no plane, as that of a host, may be on any path. */
static bool is_hit(const struct demo_fault *f, uint32_t plane, uint32_t path)
{
	for (uint32_t i = 0; i < f->targets; i++) {
		uint32_t p = plane, t1 = path;

		(void)sscanf(f->target[i], "plane%" SCNu32 ".t1-%" SCNu32, &p, &t1);
		if (p == plane && t1 == path)
			return true;
	}
	return false;
}

uint64_t demo_sums_out(const struct demo_sums *sums, const struct demo_fault *f)
{
	const struct demo_counters *c = &sums->counters;
	/* They are read one after the other while they count. */
	uint64_t n =
		c->uplinks_left > c->uplinks_restored ? c->uplinks_left - c->uplinks_restored : 0;

	for (uint32_t p = 0; p < DEMO_PLANES_MAX; p++)
		for (uint32_t i = 0; i < DEMO_PATHS_MAX; i++)
			n += is_hit(f, p, i) ? sums->path[p][i].bad : 0;
	return n;
}

const char *demo_counters_missing(const struct stats_reader *r)
{
	for (size_t i = 0; i < WANTED; i++)
		for (uint32_t p = 0; p < r->n; p++)
			if (!stats_counter_find(r->process[p].now, wanted[i].name))
				return wanted[i].name;
	return NULL;
}

struct demo_counters demo_counters_difference(const struct demo_counters *later,
					      const struct demo_counters *earlier)
{
	struct demo_counters d;

#define DEMO_COUNTER_MINUS(name) d.name = later->name - earlier->name;
	DEMO_COUNTERS(DEMO_COUNTER_MINUS)
#undef DEMO_COUNTER_MINUS
	return d;
}
