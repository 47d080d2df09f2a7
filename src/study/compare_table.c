/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of results: see study.h. */
#include "study/study.h"

#include "ui/text.h"

#include <stdio.h>
#include <string.h>

static const struct figure {
	const char *path, *label;
} figures[] = {
	{"simulated_us", "simulated (us)"},
	{"ideal_us", "ideal (us)"},
	{"over_ideal", "over ideal"},
	{"fct_us.p50", "completion P50 (us)"},
	{"fct_us.p99", "completion P99 (us)"},
	{"fct_us.p100", "completion P100 (us)"},
	{"hosts", "hosts"},
	{"planes", "planes"},
	{"flows", "flows"},
	{"flows_unfinished", "flows unfinished"},
	{"packets", "packets"},
	{"data_packets", "data packets"},
	{"retransmits", "sent again"},
	{"ecn_marks", "marked by ECN"},
	{"trims", "cut"},
	{"drops", "dropped"},
	{"hops", "hops"},
	{"wall_s", "it took (s)"},
	{"hops_per_s", "hops a second"},
	{"peak_rss_bytes", "memory (bytes)"},
};

static const struct figure of_part[] = {
	{"sender_gbps", "Gb/s of a sender"},
	{"rate_share.mean", "share of line rate, mean"},
	{"rate_share.min", "share of line rate, least"},
	{"fct_us.p50", "completion P50 (us)"},
	{"fct_us.p99", "completion P99 (us)"},
	{"fct_us.p100", "completion P100 (us)"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* begin_table writes the head: the names, and behind them those whose ratio to the first
 * follows. */
static void begin_table(struct ui_table *t, const struct sim_compared *c, const char *what,
			bool ratios)
{
	ui_table_cell(t, 0, 0, "%s", what);
	for (size_t i = 0; i < c->n; i++)
		ui_table_cell(t, 0, 1 + i, "%.40s", c->name[i]);
	for (size_t i = 1; ratios && i < c->n; i++)
		ui_table_cell(t, 0, c->n + i, c->n == 2 ? "ratio" : "%.34s / 1st", c->name[i]);
}

static void end_table(struct ui_table *t, struct ui_text *out)
{
	if (t->rows > 1) {
		ui_table_render(t, out);
		ui_text_add(out, "\n");
	}
	ui_table_fini(t);
}

/* add_figure adds a row, unless no result has the figure or it is 0 in all. */
static void add_figure(struct ui_table *t, const struct sim_compared *c, const char *path,
		       const char *label)
{
	double value[SIM_COMPARE_MAX];
	bool has[SIM_COMPARE_MAX], any = false;
	size_t row = t->rows;

	for (size_t i = 0; i < c->n; i++) {
		has[i] = sim_result_figure(c->result[i], path, &value[i]);
		any = any || (has[i] && value[i] != 0);
	}
	if (!any)
		return;
	ui_table_cell(t, row, 0, "%s", label);
	for (size_t i = 0; i < c->n; i++)
		ui_table_cell(t, row, 1 + i, has[i] ? "%.10g" : "-", has[i] ? value[i] : 0.0);
	for (size_t i = 1; i < c->n; i++)
		if (has[0] && has[i] && value[0] != 0)
			ui_table_cell(t, row, c->n + i, "%.4g", value[i] / value[0]);
		else
			ui_table_cell(t, row, c->n + i, "-");
}

/* ---- parameters ---- */

static void format_value(const json_t *value, char *out, size_t size)
{
	if (json_is_string(value))
		snprintf(out, size, "%s", json_string_value(value));
	else if (json_is_number(value))
		snprintf(out, size, "%.10g", json_number_value(value));
	else if (json_is_boolean(value))
		snprintf(out, size, "%s", json_is_true(value) ? "true" : "false");
	else
		snprintf(out, size, "-");
}

static const json_t *find_parameter(const struct sim_compared *c, size_t i, const char *key)
{
	return json_object_get(json_object_get(c->result[i], "parameters"), key);
}

static void add_parameter(struct ui_table *t, const struct sim_compared *c, const char *key)
{
	size_t row = t->rows;
	bool differs = false;

	for (size_t i = 1; i < c->n; i++)
		differs = differs ||
			  !json_equal(find_parameter(c, 0, key), find_parameter(c, i, key));
	if (!differs)
		return;
	ui_table_cell(t, row, 0, "%s", key);
	for (size_t i = 0; i < c->n; i++) {
		char text[UI_TABLE_CELL];

		format_value(find_parameter(c, i, key), text, sizeof(text));
		ui_table_cell(t, row, 1 + i, "%s", text);
	}
}

static void add_parameters(const struct sim_compared *c, struct ui_text *out)
{
	struct ui_table t = {0};
	const char *key;
	json_t *unused;

	begin_table(&t, c, "what differs", false);
	for (size_t i = 0; i < c->n; i++)
		json_object_foreach(json_object_get(c->result[i], "parameters"), key, unused)
		{
			bool before = false;

			for (size_t k = 0; k < i; k++)
				before = before || find_parameter(c, k, key);
			if (!before)
				add_parameter(&t, c, key);
		}
	end_table(&t, out);
}

/* ---- all of it ---- */

static void add_parts(const struct sim_compared *c, struct ui_text *out)
{
	const json_t *first = json_object_get(c->result[0], "parts");

	for (size_t p = 0; p < json_array_size(first); p++) {
		const char *kind =
			json_string_value(json_object_get(json_array_get(first, p), "kind"));
		struct ui_table t = {0};
		char what[UI_TABLE_CELL];

		snprintf(what, sizeof(what), "part %zu: %s", p, kind ? kind : "");
		begin_table(&t, c, what, true);
		for (size_t i = 0; i < COUNT(of_part); i++) {
			char path[64];

			snprintf(path, sizeof(path), "parts.%zu.%s", p, of_part[i].path);
			add_figure(&t, c, path, of_part[i].label);
		}
		end_table(&t, out);
	}
}

static void add_core(const struct sim_compared *c, struct ui_text *out)
{
	struct ui_table t = {0};
	const char *name;
	json_t *unused;

	begin_table(&t, c, "engines", true);
	json_object_foreach(json_object_get(c->result[0], "core"), name, unused)
	{
		char path[64];

		snprintf(path, sizeof(path), "core.%s", name);
		add_figure(&t, c, path, name);
	}
	end_table(&t, out);
}

void sim_compare_text(const struct sim_compared *c, bool core, struct ui_text *out)
{
	struct ui_table t = {0};

	add_parameters(c, out);
	begin_table(&t, c, "all of it", true);
	for (size_t i = 0; i < COUNT(figures); i++)
		add_figure(&t, c, figures[i].path, figures[i].label);
	end_table(&t, out);
	add_parts(c, out);
	if (core)
		add_core(c, out);
}

json_t *sim_compare_json(const struct sim_compared *c)
{
	json_t *all = json_object();

	for (size_t i = 0; i < COUNT(figures); i++) {
		json_t *values = json_array(), *one;
		double v[SIM_COMPARE_MAX];
		size_t had = 0;

		for (size_t k = 0; k < c->n; k++) {
			bool has = sim_result_figure(c->result[k], figures[i].path, &v[k]);

			had += has;
			json_array_append_new(values, has ? json_real(v[k]) : json_null());
		}
		one = json_pack("{s:o}", "values", values);
		if (c->n == 2 && had == 2) {
			json_object_set_new(one, "a", json_real(v[0]));
			json_object_set_new(one, "b", json_real(v[1]));
			json_object_set_new(one, "ratio",
					    v[0] != 0 ? json_real(v[1] / v[0]) : json_null());
		}
		json_object_set_new(all, figures[i].path, one);
	}
	return all;
}
