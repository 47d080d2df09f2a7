/* SPDX-License-Identifier: BSD-2-Clause */
/* prom_evidence.c - see prom_evidence.h. */
#include "cli/map/prom_evidence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "map/route_text.h"

#define PROBE_NS UINT64_C(10000000)
/* All is said at one moment, at which the map begins; its clock has no other meaning. */
#define BEGIN_NS UINT64_C(1000000000)
/* Counts of a route in a window have 16 bits. */
#define COUNT_MAX 60000u
#define VALUE_MAX 1e12

int prom_evidence_init(struct prom_evidence *e, const struct mf_topology *t)
{
	uint64_t routes = (uint64_t)t->n_hosts * PROM_HOST_ROUTES_MAX;
	uint32_t room = routes < PROM_ROUTES_MAX ? (uint32_t)routes : PROM_ROUTES_MAX;
	const struct mm_cfg cfg = mm_cfg_default(t, room, PROBE_NS);
	void *memory = malloc(mm_map_bytes(&cfg, t));

	*e = (struct prom_evidence){
		.t = t,
		.route = calloc(room, sizeof(*e->route)),
		.host = calloc(t->n_hosts, sizeof(*e->host)),
		.plain = calloc((size_t)t->n_hosts * t->cfg.planes, sizeof(*e->plain)),
		.room = room,
		.now_ns = BEGIN_NS};
	if (!memory || !e->route || !e->host || !e->plain) {
		free(memory);
		prom_evidence_fini(e);
		return ENOMEM;
	}
	e->map = mm_map_init(memory, &cfg, t);
	return 0;
}

void prom_evidence_fini(struct prom_evidence *e)
{
	free(e->map);
	free(e->route);
	free(e->host);
	free(e->plain);
}

/* ---- one series ---- */

static const char *label(const json_t *series, const char *name)
{
	const char *text =
		json_string_value(json_object_get(json_object_get(series, "metric"), name));

	return text ? text : "";
}

/* What it counts now; false: nothing that a counter has. */
static bool value_of(const json_t *series, uint64_t *out)
{
	const char *text = json_string_value(json_array_get(json_object_get(series, "value"), 1));
	char *end;
	double value = text ? strtod(text, &end) : -1;

	if (!text || *end || !(value >= 0 && value <= VALUE_MAX))
		return false;
	*out = (uint64_t)(value + 0.5);
	return true;
}

/* "PREFIX7" */
static bool number_of(const json_t *series, const char *name, const char *prefix, uint32_t max,
		      uint32_t *out)
{
	const char *text = label(series, name);
	size_t n = strlen(prefix),
	       digits = strncmp(text, prefix, n) == 0 ? strspn(text + n, "0123456789") : 0;

	if (digits == 0 || digits > 9 || text[n + digits])
		return false;
	*out = (uint32_t)strtoul(text + n, NULL, 10);
	return *out < max;
}

static bool place_of(const struct prom_evidence *e, const json_t *series, uint32_t *host,
		     uint32_t *plane)
{
	return number_of(series, "host", "host", e->t->n_hosts, host) &&
	       number_of(series, "plane", "", e->t->cfg.planes, plane);
}

/* A host's list of routes is looked through for each of its series. */
static bool has_room(struct prom_host *host, bool bad)
{
	if (bad)
		return host->bad < PROM_HOST_ROUTES_MAX * MM_SYMPTOMS && ++host->bad;
	return host->probes < PROM_HOST_ROUTES_MAX && ++host->probes;
}

/* The route of a series in the map; MM_NO_ROUTE: there is none, or no room for its host. */
static uint32_t route_of(struct prom_evidence *e, const json_t *series, bool bad)
{
	struct mm_route_labels l = {.kind = label(series, "kind")};
	struct mm_route_of of;
	uint32_t route;

	if (strlen(label(series, "via")) >= sizeof(l.via) ||
	    !place_of(e, series, &l.host, &l.plane) ||
	    !number_of(series, "t0", "t0-", e->t->n_t0s, &l.t0))
		return MM_NO_ROUTE;
	snprintf(l.via, sizeof(l.via), "%s", label(series, "via"));
	if (!mm_route_read(e->t, &l, &of) || !has_room(&e->host[l.host], bad))
		return MM_NO_ROUTE;
	route = mm_map_route(e->map, &of, e->now_ns);
	if (route != MM_NO_ROUTE)
		e->route[route].witness = l.host;
	return route;
}

/* ---- all of them ---- */

void prom_evidence_probes(struct prom_evidence *e, const json_t *list)
{
	const json_t *series;
	size_t i;

	json_array_foreach(list, i, series)
	{
		uint32_t route = route_of(e, series, false);
		uint64_t value;

		if (route == MM_NO_ROUTE || !value_of(series, &value)) {
			e->left_out++;
			continue;
		}
		e->routes += e->route[route].counts.known[MM_LOST] == 0 && value > 0;
		e->route[route].counts.known[MM_LOST] =
			value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
		e->probes += value;
	}
}

static bool symptom_of(const json_t *series, enum mm_symptom *s)
{
	for (*s = 0; *s < MM_SYMPTOMS; ++*s)
		if (strcmp(label(series, "symptom"), mm_symptom_name(*s)) == 0)
			return true;
	return false;
}

void prom_evidence_bad(struct prom_evidence *e, const json_t *list)
{
	const json_t *series;
	size_t i;

	json_array_foreach(list, i, series)
	{
		uint32_t route = route_of(e, series, true), known;
		enum mm_symptom s;
		uint64_t value;

		if (route == MM_NO_ROUTE || !value_of(series, &value) || !symptom_of(series, &s)) {
			e->left_out++;
			continue;
		}
		/* Both are estimates of what was counted between scrapes. */
		known = e->route[route].counts.known[MM_LOST];
		e->route[route].counts.bad[s] = value < known ? (uint32_t)value : known;
		e->lost += s == MM_LOST ? e->route[route].counts.bad[s] : 0;
	}
}

typedef bool report_place(struct mm_map *map, uint32_t host, uint32_t plane, uint32_t of,
			  uint64_t now_ns);

/*
 * What probes of a host and plane met is named in `of`: the prefix, then which of n, each of so
 * many hosts. The map is told the first host of that one.
 */
static void take_places(struct prom_evidence *e, const json_t *list, const char *prefix, uint32_t n,
			uint32_t hosts_each, report_place *report)
{
	const json_t *series;
	size_t i;

	json_array_foreach(list, i, series)
	{
		uint32_t host, plane, of;
		uint64_t times;

		if (!place_of(e, series, &host, &plane) || !value_of(series, &times) ||
		    !number_of(series, "of", prefix, n, &of))
			e->left_out++;
		else if (times)
			report(e->map, host, plane, of * hosts_each, e->now_ns);
	}
}

void prom_evidence_strays(struct prom_evidence *e, const json_t *list)
{
	take_places(e, list, "host", e->t->n_hosts, 1, mm_map_stray);
}

void prom_evidence_loops(struct prom_evidence *e, const json_t *list)
{
	take_places(e, list, "t0-", e->t->n_t0s, e->t->cfg.hosts_per_t0, mm_map_loop);
}

/* Of a host and plane; of two such series the last one counts. */
static void take_plain(struct prom_evidence *e, const json_t *list, bool lost)
{
	const json_t *series;
	size_t i;

	json_array_foreach(list, i, series)
	{
		uint32_t host, plane;
		struct prom_plain *p;
		uint64_t n;

		if (!place_of(e, series, &host, &plane) || !value_of(series, &n)) {
			e->left_out++;
			continue;
		}
		p = &e->plain[(size_t)host * e->t->cfg.planes + plane];
		*(lost ? &p->lost : &p->sent) = n;
	}
}

void prom_evidence_plain_sent(struct prom_evidence *e, const json_t *list)
{
	take_plain(e, list, false);
}

void prom_evidence_plain_lost(struct prom_evidence *e, const json_t *list)
{
	take_plain(e, list, true);
}

/* ---- the judgement ---- */

/* So many of `all`, as so many of at most COUNT_MAX: shares stay as they are. */
static uint32_t scaled(uint64_t n, uint64_t all)
{
	return (uint32_t)(all <= COUNT_MAX ? n : n * COUNT_MAX / all);
}

/* Lost packets are not known to be anything else. */
static struct mm_counts scaled_counts(const struct mm_counts *c)
{
	uint64_t all = c->known[MM_LOST];
	struct mm_counts out;

	for (enum mm_symptom s = 0; s < MM_SYMPTOMS; s++) {
		uint64_t known = s == MM_LOST ? all : all - c->bad[MM_LOST];

		out.known[s] = scaled(known, all);
		out.bad[s] = scaled(c->bad[s] < known ? c->bad[s] : known, all);
	}
	return out;
}

static void add_plain(struct prom_evidence *e)
{
	for (uint32_t host = 0; host < e->t->n_hosts; host++) {
		for (uint32_t plane = 0; plane < e->t->cfg.planes; plane++) {
			const struct prom_plain *p =
				&e->plain[(size_t)host * e->t->cfg.planes + plane];
			uint64_t lost = p->lost < p->sent ? p->lost : p->sent;

			if (p->sent)
				mm_map_plain(e->map, host, plane, scaled(p->sent, p->sent),
					     scaled(lost, p->sent), e->now_ns);
		}
	}
}

size_t prom_evidence_judge(struct prom_evidence *e, struct mm_sick *sick, size_t max)
{
	struct mm_cfg cfg = mm_cfg_default(e->t, e->room, PROBE_NS);

	for (uint32_t i = 0; i < e->room; i++) {
		struct mm_counts c = scaled_counts(&e->route[i].counts);

		if (c.known[MM_LOST])
			mm_map_add(e->map, i, e->route[i].witness, &c, e->now_ns);
	}
	add_plain(e);
	/* What is seen once is kept back; so it is seen twice. */
	mm_map_judge(e->map, e->now_ns, sick, max);
	e->now_ns += cfg.settle_ns;
	return mm_map_judge(e->map, e->now_ns, sick, max);
}
