/* SPDX-License-Identifier: BSD-2-Clause */
/* figure_show.c - a figure that was made: for eyes, for docs/results.md, for a page. */
#include "study/figure.h"
#include "study/study.h"

#include <stdio.h>
#include <string.h>

static void print_number(const json_t *claim, const char *name, FILE *to)
{
	const json_t *value = json_object_get(claim, name);

	if (json_is_number(value))
		fprintf(to, "%.4g", json_number_value(value));
	else
		fprintf(to, "–");
}

static void print_band(const json_t *claim, FILE *to)
{
	const bool min = json_is_number(json_object_get(claim, "min"));
	const bool max = json_is_number(json_object_get(claim, "max"));

	fprintf(to, "%s", min && max ? "" : min ? "at least " : max ? "at most " : "any");
	if (min)
		print_number(claim, "min", to);
	if (min && max)
		fprintf(to, " to ");
	if (max)
		print_number(claim, "max", to);
}

/* claim_result says how a claim stands against what is said of it. */
static const char *claim_result(const json_t *claim)
{
	const bool holds = json_is_true(json_object_get(claim, "holds"));

	if (!json_is_true(json_object_get(claim, "differs")))
		return holds ? "holds" : "VIOLATED";
	return holds ? "holds, although declared as differing" : "differs";
}

void sim_figure_print(const json_t *made, FILE *to)
{
	const json_t *claims = json_object_get(made, "claims");

	fprintf(to, "Figure %s: %s (%s scale)\n", sim_text_at(made, "name"),
		sim_text_at(made, "title"), sim_text_at(made, "scale"));
	for (size_t i = 0; i < json_array_size(claims); i++) {
		const json_t *c = json_array_get(claims, i);

		fprintf(to, "  %-8s %s: ", claim_result(c), sim_text_at(c, "text"));
		print_number(c, "value", to);
		fprintf(to, " (");
		print_band(c, to);
		fprintf(to, ")\n");
	}
}

static void print_paragraph(const char *label, const char *what, FILE *to)
{
	if (what[0])
		fprintf(to, "*%s:* %s\n\n", label, what);
}

void sim_figure_markdown(const struct sim_figure *f, const json_t *made, FILE *to)
{
	const json_t *claims = json_object_get(made, "claims");
	const bool quick = strcmp(sim_text_at(made, "scale"), "quick") == 0;

	fprintf(to, "## Figure %s: %s\n\n", f->name, f->head.title);
	print_paragraph("Paper", f->head.paper, to);
	print_paragraph("Here", f->head.setup, to);
	fprintf(to, "| result | what must hold | here | allowed |\n|---|---|---|---|\n");
	for (size_t i = 0; i < json_array_size(claims); i++) {
		const json_t *c = json_array_get(claims, i);

		fprintf(to, "| %s | %s%s%s | ", claim_result(c), sim_text_at(c, "text"),
			sim_text_at(c, "note")[0] ? "; " : "", sim_text_at(c, "note"));
		print_number(c, "value", to);
		fprintf(to, " | ");
		print_band(c, to);
		fprintf(to, " |\n");
	}
	fprintf(to, "\n");
	print_paragraph("Where it differs", f->head.differs, to);
	fprintf(to, "`mrc sim figure %s%s`: %.0f s.\n", f->name, quick ? " --quick" : "",
		json_number_value(json_object_get(made, "wall_s")));
}

static json_t *list_json(const char *joined)
{
	json_t *all = json_array();

	while (*joined) {
		size_t len = strcspn(joined, ",");

		json_array_append_new(all, json_stringn(joined, len));
		joined += len + (joined[len] == ',');
	}
	return all;
}

static json_t *texts_json(const struct sim_figure *f)
{
	const char *pair[][2] = {{"Paper:", f->head.paper},
				 {"Here:", f->head.setup},
				 {"Where it differs:", f->head.differs}};
	json_t *all = json_array();

	for (size_t i = 0; i < MS_COUNT(pair); i++)
		if (pair[i][1][0])
			json_array_append_new(all, json_pack("[s,s]", pair[i][0], pair[i][1]));
	return all;
}

json_t *sim_figure_page(const struct sim_figure *f, const json_t *made)
{
	json_t *charts = json_array(), *data;
	char title[240], command[120];

	for (uint32_t i = 0; i < f->n_charts; i++) {
		const struct sim_chart *c = &f->chart[i];

		json_array_append_new(charts,
				      json_pack("{s:s,s:s,s:s,s:s,s:s,s:b,s:o}", "kind",
						sim_figure_chart_names[c->kind], "title", c->title,
						"figure", c->figure, "x", c->x, "y", c->y, "log",
						c->log, "runs", list_json(c->runs)));
	}
	snprintf(title, sizeof(title), "Figure %s: %s", f->name, f->head.title);
	snprintf(command, sizeof(command), "mrc sim figure %s%s", f->name,
		 strcmp(sim_text_at(made, "scale"), "quick") == 0 ? " --quick" : "");
	data = json_pack("{s:s,s:s,s:o,s:O,s:O}", "title", title, "command", command, "text",
			 texts_json(f), "runs", json_object_get(made, "runs"), "claims",
			 json_object_get(made, "claims"));
	if (f->n_charts > 0)
		json_object_set(data, "charts", charts);
	json_decref(charts);
	return data;
}
