/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc doctor - what will hurt MRC on this machine, why, and the command that fixes it. */
#include "cli/built_parts.h"
#include "cli/cli_verbs.h"
#include "cli/doctor/doctor.h"
#include "ui/terminal.h"

#include <stddef.h>
#include <stdio.h>

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_WARNING = 3 };

struct options {
	bool json, all;
};

static const struct ui_flag flags[] = {
	UI_SWITCH("--all", options, all, "list passed checks too"),
	UI_SWITCH("--json", options, json, "everything as JSON"),
};

static void print_findings(const struct options *o, const struct doctor_findings *all)
{
	struct ui_text text = {0};

	if (o->json) {
		json_t *json = doctor_json(all);

		ui_json_print(json, JSON_INDENT(2));
		return;
	}
	doctor_show(all, o->all, ui_term_fits() && ui_term_colour(), &text);
	ui_text_print(&text, stdout);
}

static void find_built_parts(struct doctor_findings *all)
{
	for (size_t i = 0; i < CLI_BUILT_PARTS; i++) {
		const struct cli_built_part *part = &cli_built_parts[i];

		if (part->built) {
			doctor_find(all, DOCTOR_GOOD, part->name, "is in this build");
			continue;
		}
		doctor_find(all, DOCTOR_NOTE, part->name, "is not in this build");
		doctor_explain(all, "%s", part->without);
		doctor_fix(all, "apt-get install %s && make", part->packages);
	}
}

static int cli_doctor_main(int argc, char **argv)
{
	static struct doctor_findings all;
	static struct doctor_facts facts;
	struct options o = {0};
	int status;

	status = ui_verb_parse(&cli_doctor_verb, &o, argc, argv, NULL, 0, NULL);
	if (status != UI_FLAGS_OK)
		return status;
	doctor_facts_gather(&facts, "");
	doctor_facts_device(&facts, "");
	doctor_facts_echo(&facts);
	doctor_diagnose(&facts, &all);
	find_built_parts(&all);
	print_findings(&o, &all);
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

const struct ui_verb cli_doctor_verb = {
	.name = "mrc doctor",
	.summary = "problems of this machine, and the commands that fix it",
	.usage = "[FLAG...]",
	.about = "Says what will hurt MRC on this machine: ports and their MTU, firewall and "
		 "reverse path filters, socket buffers, what the kernel can do, rights, limits, "
		 "cores. Each finding has a severity, the reason why it matters and the command "
		 "that fixes it. It opens the device as configured here and sends test packets "
		 "inside this machine.",
	.exits =
		"0 nothing worse than a note, 3 warnings, 1 something does not work, 2 wrong usage",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = cli_doctor_main,
};
