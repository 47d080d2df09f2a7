/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `mrc plan`: see options.h. */
#include "cli/plan/options.h"

#include "fabric/preset.h"

#include <stdio.h>

static void print_help(const struct cli_flag *flags, size_t n)
{
	const struct mf_preset *preset;

	printf("usage: mrc plan TOPOLOGY [FLAG...]\n"
	       "Works a fabric out before anybody buys it: sizes, bill of material, power, "
	       "longest\n"
	       "path, bisection, what is lost when a component fails and how often one does, "
	       "beside\n"
	       "a three-tier fabric of the same switches.\n\n");
	cli_flags_help(flags, n);
	printf("\nTOPOLOGY is a file (something with a dot or a slash in it) or one of\n");
	for (size_t i = 0; (preset = mf_preset_at(i)); i++)
		printf("  %-12s %s\n", preset->name, preset->about);
	printf("\nexamples:\n"
	       "  mrc plan paper                       131,072 NICs on eight planes, two tiers\n"
	       "  mrc plan paper4 --against paper      four planes of 200G beside eight of 100G\n"
	       "  mrc plan --show-rates > my.toml      the prices and rates, to be edited\n"
	       "  mrc plan ./mine.toml --rates my.toml --json\n"
	       "\nexit status: 0 good, 1 a file cannot be read, 2 wrong usage\n");
}

enum cli_flags_result plan_options_parse(struct plan_options *o, int argc, char **argv)
{
	const struct cli_flag flags[] = {
		{"--against", CLI_FLAG_TEXT, "NAME",
		 "the fabric to compare with (threetier), or none", &o->against, 0, 0},
		{"--rates", CLI_FLAG_TEXT, "FILE", "TOML with prices, watts and failure rates",
		 &o->rates, 0, 0},
		{"--show-rates", CLI_FLAG_SWITCH, NULL,
		 "print the rates as such a file, with their sources", &o->show_rates, 0, 0},
		{"--json", CLI_FLAG_SWITCH, NULL, "the plan as JSON", &o->json, 0, 0},
	};
	const size_t n = sizeof(flags) / sizeof(flags[0]);
	enum cli_flags_result rc;
	size_t operands;

	*o = (struct plan_options){.against = "threetier"};
	rc = cli_flags_parse_operands(flags, n, "mrc plan", argc, argv, &o->topology, 1, &operands);
	if (rc == CLI_FLAGS_HELP)
		print_help(flags, n);
	if (rc == CLI_FLAGS_OK && !operands && !o->show_rates) {
		fprintf(stderr, "mrc plan: want a TOPOLOGY, a preset or a file (mrc plan --help "
				"lists the presets)\n");
		return CLI_FLAGS_ERROR;
	}
	return rc;
}
