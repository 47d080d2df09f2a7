/* SPDX-License-Identifier: BSD-2-Clause */
/* figure_make.c - runs what a figure is made of, and judges what it claims. */
#include "study/figure.h"
#include "study/study.h"
#include "study/study_verbs.h"

#include "ui/terminal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHANGES_MAX 40u

/* ---- runs ---- */

/* split_words cuts a list that is joined by commas; `copy` holds the pieces. */
static size_t split_words(char *copy, const char *word[], size_t n, size_t max)
{
	char *rest;

	for (char *at = strtok_r(copy, ",", &rest); at && n < max; at = strtok_r(NULL, ",", &rest))
		word[n++] = at;
	return n;
}

/*
 * keep_last_changes removes the changes of keys that a later one changes too: the last one
 * counts.
 */
static size_t keep_last_changes(const char *word[], size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		bool again = false;

		for (size_t k = i + 1; k < n; k++)
			again = again || strncmp(word[i], word[k], strcspn(word[i], "=") + 1) == 0;
		if (!again)
			word[kept++] = word[i];
	}
	return kept;
}

/* number_of returns a value as a place on an axis: 4M is 4, 64k is 0.0625. */
static double number_of(const char *value)
{
	char *end;
	double x = strtod(value, &end);

	return *end == 'G' ? x * 1024 : *end == 'k' ? x / 1024 : x;
}

/* run_one runs one run of a figure and adds its result. */
static int run_one(const struct sim_figure_run *r, const char *value,
		   const struct sim_figure_how *how, const char *who, json_t *runs)
{
	const struct sim_run_how run_how = {.quiet = how->quiet, .account = true};
	char set[SIM_FIGURE_WORDS], quick[SIM_FIGURE_WORDS], varied[160], threads[32], name[160];
	const char *word[CHANGES_MAX];
	struct ms_changes changes = {word, 0};
	struct ms_file_error error;
	struct ms_scenario *s;
	json_t *result = NULL, *one;
	int status;

	memcpy(set, r->set, sizeof(set));
	memcpy(quick, r->quick, sizeof(quick));
	changes.n = split_words(set, word, 0, CHANGES_MAX - 2);
	if (how->quick)
		changes.n = split_words(quick, word, changes.n, CHANGES_MAX - 2);
	snprintf(varied, sizeof(varied), "%s=%s", r->vary, value ? value : "");
	snprintf(threads, sizeof(threads), "threads=%u", how->threads);
	if (value)
		word[changes.n++] = varied;
	if (how->threads > 1)
		word[changes.n++] = threads;
	changes.n = keep_last_changes(word, changes.n);
	snprintf(name, sizeof(name), value ? "%s/%s" : "%s", r->name, value);
	s = sim_source_read(r->scenario, &changes, &error);
	if (!s) {
		fprintf(stderr, "%s: run %s: %s\n", who, name, error.text);
		return SIM_EXIT_USAGE;
	}
	if (!how->quiet)
		fprintf(stderr, "%s: %s\n", who, name);
	status = sim_run_scenario(s, &run_how, &result);
	ms_scenario_destroy(s);
	if (!result)
		return status ? status : SIM_EXIT_FAILED;
	one = json_pack("{s:s,s:s,s:o}", "name", name, "family", r->name, "result", result);
	if (value)
		json_object_set_new(one, "x", json_real(number_of(value)));
	json_array_append_new(runs, one);
	return status;
}

/* run_family runs a run, or one for each value. A run that ended badly is judged by its claims. */
static int run_family(const struct sim_figure_run *r, const struct sim_figure_how *how,
		      const char *who, json_t *runs)
{
	char copy[SIM_FIGURE_WORDS];
	const char *value[64] = {NULL};
	size_t n = 1;

	memcpy(copy, how->quick && r->quick_values[0] ? r->quick_values : r->values, sizeof(copy));
	if (r->vary[0])
		n = split_words(copy, value, 0, 64);
	for (size_t i = 0; i < n; i++) {
		int status = run_one(r, value[i], how, who, runs);

		if (status == SIM_EXIT_USAGE || status == SIM_EXIT_INTERRUPTED)
			return status;
	}
	return SIM_EXIT_GOOD;
}

/* ---- claims ---- */

static const json_t *result_of(const json_t *runs, const char *name)
{
	for (size_t i = 0; i < json_array_size(runs); i++) {
		const json_t *one = json_array_get(runs, i);

		if (strcmp(json_string_value(json_object_get(one, "name")), name) == 0)
			return json_object_get(one, "result");
	}
	return NULL;
}

/*
 * next_path_step follows one word of a path; names of links have dots, so the longest name that
 * fits counts.
 */
static const json_t *next_path_step(const json_t *at, const char **path)
{
	const char *name;
	json_t *value;

	if (json_is_array(at)) {
		char *end;
		size_t i = strtoul(*path, &end, 10);

		*path = *end == '.' ? end + 1 : end;
		return json_array_get(at, i);
	}
	json_object_foreach((json_t *)(uintptr_t)at, name, value)
	{
		size_t len = strlen(name);

		if (strncmp(*path, name, len) == 0 && ((*path)[len] == '.' || !(*path)[len])) {
			*path += len + ((*path)[len] == '.');
			return value;
		}
	}
	return NULL;
}

/*
 * over_history takes the values of a curve between two times: their mean by time, or the least or
 * most of the intervals that lie wholly inside.
 */
static bool over_history(const json_t *result, const char *path, uint64_t from_ns, uint64_t to_ns,
			 uint32_t stat, double *value)
{
	const double from = (double)from_ns / 1000, to = (double)to_ns / 1000;
	const json_t *history = json_object_get(result, "history"), *curve = history;
	const json_t *time = json_object_get(history, "time_us");
	double sum = 0, length = 0, since = 0, most = -HUGE_VAL, least = HUGE_VAL;

	while (curve && *path)
		curve = next_path_step(curve, &path);
	if (!json_is_array(curve))
		return false;
	for (size_t i = 0; i < json_array_size(time); i++) {
		double until = json_number_value(json_array_get(time, i));
		double y = json_number_value(json_array_get(curve, i));
		double a = since > from ? since : from, b = until < to ? until : to;

		if (b > a) {
			sum += y * (b - a);
			length += b - a;
		}
		if (since >= from && until <= to) {
			most = y > most ? y : most;
			least = y < least ? y : least;
		}
		since = until;
	}
	*value = stat == SIM_STAT_LEAST ? least : stat == SIM_STAT_MOST ? most : sum / length;
	return length > 0 && isfinite(*value);
}

static bool figure_value(const json_t *result, const char *path, uint64_t from_ns, uint64_t to_ns,
			 uint32_t stat, double *value)
{
	if (!result)
		return false;
	return to_ns ? over_history(result, path, from_ns, to_ns, stat, value)
		     : sim_result_figure(result, path, value);
}

bool sim_figure_claim(const struct sim_claim *c, const json_t *runs, double *value)
{
	double by = 1;

	if (!figure_value(result_of(runs, c->of), c->figure, c->from_ns, c->to_ns, c->stat, value))
		return false;
	if (c->than[0] && (!figure_value(result_of(runs, c->than), c->over[0] ? c->over : c->figure,
					 c->than_from, c->than_to, SIM_STAT_MEAN, &by) ||
			   by == 0))
		return false;
	*value /= by;
	return true;
}

static json_t *check_claim(const struct sim_claim *c, const struct sim_figure_how *how,
			   const json_t *runs)
{
	const double min = how->quick && !isnan(c->quick_min) ? c->quick_min : c->min;
	const double max = how->quick && !isnan(c->quick_max) ? c->quick_max : c->max;
	double value = NAN;
	bool there = sim_figure_claim(c, runs, &value);

	return json_pack("{s:s,s:s,s:o,s:o,s:o,s:b,s:b}", "text", c->text, "note", c->note, "value",
			 sim_number_or_null(value), "min", sim_number_or_null(min), "max",
			 sim_number_or_null(max), "holds", there && value >= min && value <= max,
			 "differs", c->differs);
}

static double now_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

json_t *sim_figure_make(const struct sim_figure *f, const struct sim_figure_how *how,
			const char *who, int *status)
{
	json_t *runs = json_array(), *claims = json_array();
	const double began = now_seconds();
	bool holds = true;

	*status = SIM_EXIT_GOOD;
	for (uint32_t i = 0; i < f->n_runs && *status == SIM_EXIT_GOOD; i++)
		*status = ui_term_caught() ? SIM_EXIT_INTERRUPTED
					   : run_family(&f->run[i], how, who, runs);
	if (*status != SIM_EXIT_GOOD) {
		json_decref(runs);
		json_decref(claims);
		return NULL;
	}
	for (uint32_t i = 0; i < f->n_claims; i++) {
		json_t *one;

		if (how->quick && f->claim[i].full_only)
			continue;
		one = check_claim(&f->claim[i], how, runs);
		holds = holds && json_is_true(json_object_get(one, "holds")) != f->claim[i].differs;
		json_array_append_new(claims, one);
	}
	*status = holds ? SIM_EXIT_GOOD : SIM_EXIT_FAILED;
	return json_pack("{s:s,s:s,s:s,s:b,s:f,s:o,s:o}", "name", f->name, "title", f->head.title,
			 "scale", how->quick ? "quick" : "full", "holds", holds, "wall_s",
			 now_seconds() - began, "runs", runs, "claims", claims);
}
