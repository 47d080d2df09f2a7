/* SPDX-License-Identifier: BSD-2-Clause */
/* scenario_goodput.c - what [goodput] and [[rate]] say of the long horizon: sizes, times, rates. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "fabric/topology_toml.h"
#include "sim/scenario/scenario_build.h"
#include "sim/scenario/scenario_keys.h"

#define NO_OF UINT32_MAX
#define SECOND UINT64_C(1000000000)
#define YEAR_NS (365.25 * 86400e9)
#define MINUTE_NS 60e9
#define RECONVERGE_MAX_NS (3600 * SECOND)

void ms_scenario_goodput_defaults(struct ms_scenario_goodput *g)
{
	g->horizon_ns = UINT64_C(30) * 86400 * SECOND;
	g->checkpoint_ns = 30 * SECOND;
	g->restart_ns = 300 * SECOND;
	g->trials = 8;
	g->samples = 2;
}

void ms_scenario_rate_defaults(struct ms_scenario_rate *r)
{
	r->of = NO_OF;
	r->kind = MF_FAULT_DOWN;
	r->effect = MS_EFFECTS;
	r->per_year = r->per_minute = HUGE_VAL;
}

/* ---- lists ---- */

/* Takes the next word of a list; returns what is behind it, NULL at the end. */
static const char *next_word(const char *list, char word[MS_NAME_BYTES])
{
	size_t len = strcspn(list, ",");

	if (!*list)
		return NULL;
	snprintf(word, MS_NAME_BYTES, "%.*s", (int)len, list);
	return list + len + (list[len] == ',');
}

static bool read_sizes(struct ms_scenario *s)
{
	struct ms_scenario_goodput *g = &s->goodput;
	const char *at = g->gpus;
	char word[MS_NAME_BYTES], *end;

	while ((at = next_word(at, word)) != NULL) {
		unsigned long n = strtoul(word, &end, 10);

		if (*end || n == 0 || n > 1u << 24 || g->sizes == MS_SIZES_MAX)
			return ms_scenario_refuse(
				s, 0,
				"goodput.gpus = %s: expected at most %u numbers from "
				"1 to %u",
				word, MS_SIZES_MAX, 1u << 24);
		g->size[g->sizes++] = (uint32_t)n;
	}
	if (g->sizes == 0 && s->n_jobs > 0)
		g->size[g->sizes++] = ms_job_ranks(&s->job[0].cfg);
	return true;
}

static bool read_outages(struct ms_scenario *s)
{
	struct ms_scenario_goodput *g = &s->goodput;
	const char *at = g->reconverge;
	char word[MS_NAME_BYTES];

	while ((at = next_word(at, word)) != NULL) {
		uint64_t ns;

		if (!mb_quantity_read_time(word, 1, RECONVERGE_MAX_NS, &ns) ||
		    g->outages == MS_SIZES_MAX)
			return ms_scenario_refuse(
				s, 0,
				"goodput.reconverge = %s: expected at most %u times "
				"such as \"10s\", up to an hour",
				word, MS_SIZES_MAX);
		g->outage_ns[g->outages++] = ns;
	}
	return true;
}

static bool read_fabric(struct ms_scenario *s)
{
	const struct mb_named_text *p = mb_named_text_find(mf_presets, s->goodput.fabric);
	const char *near = mb_named_text_near(mf_presets, s->goodput.fabric);
	char wrong[MF_TOML_ERROR_BYTES];

	s->goodput.at_scale = s->fabric;
	if (!s->goodput.fabric[0])
		return true;
	if (!p)
		return ms_scenario_refuse(s, 0, "goodput.fabric = %s: unknown preset%s%s%s",
					  s->goodput.fabric, near ? "; did you mean " : "",
					  near ? near : "", near ? "?" : "");
	return mf_topology_read(p->name, p->text, &s->goodput.at_scale, wrong) ||
	       ms_scenario_refuse(s, 0, "goodput.fabric = %s: %s", s->goodput.fabric, wrong);
}

/* ---- rates ---- */

/* Components of a class for each GPU. */
static double per_gpu(const struct mf_topology *t, uint32_t of)
{
	if (of >= MS_CLASSES)
		return 1;
	return (double)ms_class_size(t, of) * t->cfg.planes / t->n_hosts;
}

static bool set_rate_error(const struct ms_scenario *s, const struct ms_scenario_rate *r,
			   const char *key, double value, const char *what)
{
	return ms_scenario_refuse(s, r->line, "rate.%s = %g: %s", key, value, what);
}

static bool read_frequency(const struct ms_scenario *s, struct ms_scenario_rate *r)
{
	bool year = !isinf(r->per_year), minute = !isinf(r->per_minute);
	double all = r->per_gpu * (r->among ? r->among : s->goodput.at_scale.n_hosts);

	if (year == minute)
		return ms_scenario_refuse(s, r->line,
					  "rate: expected one of per_year and per_minute");
	if (year && !(r->per_year > 0))
		return set_rate_error(s, r, "per_year", r->per_year, "expected more than 0");
	if (minute && !(r->per_minute > 0))
		return set_rate_error(s, r, "per_minute", r->per_minute, "expected more than 0");
	r->mtbf_ns = year ? YEAR_NS / r->per_year : MINUTE_NS * all / r->per_minute;
	return true;
}

static bool read_rate(const struct ms_scenario *s, struct ms_scenario_rate *r)
{
	bool shares =
		r->kind == MF_FAULT_LOSS || r->kind == MF_FAULT_CORRUPT || r->kind == MF_FAULT_SLOW;

	if (r->of == NO_OF)
		return ms_scenario_refuse(
			s, r->line, "rate: has no `of`; expected of = \"t0-t1\" or another one");
	if (r->effect == MS_EFFECTS)
		r->effect = r->of >= MS_CLASSES ? MS_EFFECT_INTERRUPT : MS_EFFECT_MEASURE;
	r->per_gpu = per_gpu(&s->goodput.at_scale, r->of);
	if (r->per_gpu == 0 || (r->effect == MS_EFFECT_MEASURE && per_gpu(&s->fabric, r->of) == 0))
		return ms_scenario_refuse(
			s, r->line, "rate.of: expected a fabric of three tiers, which has T2s");
	if (r->of == MS_RATE_GPU && r->effect == MS_EFFECT_MEASURE)
		return ms_scenario_refuse(
			s, r->line, "rate.effect = measure: expected interrupt or none for GPUs");
	if (r->kind == MF_FAULT_FLAP || shares != (r->share > 0))
		return ms_scenario_refuse(s, r->line, "rate.kind = %s: expected %s",
					  mf_fault_name((enum mf_fault_kind)r->kind),
					  r->kind == MF_FAULT_FLAP
						  ? "another kind: repeated outages are flaps"
					  : shares ? "a share too"
						   : "no share");
	return read_frequency(s, r);
}

bool ms_scenario_goodput_build(struct ms_scenario *s)
{
	if (s->n_rates > 0 && s->n_jobs == 0)
		return ms_scenario_refuse(s, s->rate[0].line,
					  "rate: expected a [[job]], whose goodput is asked");
	if (!read_sizes(s) || !read_outages(s) || !read_fabric(s))
		return false;
	for (uint32_t i = 0; i < s->n_rates; i++)
		if (!read_rate(s, &s->rate[i]))
			return false;
	return true;
}
