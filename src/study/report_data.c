/* SPDX-License-Identifier: BSD-2-Clause */
/* report_data.c - whose result a file has, and what a page says of it: see report.h. */
#include "study/figure.h"
#include "study/report.h"
#include "study/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Results tell by their members what they are of. */
static const struct result_kind {
	const char *verb;
	struct {
		const char *name;
		json_type type;
	} member[4];
} kinds[] = {
	{"mrc demo",
	 {{"faults", JSON_ARRAY},
	  {"checks", JSON_ARRAY},
	  {"config", JSON_OBJECT},
	  {"fault_free", JSON_OBJECT}}},
	{"mrc lab run",
	 {{"scenario", JSON_STRING}, {"events", JSON_ARRAY}, {"checks", JSON_ARRAY}}},
	{"mrc sim figure", {{"name", JSON_STRING}, {"runs", JSON_ARRAY}, {"claims", JSON_ARRAY}}},
	{"mrc sim run", {{"scenario", JSON_STRING}, {"state", JSON_STRING}, {"parts", JSON_ARRAY}}},
};

enum { KIND_DEMO, KIND_LAB, KIND_FIGURE, KIND_RUN, KIND_SWEEP, KIND_NONE };

_Static_assert(KIND_RUN + 1 == MS_COUNT(kinds), "a row for each kind but a sweep, which has runs");

static bool has_members(const json_t *result, const struct result_kind *kind)
{
	for (size_t i = 0; i < MS_COUNT(kind->member) && kind->member[i].name; i++) {
		const json_t *member = json_object_get(result, kind->member[i].name);

		if (!member || json_typeof(member) != kind->member[i].type)
			return false;
	}
	return true;
}

/* is_sweep: an object of results of mrc sim run, by point. */
static bool is_sweep(json_t *result)
{
	const char *name;
	json_t *one;

	json_object_foreach(result, name,
			    one) if (!has_members(one, &kinds[KIND_RUN])) return false;
	return json_object_size(result) > 0;
}

static size_t kind_of(json_t *result)
{
	for (size_t i = 0; i < MS_COUNT(kinds); i++)
		if (has_members(result, &kinds[i]))
			return i;
	return is_sweep(result) ? KIND_SWEEP : KIND_NONE;
}

static json_t *run_of(const char *name, json_t *result)
{
	return json_pack("{s:o,s:O}", "name", sim_text_json(name), "result", result);
}

/* ---- a page for each kind ---- */

static json_t *one_page(const char *member, json_t *result, const char *title)
{
	return json_pack("{s:s,s:O}", "title", title, member, result);
}

static json_t *sweep_page(json_t *result)
{
	json_t *runs = json_array(), *one;
	const char *name;

	json_object_foreach(result, name, one) json_array_append_new(runs, run_of(name, one));
	return json_pack("{s:s,s:b,s:o}", "title", "A sweep", "sweep", true, "runs", runs);
}

/* A figure that is built in is drawn as its file says; of another the claims and runs are there. */
static json_t *figure_page(json_t *result)
{
	struct sim_figure *f = malloc(sizeof(*f));
	struct ms_file_error unused;
	json_t *data;

	if (f && mb_named_text_find(sim_figure_texts, sim_text_at(result, "name")) &&
	    sim_figure_read(f, sim_text_at(result, "name"), &unused))
		data = sim_figure_page(f, result);
	else
		data = json_pack("{s:s,s:O,s:O}", "title", sim_text_at(result, "title"), "runs",
				 json_object_get(result, "runs"), "claims",
				 json_object_get(result, "claims"));
	free(f);
	return data;
}

/* runs_page has runs under the names of their files. */
static json_t *runs_page(const char *const *path, json_t *const *result, size_t n)
{
	const char *title = n == 1 ? sim_text_at(result[0], "title") : "Simulations compared";
	json_t *runs = json_array();
	char name[64];

	for (size_t i = 0; i < n; i++)
		json_array_append_new(runs, run_of(sim_short_name(path, n, i, name), result[i]));
	return json_pack("{s:s,s:o}", "title", title, "runs", runs);
}

/* ---- all of them ---- */

static json_t *page_of(size_t kind, const char *const *path, json_t *const *result, size_t n)
{
	switch (kind) {
	case KIND_DEMO:
		return one_page("demo", result[0], "A training job on a fabric that breaks");
	case KIND_LAB:
		return one_page("lab", result[0], sim_text_at(result[0], "title"));
	case KIND_FIGURE:
		return figure_page(result[0]);
	case KIND_SWEEP:
		return sweep_page(result[0]);
	default:
		return runs_page(path, result, n);
	}
}

/* command_of says how the page is made again. */
static json_t *command_of(const char *const *path, size_t n)
{
	struct ui_text text = {0};
	json_t *command;

	ui_text_add(&text, "mrc report");
	for (size_t i = 0; i < n; i++)
		ui_text_add(&text, " %s", path[i]);
	command = sim_text_json(text.data);
	ui_text_fini(&text);
	return command;
}

json_t *study_report_data(const char *const *path, json_t *const *result, size_t n,
			  struct ms_file_error *error)
{
	size_t kind = KIND_NONE;
	json_t *data;

	for (size_t i = 0; i < n; i++) {
		kind = kind_of(result[i]);
		if (kind == KIND_NONE) {
			ms_file_set_error(error, path[i], 0,
					  "is no result of mrc demo, mrc lab run, mrc sim run, mrc "
					  "sim sweep or mrc sim figure");
			return NULL;
		}
		if (n > 1 && kind != KIND_RUN) {
			ms_file_set_error(
				error, path[i], 0,
				"is a result of %s, which has a report of its own: give it "
				"alone",
				kind == KIND_SWEEP ? "mrc sim sweep" : kinds[kind].verb);
			return NULL;
		}
	}
	data = page_of(kind, path, result, n);
	if (!data) {
		ms_file_set_no_memory(error, "the page");
		return NULL;
	}
	json_object_set_new(data, "command", command_of(path, n));
	return data;
}
