/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `mrc plan`: see options.h. */
#include "cli/plan/options.h"

#include "fabric/preset.h"

#include <stdio.h>
#include <string.h>

static void print_help(const struct cli_flag *flags, size_t n)
{
	const struct plan_format *format;
	const struct mf_preset *preset;

	printf("usage: mrc plan TOPOLOGY [FLAG...]\n"
	       "       mrc plan TOPOLOGY --emit FORMAT [--node NODE] [--out DIR] [FLAG...]\n"
	       "       mrc plan diff LAB [FLAG...]     (mrc plan diff --help)\n"
	       "Works a fabric out before anybody buys it: sizes, bill of material, power, "
	       "longest\n"
	       "path, bisection, what is lost when a component fails and how often one does, "
	       "beside\n"
	       "a three-tier fabric of the same switches. Or writes the configuration of its\n"
	       "switches and hosts.\n\n");
	cli_flags_help(flags, n);
	printf("\nFORMAT is one of\n");
	for (size_t i = 0; (format = plan_format_at(i)); i++)
		printf("  %-12s %s\n", format->name, format->about);
	printf("\nTOPOLOGY is a file (something with a dot or a slash in it) or one of\n");
	for (size_t i = 0; (preset = mf_preset_at(i)); i++)
		printf("  %-12s %s\n", preset->name, preset->about);
	printf("\nexamples:\n"
	       "  mrc plan paper                       131,072 NICs on eight planes, two tiers\n"
	       "  mrc plan paper4 --against paper      four planes of 200G beside eight of 100G\n"
	       "  mrc plan --show-rates > my.toml      the prices and rates, to be edited\n"
	       "  mrc plan ./mine.toml --rates my.toml --json\n"
	       "  mrc plan lab --emit svg > lab.svg\n"
	       "  mrc plan lab --emit iproute --out lab.d\n"
	       "  mrc plan paper --emit sonic --node plane3.t0-17 > config_db.json\n"
	       "  mrc plan pod --emit sonic --out pod.d --yang /usr/local/yang-models\n"
	       "\nexit status: 0 good, 1 a file cannot be read or written, 2 wrong usage\n");
}

/* What only makes sense with other flags. */
static enum cli_flags_result read_emission(struct plan_options *o, const char *format,
					   const char *trim)
{
	if (trim && strcmp(trim, "symmetric") != 0 && strcmp(trim, "asymmetric") != 0) {
		fprintf(stderr, "mrc plan: --trim %s: want symmetric or asymmetric\n", trim);
		return CLI_FLAGS_ERROR;
	}
	if (trim)
		o->emit.how.emit.trim = *trim == 's' ? MF_TRIM_SYMMETRIC : MF_TRIM_ASYMMETRIC;
	if (!format && (o->emit.out || o->emit.yang || strcmp(o->emit.node, "all") != 0)) {
		fprintf(stderr, "mrc plan: --out, --node and --yang are for --emit FORMAT\n");
		return CLI_FLAGS_ERROR;
	}
	o->emit.format = format ? plan_format_find(format, "mrc plan") : NULL;
	if (format && !o->emit.format)
		return CLI_FLAGS_ERROR;
	if (o->emit.yang && strcmp(format, "sonic") != 0) {
		fprintf(stderr, "mrc plan: --yang: for --emit sonic only, not for %s\n", format);
		return CLI_FLAGS_ERROR;
	}
	return CLI_FLAGS_OK;
}

enum cli_flags_result plan_options_parse(struct plan_options *o, int argc, char **argv)
{
	const char *format = NULL, *trim = NULL;
	bool plain = false;
	const struct cli_flag flags[] = {
		{"--against", CLI_FLAG_TEXT, "NAME",
		 "the fabric to compare with (threetier), or none", &o->against, 0, 0},
		{"--rates", CLI_FLAG_TEXT, "FILE", "TOML with prices, watts and failure rates",
		 &o->rates, 0, 0},
		{"--show-rates", CLI_FLAG_SWITCH, NULL,
		 "print the rates as such a file, with their sources", &o->show_rates, 0, 0},
		{"--emit", CLI_FLAG_TEXT, "FORMAT", "write configurations instead", &format, 0, 0},
		{"--node", CLI_FLAG_TEXT, "NODE", "of one node, such as plane0.t1-3 (all)",
		 &o->emit.node, 0, 0},
		{"--out", CLI_FLAG_TEXT, "DIR", "folder for the files (one: stdout)", &o->emit.out,
		 0, 0},
		{"--trim", CLI_FLAG_TEXT, "HOW",
		 "symmetric: one DSCP for cut packets; asymmetric (default): another at the last "
		 "hop",
		 &trim, 0, 0},
		{"--plain-routes", CLI_FLAG_SWITCH, NULL,
		 "switches also get ECMP routes of the hosts' own addresses (iproute: always)",
		 &plain, 0, 0},
		{"--sid-device", CLI_FLAG_TEXT, "KIND",
		 "iproute: kind of link that SIDs hang on (dummy)", &o->emit.how.sid_device, 0, 0},
		{"--yang", CLI_FLAG_TEXT, "DIR",
		 "sonic: hold each file against SONiC's YANG modules", &o->emit.yang, 0, 0},
		{"--json", CLI_FLAG_SWITCH, NULL, "the plan as JSON", &o->json, 0, 0},
	};
	const size_t n = sizeof(flags) / sizeof(flags[0]);
	enum cli_flags_result rc;
	size_t operands;

	*o = (struct plan_options){
		.against = "threetier",
		.emit = {.node = "all", .how = {mf_emit_defaults(), "dummy"}},
	};
	rc = cli_flags_parse_operands(flags, n, "mrc plan", argc, argv, &o->topology, 1, &operands);
	if (rc == CLI_FLAGS_HELP)
		print_help(flags, n);
	if (rc == CLI_FLAGS_OK && !operands && !o->show_rates) {
		fprintf(stderr, "mrc plan: want a TOPOLOGY, a preset or a file (mrc plan --help "
				"lists the presets)\n");
		return CLI_FLAGS_ERROR;
	}
	if (plain)
		o->emit.how.emit.sets |= MF_ROUTES_PLAIN;
	return rc == CLI_FLAGS_OK ? read_emission(o, format, trim) : rc;
}
