/* SPDX-License-Identifier: BSD-2-Clause */
/* prom_map.c - what is asked of a Prometheus for a map: see prom_evidence.h. */
#include "cli/map/prom_evidence.h"

#include <inttypes.h>
#include <stdio.h>

#define S_NS UINT64_C(1000000000)

struct asked {
	struct prom *prom;
	struct prom_evidence *evidence;
	uint64_t range_s;
	char *why;
};

/*
 * Asks for one list and has it taken. Lists are dropped at once: of a large fabric, or of a hostile
 * server, each is larger than all that is made of it.
 */
static bool ask_for(const struct asked *a, const char *query,
		    void (*take)(struct prom_evidence *e, const json_t *list))
{
	json_t *list = prom_query(a->prom, query, a->why);

	if (!list)
		return false;
	take(a->evidence, list);
	json_decref(list);
	return true;
}

static bool ask(const struct asked *a, const char *by, const char *metric, const char *more,
		void (*take)(struct prom_evidence *e, const json_t *list))
{
	char query[400];

	snprintf(query, sizeof(query), "sum by (%s) (increase(softmrc_%s[%" PRIu64 "s]))%s", by,
		 metric, a->range_s, more);
	return ask_for(a, query, take);
}

/*
 * A series of these begins with what is wrong, which increase() does not see. So where it sees
 * nothing, all is new of a series that was not there before, of a host that was.
 */
static bool ask_bad(const struct asked *a, const char *by, const char *metric)
{
	char query[512];

	snprintf(query, sizeof(query),
		 "sum by (%s) (increase(softmrc_%s[%" PRIu64 "s]) > 0 or "
		 "max_over_time(softmrc_%s[%" PRIu64 "s]) unless softmrc_%s offset %" PRIu64
		 "s and on (instance, job) softmrc_map_routes offset %" PRIu64 "s) > 0",
		 by, metric, a->range_s, metric, a->range_s, metric, a->range_s, a->range_s);
	return ask_for(a, query, prom_evidence_bad);
}

#define ROUTE "host, plane, t0, kind, via"

/* A plane at a time: an answer about all is too long. */
static bool ask_plane(const struct asked *a, uint32_t plane)
{
	char probes[64], bad[64];

	snprintf(probes, sizeof(probes), "map_probes_total{plane=\"%" PRIu32 "\"}", plane);
	snprintf(bad, sizeof(bad), "map_bad_total{plane=\"%" PRIu32 "\"}", plane);
	return ask(a, ROUTE, probes, "", prom_evidence_probes) &&
	       ask_bad(a, ROUTE ", symptom", bad);
}

static bool ask_all(const struct asked *a, uint32_t planes)
{
	for (uint32_t plane = 0; plane < planes; plane++)
		if (!ask_plane(a, plane))
			return false;
	if (!a->evidence->routes) {
		snprintf(a->why, PROM_WHY_BYTES,
			 "it has no softmrc_map_probes_total of this fabric from the last %" PRIu64
			 " s: does it scrape an mrcd with a [map]?",
			 a->range_s);
		return false;
	}
	return ask(a, "host, plane, of", "map_strays_total", " > 0", prom_evidence_strays) &&
	       ask(a, "host, plane, of", "map_loops_total", " > 0", prom_evidence_loops) &&
	       ask(a, "host, plane", "map_plain_sent_total", "", prom_evidence_plain_sent) &&
	       ask(a, "host, plane", "map_plain_lost_total", "", prom_evidence_plain_lost);
}

static void judge(struct prom_evidence *e, uint64_t range_s, struct map_result *r)
{
	struct mm_sick sick[MAP_SICK_MAX];
	size_t n = prom_evidence_judge(e, sick, MAP_SICK_MAX);

	map_result_take(r, sick, n, e->now_ns);
	r->silent = mm_map_silent(e->map, e->now_ns);
	r->left_out = e->left_out;
	r->range_s = range_s;
	r->figures = (struct prober_figures){
		.hosts = e->t->n_hosts, .routes = e->routes, .sent = e->probes, .lost = e->lost};
}

bool prom_map(const char *url, uint64_t range_ns, struct map_result *r, char why[PROM_WHY_BYTES])
{
	struct prom_evidence e;
	struct asked a = {.evidence = &e, .range_s = range_ns / S_NS, .why = why};
	bool good;

	if (prom_evidence_init(&e, r->t)) {
		snprintf(why, PROM_WHY_BYTES, "no memory for the routes of %" PRIu32 " hosts",
			 r->t->n_hosts);
		return false;
	}
	a.prom = prom_open(url, why);
	good = a.prom && ask_all(&a, r->t->cfg.planes);
	prom_close(a.prom);
	if (good)
		judge(&e, a.range_s, r);
	prom_evidence_fini(&e);
	return good;
}
