/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc sim goodput - a job over days, by the step-level model that packet runs feed. */
#include "study/study.h"
#include "study/study_verbs.h"

#include "ui/terminal.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define WHO "mrc sim goodput"
#define POINTS_MAX (MS_SIZES_MAX * (MS_SIZES_MAX + 1))

static const struct ui_flag flags[] = {
	UI_TEXTS("--set", sim_packets_options, set, "KEY=VALUE",
		 "change a key of the scenario; repeatable"),
	{"--seed", UI_FLAG_U64, "N", "the scenario's seed",
	 offsetof(struct sim_packets_options, seed), 1, UINT64_MAX >> 1},
	UI_MAYBE("--json", sim_packets_options, json, "FILE",
		 "the result as JSON, to stdout or a file"),
	UI_SWITCH("--quiet", sim_packets_options, quiet, "no progress"),
};

static enum ui_flags_result parse_options(struct sim_packets_options *o, int argc, char **argv)
{
	enum ui_flags_result rc;
	size_t words;

	*o = (struct sim_packets_options){0};
	rc = ui_verb_parse(&sim_goodput_verb, o, argc, argv, &o->name, 1, &words);
	if (rc == UI_FLAGS_OK && words == 0) {
		fprintf(stderr, WHO ": expected a scenario; `mrc sim list` shows those that are "
				    "built in\n");
		return UI_FLAGS_ERROR;
	}
	return rc;
}

/* All sizes, each as measured and with each time of reconvergence. */
static int go_through(void *options, const struct sim_packets *packets)
{
	const struct sim_packets_options *o = options;
	const struct ms_scenario_goodput *g = &packets->scenario->goodput;
	struct sim_goodput_point point[POINTS_MAX];
	bool whole = true;
	json_t *result;
	size_t n = 0;
	int status;

	for (uint32_t size = 0; whole && size < g->sizes; size++)
		for (uint32_t way = 0; whole && way <= g->outages; way++)
			whole = sim_goodput_point(packets, g->size[size],
						  way ? g->outage_ns[way - 1] : 0, &point[n++]);
	if (!whole && !ui_term_caught()) {
		fprintf(stderr,
			WHO ": %s: its rates make more than a hundred million faults, or "
			    "there is no memory; expected a shorter goodput.horizon\n",
			o->name);
		return SIM_EXIT_USAGE;
	}
	result = sim_goodput_json(packets, point, n, !whole);
	status = sim_write_result(WHO, result, o->json, sim_goodput_text);
	json_decref(result);
	return whole ? status : SIM_EXIT_INTERRUPTED;
}

static bool check(struct sim_packets *p)
{
	if (p->scenario->n_jobs > 0)
		return true;
	ms_file_set_error(&p->error, p->name, 0, "has no [[job]], whose goodput is asked");
	return false;
}

static int sim_goodput_main(int argc, char **argv)
{
	static const struct sim_packets_verb verb = {WHO, check, go_through};
	struct sim_packets_options o;
	int status;

	status = parse_options(&o, argc, argv);
	if (status != UI_FLAGS_OK)
		return status;
	return sim_packets_run(&verb, &o, &o);
}

const struct ui_verb sim_goodput_verb = {
	.name = "mrc sim goodput",
	.summary = "a job over days, with faults at given rates",
	.usage = "SCENARIO [FLAG...]",
	.about = "Runs the first job of a scenario packet by packet, without faults and with each "
		 "kind that its [[rate]]s name, and from what these do to its steps goes through "
		 "days of training with faults at those rates, checkpoints and restarts, for every "
		 "size in goodput.gpus. What is said of days is a model; its error against packets "
		 "is measured and shown with it.",
	.examples = "mrc sim goodput goodput-two-tiers\n"
		    "mrc sim goodput ./my.toml --set goodput.horizon=90d --json=my.json",
	.exits = "0 good; 1 a run failed; 2 wrong usage or a bad file; 3 interrupted",
	.operands = "SCENARIO",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.choices = (const struct ui_choices *const[]){&study_scenarios, &study_keys, NULL},
	.run = sim_goodput_main,
};
