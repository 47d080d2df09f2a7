/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `mrc demo`: see demo.h. */
#include "demo/demo.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static bool kind_at(const struct demo_kinds *kinds, size_t i, struct ui_choice *out)
{
	if (i < kinds->n)
		*out = (struct ui_choice){kinds->kind[i].name, NULL, kinds->kind[i].help};
	return i < kinds->n;
}

static bool lab_kind_at(size_t i, struct ui_choice *out)
{
	return kind_at(demo_kinds(true), i, out);
}

static bool loopback_kind_at(size_t i, struct ui_choice *out)
{
	return kind_at(demo_kinds(false), i, out);
}

/* In the order of enum demo_on, after DEMO_ON_BEST. */
static const char *const place_names[] = {"lab", "rootless", "loopback"};

static bool place_at(size_t i, struct ui_choice *out)
{
	if (i < UI_COUNT(place_names))
		*out = (struct ui_choice){place_names[i], NULL, NULL};
	return i < UI_COUNT(place_names);
}

static const struct ui_choices lab_kinds = {
	"LIST",
	"Faults of --script in the lab (all of them by default, in this order):", lab_kind_at,
	NULL};
static const struct ui_choices loopback_kinds = {"LIST", "On loopback:", loopback_kind_at, NULL};
static const struct ui_choices places = {"PLACE", NULL, place_at, NULL};

static const struct ui_flag flags[] = {
	{"--ranks", UI_FLAG_U32, "N", "processes, each a host (8; 4 on a slow machine)",
	 offsetof(struct demo_options, ranks), 2, 32},
	{"--planes", UI_FLAG_U32, "N", "NIC ports of a host = network planes (4)",
	 offsetof(struct demo_options, planes), 1, 8},
	{"--paths", UI_FLAG_U32, "N", "paths through a plane (in the lab T1s: 4; on loopback 8)",
	 offsetof(struct demo_options, paths), 1, 16},
	UI_TEXT("--on", demo_options, place, "PLACE",
		"lab (network namespaces), rootless (the same without rights), loopback: the "
		"first of these that is possible"),
	{"--steps", UI_FLAG_U32, "N", "training steps (as many as the script needs)",
	 offsetof(struct demo_options, steps), 1, 100000},
	{"--pace", UI_FLAG_RATE, "RATE", "of a port, such as 50M (what the machine carries)",
	 offsetof(struct demo_options, pace_bps), 1000000, 100000000000},
	{"--seed", UI_FLAG_U64, "N", "of the training and of random faults (1)",
	 offsetof(struct demo_options, seed), 0, UINT64_MAX},
	UI_TEXT("--data", demo_options, data, "PATH",
		"text file or directory to learn (licence texts)"),
	UI_TEXT("--out", demo_options, out, "FILE", "where the result goes as JSON (result.json)"),
	UI_TEXT("--script", demo_options, script, "LIST", "faults to run, with commas between"),
	UI_SWITCH("--no-tcp", demo_options, no_tcp, "leave out the comparison with TCP"),
	UI_SWITCH("--plain", demo_options, plain, "lines instead of the live view"),
	UI_SWITCH("--json", demo_options, json,
		  "print the result as JSON on stdout, all else on stderr"),
};

static enum ui_flags_result read_on(struct demo_options *o)
{
	if (!o->place)
		return UI_FLAGS_OK;
	for (size_t i = 0; i < UI_COUNT(place_names); i++)
		if (strcmp(o->place, place_names[i]) == 0) {
			o->on = (enum demo_on)(DEMO_ON_BEST + 1 + i);
			return UI_FLAGS_OK;
		}
	fprintf(stderr, "mrc demo: --on %s: want lab, rootless or loopback\n", o->place);
	return UI_FLAGS_ERROR;
}

enum ui_flags_result demo_options_parse(struct demo_options *o, int argc, char **argv)
{
	enum ui_flags_result rc;

	*o = (struct demo_options){
		.planes = 4,
		.seed = 1,
		.out = "result.json",
	};
	rc = ui_verb_parse(&demo_verb, o, argc, argv, NULL, 0, NULL);
	return rc == UI_FLAGS_OK ? read_on(o) : rc;
}

const struct ui_verb demo_verb = {
	.name = "mrc demo",
	.summary = "train a language model through path failures, compare the results",
	.usage = "[FLAG...]",
	.about = "Trains a small language model on text with several processes, twice: without and "
		 "with faults in the network between them. Shows it live, and at the end what each "
		 "fault cost and whether both runs ended with the same weights, bit for bit. The "
		 "same job over kernel TCP runs during the second run. Needs no network.",
	.exits = "0 the demo passed, 1 it failed or was interrupted, 2 wrong usage",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.choices = (const struct ui_choices *const[]){&lab_kinds, &loopback_kinds, &places, NULL},
	.run = demo_main,
};
