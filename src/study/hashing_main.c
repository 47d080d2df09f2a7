/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc sim hashing - static hashing of flows onto links against spraying: the worst link. */
#include "study/study.h"
#include "study/study_verbs.h"

#include "sim/run/ecmp_hashing.h"
#include "ui/text.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#define WHO "mrc sim hashing"
#define TRIALS 2000u

struct options {
	struct ms_hashing_cfg cfg;
	uint64_t seed;
	bool json;
};

static const struct ui_flag flags[] = {
	{"--links", UI_FLAG_U32, "N", "links of a group, as uplinks of a T0 (32)",
	 offsetof(struct options, cfg.links), 1, MS_HASHING_LINKS_MAX},
	{"--flows", UI_FLAG_U32, "N", "flows of a group (32)", offsetof(struct options, cfg.flows),
	 1, MS_HASHING_FLOWS_MAX},
	{"--groups", UI_FLAG_U32, "N", "groups, whose worst link is asked for (1)",
	 offsetof(struct options, cfg.groups), 1, MS_HASHING_GROUPS_MAX},
	{"--seed", UI_FLAG_U64, "N", "of the draws (1)", offsetof(struct options, seed), 1,
	 UINT64_MAX >> 1},
	UI_SWITCH("--json", options, json, "as JSON"),
};

static enum ui_flags_result parse_options(struct options *o, int argc, char **argv)
{
	*o = (struct options){.cfg = {.flows = 32, .links = 32, .groups = 1}, .seed = 1};
	return ui_verb_parse(&sim_hashing_verb, o, argc, argv, NULL, 0, NULL);
}

static json_t *row_json(const struct ms_hashing *h)
{
	return json_pack("{s:f,s:f,s:i,s:i}", "mean_worst", h->mean_worst, "over_mean",
			 h->over_mean, "p50", (int)h->p50, "p99", (int)h->p99);
}

static void row_text(struct ui_table *t, size_t row, const char *name, const struct ms_hashing *h)
{
	ui_table_cell(t, row, 0, "%s", name);
	ui_table_cell(t, row, 1, "%.3f", h->mean_worst);
	ui_table_cell(t, row, 2, "%.3f", h->over_mean);
	ui_table_cell(t, row, 3, "%u", h->p50);
	ui_table_cell(t, row, 4, "%u", h->p99);
}

static void print_result(const struct options *o, const struct ms_hashing *exact,
			 const struct ms_hashing *drawn)
{
	struct ui_text text = {0};
	struct ui_table t = {0};

	if (o->json) {
		json_t *all = json_pack("{s:I,s:I,s:I,s:o,s:o}", "links", (json_int_t)o->cfg.links,
					"flows", (json_int_t)o->cfg.flows, "groups",
					(json_int_t)o->cfg.groups, "exact", row_json(exact),
					"drawn", row_json(drawn));

		ui_json_print(all, JSON_INDENT(2));
		return;
	}
	ui_table_head(&t, "|flows on the worst link|over the mean|p50|p99");
	row_text(&t, 1, "exact", exact);
	row_text(&t, 2, "drawn", drawn);
	ui_text_add(&text, "%u flows hashed onto %u links, %u group%s of these: %.3f in the mean\n",
		    o->cfg.flows, o->cfg.links, o->cfg.groups, o->cfg.groups > 1 ? "s" : "",
		    (double)o->cfg.flows / o->cfg.links);
	ui_table_render(&t, &text);
	ui_text_print(&text, stdout);
}

static int sim_hashing_main(int argc, char **argv)
{
	struct ms_hashing exact, drawn;
	struct options o;
	int status;

	status = parse_options(&o, argc, argv);
	if (status != UI_FLAGS_OK)
		return status;
	if (!ms_hashing_exact(&o.cfg, &exact) || !ms_hashing_draw(&o.cfg, TRIALS, o.seed, &drawn)) {
		fprintf(stderr, WHO ": no memory\n");
		return SIM_EXIT_FAILED;
	}
	print_result(&o, &exact, &drawn);
	return SIM_EXIT_GOOD;
}

const struct ui_verb sim_hashing_verb = {
	.name = "mrc sim hashing",
	.summary = "flows hashed onto links: the worst link against the mean",
	.usage = "[FLAG...]",
	.about = "Says how much more than the mean the most loaded link carries when flows are "
		 "hashed onto links, as with ECMP; sprayed over all of them it carries the mean. "
		 "Exact, and by random draws.",
	.examples = "mrc sim hashing --links 32 --flows 32 --groups 32   # check-single-path\n"
		    "mrc sim hashing --links 256 --flows 2048 --json",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = sim_hashing_main,
};
