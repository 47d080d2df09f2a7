/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc sim figure - a figure of the MRC paper: its runs, what must hold of them, its curves. */
#include "study/figure.h"

#include "study/study.h"
#include "study/study_verbs.h"

#include "ui/terminal.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHO "mrc sim figure"

struct figure_options {
	struct sim_figure_how how;
	const char *html, *json, *markdown;
};

static int list_figures(void)
{
	struct sim_figure *f = malloc(sizeof(*f));
	struct ms_file_error error;
	int status = f ? SIM_EXIT_GOOD : SIM_EXIT_FAILED;

	for (const struct mb_named_text *p = sim_figure_texts; f && p->name; p++) {
		if (!sim_figure_read(f, p->name, &error)) {
			fprintf(stderr, WHO ": %s\n", error.text);
			status = SIM_EXIT_FAILED;
			break;
		}
		printf("%-6s %s\n", f->name, f->head.title);
	}
	free(f);
	return status;
}

/* is_stdout says whether a FILE that was asked for is standard output. */
static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

static FILE *open_output(const char *path)
{
	return is_stdout(path) ? stdout : fopen(path, "we");
}

static bool close_output(FILE *to)
{
	const bool ok = fflush(to) == 0 && !ferror(to);

	return (to == stdout || fclose(to) == 0) && ok;
}

static bool write_markdown(const struct sim_figure *f, const json_t *made, const char *path)
{
	FILE *to = open_output(path);

	if (!to)
		return false;
	sim_figure_markdown(f, made, to);
	return close_output(to);
}

static bool write_json(const json_t *made, const char *path)
{
	FILE *to = open_output(path);
	bool ok;

	if (!to)
		return false;
	ok = json_dumpf(made, to, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0;
	return close_output(to) && ok;
}

/* write_figure writes what was asked for; false: said what could not be written. */
static bool write_figure(const struct sim_figure *f, const struct figure_options *o,
			 const json_t *made)
{
	struct ms_file_error error;
	json_t *data;
	bool ok = true;

	if (!is_stdout(o->markdown) && !is_stdout(o->json))
		sim_figure_print(made, stdout);
	if (o->json && !write_json(made, o->json)) {
		fprintf(stderr, WHO ": %s: cannot be written: %s\n", o->json, strerror(errno));
		ok = false;
	}
	if (o->markdown && !write_markdown(f, made, o->markdown)) {
		fprintf(stderr, WHO ": %s: cannot be written: %s\n", o->markdown, strerror(errno));
		ok = false;
	}
	if (o->html) {
		data = sim_figure_page(f, made);
		if (!sim_page_write(data, o->html, &error)) {
			fprintf(stderr, WHO ": %s\n", error.text);
			ok = false;
		}
		json_decref(data);
	}
	return ok;
}

static int make_figure(const char *name, const struct figure_options *o)
{
	struct sim_figure *f = malloc(sizeof(*f));
	struct ms_file_error error = {"out of memory"};
	json_t *made;
	int status;

	if (!f || !sim_figure_read(f, name, &error)) {
		fprintf(stderr, WHO ": %s\n", error.text);
		free(f);
		return SIM_EXIT_USAGE;
	}
	made = sim_figure_make(f, &o->how, WHO, &status);
	if (made && !write_figure(f, o, made))
		status = SIM_EXIT_FAILED;
	json_decref(made);
	free(f);
	return status;
}

static bool figure_at(size_t i, struct ui_choice *out)
{
	const struct mb_named_text *figure = mb_named_text_at(sim_figure_texts, i);

	if (figure)
		*out = (struct ui_choice){figure->name, NULL, NULL};
	return figure;
}

static const struct ui_choices figures = {"FIGURE", NULL, figure_at, NULL};

static const struct ui_flag flags[] = {
	UI_SWITCH("--quick", figure_options, how.quick,
		  "at the scale of tests: smaller and shorter"),
	UI_TEXT("--html", figure_options, html, "FILE",
		"one page with curves, that needs no other file"),
	UI_TEXT("--json", figure_options, json, "FILE",
		"all results, and which claims hold; -: on stdout"),
	UI_TEXT("--markdown", figure_options, markdown, "FILE",
		"a section of docs/results.md; -: on stdout"),
	{"--threads", UI_FLAG_U32, "N", "they change how long it takes, nothing else",
	 offsetof(struct figure_options, how.threads), 1, 64},
	UI_SWITCH("--quiet", figure_options, how.quiet, "no progress"),
};

static int sim_figure_main(int argc, char **argv)
{
	struct figure_options o = {.how = {.threads = 1}};
	const char *name;
	size_t words;
	int status;

	status = ui_verb_parse(&sim_figure_verb, &o, argc, argv, &name, 1, &words);
	if (status != UI_FLAGS_OK)
		return status;
	if (words == 0)
		return list_figures();
	ui_term_catch();
	return make_figure(name, &o);
}

const struct ui_verb sim_figure_verb = {
	.name = "mrc sim figure",
	.summary = "a figure of the MRC paper: does what must hold hold?",
	.usage = "[FIGURE] [FLAG...]",
	.about = "Makes a figure of the MRC paper again: runs what it shows at the scale of the "
		 "paper and says of each thing that must hold whether it does. Without a name: "
		 "lists them.",
	.examples = "mrc sim figure 10 --html fig10.html\n"
		    "mrc sim figure 16 --quick",
	.operands = "FIGURE",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.choices = (const struct ui_choices *const[]){&figures, NULL},
	.run = sim_figure_main,
};
