/* SPDX-License-Identifier: BSD-2-Clause */
/* map_result.c - what a check found: see map_verbs.h. */
#include "cli/map/map_result.h"

#include <inttypes.h>

#define NS_PER_S 1e9

static bool same(const struct mm_sick *a, const struct mm_sick *b)
{
	return a->part.kind == b->part.kind && a->part.id == b->part.id &&
	       a->part.index == b->part.index && a->part.direction == b->part.direction &&
	       a->kind == b->kind;
}

/* Those of one list that are not in another. */
static size_t missing(const struct map_finding *in, size_t n, const struct map_finding *from,
		      size_t n_from, struct map_finding *out)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		bool there = false;

		for (size_t k = 0; k < n_from && !there; k++)
			there = same(&in[i].sick, &from[k].sick);
		if (!there)
			out[found++] = in[i];
	}
	return found;
}

void map_result_take(struct map_result *r, const struct mm_sick *sick, size_t n, uint64_t now_ns)
{
	/* Zeroed for gcc, which does not see that only n of them are read. */
	struct map_finding next[MAP_SICK_MAX] = {0};

	for (size_t i = 0; i < n; i++) {
		next[i] = (struct map_finding){sick[i], now_ns - r->start_ns};
		for (size_t k = 0; k < r->n; k++)
			if (same(&r->finding[k].sick, &sick[i]))
				next[i].named_ns = r->finding[k].named_ns;
	}
	r->n_begun = missing(next, n, r->finding, r->n, r->begun);
	r->n_ended = missing(r->finding, r->n, next, n, r->ended);
	for (size_t i = 0; i < n; i++)
		r->finding[i] = next[i];
	r->n = n;
	r->now_ns = now_ns;
}

bool map_result_healthy(const struct map_result *r)
{
	return r->n == 0 && r->silent == 0;
}

void map_result_list(const struct map_result *r, struct ui_text *out)
{
	char line[MM_SICK_TEXT_BYTES];

	for (size_t i = 0; i < r->n; i++)
		ui_text_add(out, "%s\n", mm_sick_text(r->t, &r->finding[i].sick, r->now_ns, line));
}

static void show_series(const struct map_result *r, struct ui_text *out)
{
	const struct prober_figures *f = &r->figures;

	if (r->left_out)
		ui_text_add(out,
			    "%" PRIu32 " series are of no route of this fabric, or no counts\n",
			    r->left_out);
	ui_text_add(out,
		    "prometheus: %s; %" PRIu64 " probes, %" PRIu64 " lost, %" PRIu32
		    " routes of %" PRIu32 " hosts in %" PRIu64 " s\n",
		    map_result_healthy(r) ? "healthy" : "sick", f->sent, f->lost, f->routes,
		    f->hosts, r->range_s);
}

void map_result_show(const struct map_result *r, struct ui_text *out)
{
	const struct prober_figures *f = &r->figures;
	char rate[UI_UNITS_MAX], interval[UI_UNITS_MAX];

	map_result_list(r, out);
	if (r->silent)
		ui_text_add(out, "%" PRIu32 " of %" PRIu32 " hosts not heard of\n", r->silent,
			    f->hosts);
	if (!r->lab) {
		show_series(r, out);
		return;
	}
	ui_text_add(out,
		    "lab %s: %s; %" PRIu64 " probes, %" PRIu64 " lost, %" PRIu64 " forged, %" PRIu64
		    " replayed; %" PRIu32 " routes of %" PRIu32
		    " hosts, two probes every %s, %s a host at most\n",
		    r->lab, map_result_healthy(r) ? "healthy" : "sick", f->sent, f->lost,
		    f->got[PROBE_FORGED], f->got[PROBE_REPLAYED], f->routes, f->hosts,
		    ui_units_time(interval, f->interval_ns), ui_units_bits(rate, (double)f->bit_s));
}

/* ---- JSON ---- */

static const char *component(enum mm_part_kind kind)
{
	static const char *const name[] = {
		[MM_CABLE] = "cable", [MM_SWITCH] = "switch", [MM_TRANSCEIVER] = "transceiver",
		[MM_HOST] = "host",   [MM_PLANE] = "plane",   [MM_WITNESS] = "host",
	};

	return name[kind];
}

static json_t *direction(const struct mm_sick *s)
{
	static const char *const name[] = {
		[MF_DIRECTION_BOTH] = "both", [MF_DIRECTION_OUT] = "out", [MF_DIRECTION_IN] = "in"};

	return s->direction_known ? json_string(name[s->part.direction]) : json_null();
}

json_t *map_result_finding_json(const struct map_result *r, const struct map_finding *f)
{
	const struct mm_sick *s = &f->sick;
	char name[MM_PART_NAME_BYTES], line[MM_SICK_TEXT_BYTES];
	json_t *json = json_pack(
		"{s:s,s:s,s:s,s:o,s:I,s:I,s:f,s:I,s:I,s:s}", "part",
		mm_part_name(r->t, &s->part, name), "component", component(s->part.kind), "kind",
		mm_kind_name(s->kind), "direction", direction(s), "since_ns",
		(json_int_t)(r->now_ns - s->since_ns), "named_ns", (json_int_t)f->named_ns, "rate",
		s->rate_ppm / 1e6, "seen_by", (json_int_t)s->for_it, "watchers",
		(json_int_t)s->watchers, "text", mm_sick_text(r->t, s, r->now_ns, line));

	if (s->kind == MM_WRONG_CABLE)
		json_object_set_new(json, "other",
				    mm_sick_has_other(s)
					    ? json_string(mm_part_name(r->t, &s->other, name))
					    : json_null());
	return json;
}

static json_t *probes_json(const struct prober_figures *f)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "routes",
			 (json_int_t)f->routes, "interval_ns", (json_int_t)f->interval_ns,
			 "host_bit_s", (json_int_t)f->bit_s, "sent", (json_int_t)f->sent, "unsent",
			 (json_int_t)f->unsent, "lost", (json_int_t)f->lost, "late",
			 (json_int_t)f->got[PROBE_LATE], "twice", (json_int_t)f->got[PROBE_TWICE],
			 "forged", (json_int_t)f->got[PROBE_FORGED], "replayed",
			 (json_int_t)f->got[PROBE_REPLAYED]);
}

static json_t *series_json(const struct map_result *r)
{
	return json_pack("{s:I,s:I,s:I,s:I}", "routes", (json_int_t)r->figures.routes, "sent",
			 (json_int_t)r->figures.sent, "lost", (json_int_t)r->figures.lost,
			 "left_out", (json_int_t)r->left_out);
}

json_t *map_result_json(const struct map_result *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->n; i++)
		json_array_append_new(list, map_result_finding_json(r, &r->finding[i]));
	return json_pack("{s:i,s:s*,s:b,s:I,s:I,s:f,s:o,s:o}", "version", 1, "lab", r->lab,
			 "healthy", map_result_healthy(r), "hosts", (json_int_t)r->figures.hosts,
			 "silent", (json_int_t)r->silent, "seconds",
			 r->lab ? (double)(r->now_ns - r->start_ns) / NS_PER_S : (double)r->range_s,
			 "sick", list, "probes",
			 r->lab ? probes_json(&r->figures) : series_json(r));
}
