/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc report - one page about the results of any verb that has some. */
#include "study/report.h"
#include "study/study.h"
#include "study/study_verbs.h"

#include "base/printable.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define WHO "mrc report"

struct report_options {
	const char *out, *title;
};

static json_t *load_file(const char *path)
{
	json_error_t wrong;
	json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &wrong);

	if (!json && wrong.line > 0)
		fprintf(stderr, WHO ": %s:%d: %s\n", path, wrong.line,
			mb_printable(wrong.text, sizeof(wrong.text)));
	else if (!json)
		fprintf(stderr, WHO ": %s\n", wrong.text);
	return json;
}

/* load_files loads all; false: said on stderr which one cannot be had. */
static bool load_files(const char *const *path, size_t n, json_t **result)
{
	for (size_t i = 0; i < n; i++) {
		result[i] = load_file(path[i]);
		if (!result[i])
			return false;
	}
	return true;
}

static int write_report(const char *const *path, json_t *const *result, size_t n,
			const struct report_options *o)
{
	struct ms_file_error error;
	json_t *data = study_report_data(path, result, n, &error);
	bool ok;

	if (!data) {
		fprintf(stderr, WHO ": %s\n", error.text);
		return SIM_EXIT_USAGE;
	}
	if (o->title)
		json_object_set_new(data, "title", sim_text_json(o->title));
	ok = sim_page_write(data, o->out, &error);
	json_decref(data);
	if (ok)
		printf("%s\n", o->out);
	else
		fprintf(stderr, WHO ": %s\n", error.text);
	return ok ? SIM_EXIT_GOOD : SIM_EXIT_FAILED;
}

static const struct ui_flag flags[] = {
	UI_TEXT("--out", report_options, out, "FILE", "the page (report.html)"),
	UI_TEXT("--title", report_options, title, "TEXT", "of the page"),
};

static int report_main(int argc, char **argv)
{
	struct report_options o = {.out = "report.html"};
	const char *path[SIM_COMPARE_MAX];
	json_t *result[SIM_COMPARE_MAX] = {NULL};
	size_t n;
	int status;

	status = ui_verb_parse(&study_report_verb, &o, argc, argv, path, SIM_COMPARE_MAX, &n);
	if (status != UI_FLAGS_OK)
		return status;
	if (n == 0) {
		fprintf(stderr, WHO ": expected a RESULT, as mrc demo --out FILE writes one "
				    "(" WHO " --help tells more)\n");
		return SIM_EXIT_USAGE;
	}
	status = load_files(path, n, result) ? write_report(path, result, n, &o) : SIM_EXIT_USAGE;
	for (size_t i = 0; i < n; i++)
		json_decref(result[i]);
	return status;
}

_Static_assert(SIM_COMPARE_MAX == 6, "the help says six");

const struct ui_verb study_report_verb = {
	.name = "mrc report",
	.summary = "one page with curves about the results of a demo, a lab, a simulation",
	.usage = "RESULT... [FLAG...]",
	.about = "Writes one HTML page that needs no other file and no network: the fabric, "
		 "curves over time with faults shaded, distributions, what had to hold, "
		 "parameters. Each picture can be saved as SVG or PNG. RESULT is what mrc demo "
		 "--out=FILE, mrc lab run --json, mrc sim run --json=FILE, mrc sim sweep --json or "
		 "mrc sim figure --json=FILE wrote; of mrc sim run up to six, which are compared.",
	.examples = "mrc demo --out demo.json; mrc report demo.json\n"
		    "mrc report before.json after.json --out compared.html",
	.exits = "0 good, 1 the page cannot be written, 2 wrong usage, or no result",
	.operands = "RESULT",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = report_main,
};
