/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `mrc plan`: see plan_verb.h. */
#include "cli/plan/plan_verb.h"

#include "cli/cli_verbs.h"
#include "study/study_verbs.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static bool format_at(size_t i, struct ui_choice *out)
{
	const struct plan_format *format = plan_format_at(i);

	if (format)
		*out = (struct ui_choice){format->name, NULL, format->about};
	return format;
}

static bool trim_at(size_t i, struct ui_choice *out)
{
	static const char *const how[] = {"symmetric", "asymmetric"};

	if (i < UI_COUNT(how))
		*out = (struct ui_choice){how[i], NULL, NULL};
	return i < UI_COUNT(how);
}

static const struct ui_choices formats = {"FORMAT", "FORMAT is one of:", format_at, NULL};
static const struct ui_choices trims = {"HOW", NULL, trim_at, NULL};

static const struct ui_flag flags[] = {
	UI_TEXT("--against", plan_options, against, "TOPOLOGY",
		"the fabric to compare with (threetier), or none"),
	UI_TEXT("--rates", plan_options, rates, "FILE",
		"TOML with prices, watts and failure rates"),
	UI_SWITCH("--show-rates", plan_options, show_rates,
		  "print the rates as such a file, with their sources"),
	UI_TEXT("--emit", plan_options, format, "FORMAT", "write configurations instead"),
	UI_TEXT("--node", plan_options, emit.node, "NODE",
		"of one node, such as plane0.t1-3 (all)"),
	UI_TEXT("--out", plan_options, emit.out, "DIR", "folder for the files (one: stdout)"),
	UI_TEXT("--trim", plan_options, trim, "HOW",
		"symmetric: one DSCP for cut packets; asymmetric (default): another at the last "
		"hop"),
	UI_SWITCH("--plain-routes", plan_options, plain_routes,
		  "switches also get ECMP routes of the hosts' own addresses (iproute: always)"),
	UI_TEXT("--sid-device", plan_options, emit.how.sid_device, "KIND",
		"iproute: kind of link that SIDs hang on (dummy)"),
	UI_TEXT("--yang", plan_options, emit.yang, "DIR",
		"sonic: hold each file against SONiC's YANG modules"),
	UI_SWITCH("--json", plan_options, json, "the plan as JSON"),
};

/* What only makes sense with other flags. */
static enum ui_flags_result read_emission(struct plan_options *o)
{
	const char *format = o->format, *trim = o->trim;

	if (trim && strcmp(trim, "symmetric") != 0 && strcmp(trim, "asymmetric") != 0) {
		fprintf(stderr, "mrc plan: --trim %s: want symmetric or asymmetric\n", trim);
		return UI_FLAGS_ERROR;
	}
	if (trim)
		o->emit.how.emit.trim = *trim == 's' ? MF_TRIM_SYMMETRIC : MF_TRIM_ASYMMETRIC;
	if (!format && (o->emit.out || o->emit.yang || strcmp(o->emit.node, "all") != 0)) {
		fprintf(stderr, "mrc plan: --out, --node and --yang are for --emit FORMAT\n");
		return UI_FLAGS_ERROR;
	}
	o->emit.format = format ? plan_format_find(format, "mrc plan") : NULL;
	if (format && !o->emit.format)
		return UI_FLAGS_ERROR;
	if (o->emit.yang && strcmp(format, "sonic") != 0) {
		fprintf(stderr, "mrc plan: --yang: for --emit sonic only, not for %s\n", format);
		return UI_FLAGS_ERROR;
	}
	return UI_FLAGS_OK;
}

enum ui_flags_result plan_options_parse(struct plan_options *o, int argc, char **argv)
{
	enum ui_flags_result rc;
	size_t operands;

	*o = (struct plan_options){
		.against = "threetier",
		.emit = {.node = "all", .how = {mf_emit_defaults(), "dummy"}},
	};
	rc = ui_verb_parse(&cli_plan_verb, o, argc, argv, &o->topology, 1, &operands);
	if (rc == UI_FLAGS_OK && !operands && !o->show_rates) {
		fprintf(stderr, "mrc plan: want a TOPOLOGY, a preset or a file (mrc plan --help "
				"lists the presets)\n");
		return UI_FLAGS_ERROR;
	}
	if (o->plain_routes)
		o->emit.how.emit.sets |= MF_ROUTES_PLAIN;
	return rc == UI_FLAGS_OK ? read_emission(o) : rc;
}

const struct ui_verb cli_plan_verb = {
	.name = "mrc plan",
	.summary = "what a fabric is made of, what it costs and carries, and how it fails",
	.usage = "TOPOLOGY [FLAG...]\n"
		 "TOPOLOGY --emit FORMAT [--node NODE] [--out DIR] [FLAG...]",
	.about = "Works a fabric out before anybody buys it: sizes, bill of material, power, "
		 "longest path, bisection, what is lost when a component fails and how often one "
		 "does, beside a three-tier fabric of the same switches. Or writes the "
		 "configuration of its switches and hosts. Needs no device.",
	.examples =
		"mrc plan paper                       131,072 NICs on eight planes, two tiers\n"
		"mrc plan paper4 --against paper      four planes of 200G beside eight of 100G\n"
		"mrc plan --show-rates > my.toml      the prices and rates, to be edited\n"
		"mrc plan ./mine.toml --rates my.toml --json\n"
		"mrc plan lab --emit svg > lab.svg\n"
		"mrc plan lab --emit iproute --out lab.d\n"
		"mrc plan paper --emit sonic --node plane3.t0-17 > config_db.json\n"
		"mrc plan pod --emit sonic --out pod.d --yang /usr/local/yang-models",
	.exits = "0 good, 1 a file cannot be read or written, 2 wrong usage",
	.operands = "TOPOLOGY",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.choices = (const struct ui_choices *const[]){&study_topologies, &formats, &trims, NULL},
	.verbs = (const struct ui_verb *const[]){&plan_diff_verb, NULL},
	.run = plan_main,
};
