/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc doctor - what will hurt MRC on this machine, why, and the command that mends it. */
#include "cli/doctor/show.h"
#include "cli/flags.h"
#include "cli/term.h"
#include "cli/verbs.h"

#include <stdio.h>

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_WARNING = 3 };

struct options {
	bool json, all;
};

static void print_help(const struct cli_flag *flags, size_t n)
{
	printf("usage: mrc doctor [FLAG...]\n"
	       "Says what will hurt MRC on this machine: ports, MTU, firewall and filters, "
	       "buffers,\n"
	       "kernel, rights, limits; each with the reason and the command that mends it. It "
	       "opens\n"
	       "the device as configured here and sends test packets inside this machine.\n\n");
	cli_flags_help(flags, n);
	printf("\nexit status: 0 nothing worse than a note, 3 warnings, 1 something does not "
	       "work,\n"
	       "2 wrong usage\n");
}

static enum cli_flags_result parse(struct options *o, int argc, char **argv)
{
	const struct cli_flag flags[] = {
		{"--all", CLI_FLAG_SWITCH, NULL, "what is good as well", &o->all, 0, 0},
		{"--json", CLI_FLAG_SWITCH, NULL, "everything as JSON", &o->json, 0, 0},
	};
	const size_t n = sizeof(flags) / sizeof(flags[0]);
	enum cli_flags_result rc = cli_flags_parse(flags, n, "mrc doctor", argc, argv);

	if (rc == CLI_FLAGS_HELP)
		print_help(flags, n);
	return rc;
}

static void show(const struct options *o, const struct doctor_findings *all)
{
	struct cli_text text = {0};

	if (o->json) {
		json_t *json = doctor_json(all);

		json_dumpf(json, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(json);
		return;
	}
	doctor_show(all, o->all, cli_term_fits() && cli_term_colour(), &text);
	fputs(text.data, stdout);
	cli_text_fini(&text);
}

int cli_doctor_main(int argc, char **argv)
{
	static struct doctor_findings all;
	static struct doctor_facts facts;
	struct options o = {0};

	switch (parse(&o, argc, argv)) {
	case CLI_FLAGS_HELP:
		return EXIT_GOOD;
	case CLI_FLAGS_ERROR:
		return EXIT_USAGE;
	case CLI_FLAGS_OK:
		break;
	}
	doctor_facts_gather(&facts, "");
	doctor_facts_device(&facts, "");
	doctor_facts_echo(&facts);
	doctor_judge(&facts, &all);
	show(&o, &all);
	switch (doctor_worst(&all)) {
	case DOCTOR_GOOD:
	case DOCTOR_NOTE:
		return EXIT_GOOD;
	case DOCTOR_WARN:
		return EXIT_WARNING;
	case DOCTOR_FAIL:
		break;
	}
	return EXIT_FAILED;
}
