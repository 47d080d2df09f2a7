/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc plan - what a fabric is made of, costs and carries, how it fails, and its configurations. */
#include "cli/plan/plan_verb.h"
#include "fabric/topology_toml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* A file of rates is a few lines. */
#define RATES_FILE_MAX (1u << 16)

static int read_rates(struct mf_rates *rates, const char *path)
{
	FILE *file = fopen(path, "r");
	static char text[RATES_FILE_MAX + 1];
	char error[256];
	size_t len;

	if (!file) {
		fprintf(stderr, "mrc plan: --rates %s: %s\n", path, strerror(errno));
		return -1;
	}
	len = fread(text, 1, RATES_FILE_MAX, file);
	if (ferror(file) || !feof(file)) {
		fprintf(stderr, "mrc plan: --rates %s: %s\n", path,
			ferror(file) ? strerror(errno) : "larger than 64 KiB");
		fclose(file);
		return -1;
	}
	fclose(file);
	text[len] = '\0';
	if (mf_rates_read(rates, path, text, error, sizeof(error)))
		return 0;
	fprintf(stderr, "mrc plan: %s\n", error);
	return -1;
}

static int open_topology(struct mf_topology *t, const char *what)
{
	char error[MF_TOML_ERROR_BYTES];

	if (mf_topology_open(what, t, error))
		return 0;
	fprintf(stderr, "mrc plan: %s\n", error);
	return -1;
}

static void print_text(const struct plan_options *o, const struct mf_topology *t,
		       const struct mf_topology *against, const struct mf_rates *rates)
{
	struct ui_text text = {0};

	if (o->show_rates)
		plan_report_rates(&text, rates);
	else
		plan_report_write(&text, t, against, rates);
	ui_text_print(&text, stdout);
}

static int run_plan(const struct plan_options *o, const struct mf_rates *rates)
{
	struct mf_topology t, other, *against = NULL;

	if (open_topology(&t, o->topology))
		return EXIT_FAILED;
	if (o->emit.format)
		return plan_emit_run(&o->emit, &t) ? EXIT_FAILED : EXIT_GOOD;
	if (strcmp(o->against, "none") != 0 && strcmp(o->against, t.cfg.name) != 0) {
		if (open_topology(&other, o->against))
			return EXIT_FAILED;
		against = &other;
	}
	if (o->json) {
		json_t *json = plan_report_json(&t, against, rates);

		ui_json_print(json, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	} else {
		print_text(o, &t, against, rates);
	}
	return EXIT_GOOD;
}

int plan_main(int argc, char **argv)
{
	struct mf_rates rates = mf_rates_defaults();
	struct plan_options o;
	int status;

	status = plan_options_parse(&o, argc, argv);
	if (status != UI_FLAGS_OK)
		return status;
	if (o.rates && read_rates(&rates, o.rates))
		return EXIT_FAILED;
	if (o.show_rates) {
		print_text(&o, NULL, NULL, &rates);
		return EXIT_GOOD;
	}
	return run_plan(&o, &rates);
}
