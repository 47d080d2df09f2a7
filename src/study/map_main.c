/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc sim map - the map of a large fabric through an hour of faults, and what a job gains by it. */
#include "map/probe_plan.h"
#include "sim/scenario/scenario_keys.h"
#include "study/map_hour.h"
#include "study/map_report.h"
#include "study/study.h"
#include "study/study_verbs.h"

#include "ui/terminal.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#define WHO "mrc sim map"
#define HORIZON_MAX_NS (24 * UINT64_C(3600000000000))
/* The MRC paper's line is one loss in 25 million packets, and losses are well below it. */
#define BACKGROUND_PPB 4u

struct options {
	struct sim_packets_options packets;
	uint32_t background_ppb, share;
};

static const struct ui_flag flags[] = {
	UI_TEXTS("--set", options, packets.set, "KEY=VALUE",
		 "change a key of the scenario; repeatable"),
	{"--seed", UI_FLAG_U64, "N", "the scenario's seed", offsetof(struct options, packets.seed),
	 1, UINT64_MAX >> 1},
	{"--share", UI_FLAG_U32, "N", "hosts that probe each link (4)",
	 offsetof(struct options, share), 1, 16},
	{"--background", UI_FLAG_U32, "PPB",
	 "of 10^9 probes so many are lost where nothing is wrong (4)",
	 offsetof(struct options, background_ppb), 0, 1000000},
	UI_MAYBE("--json", options, packets.json, "FILE",
		 "the result as JSON, to stdout or a file"),
	UI_SWITCH("--quiet", options, packets.quiet, "no progress"),
};

static enum ui_flags_result parse_options(struct options *o, int argc, char **argv)
{
	enum ui_flags_result rc;
	size_t words;

	*o = (struct options){.background_ppb = BACKGROUND_PPB, .share = 4};
	rc = ui_verb_parse(&sim_map_verb, o, argc, argv, &o->packets.name, 1, &words);
	if (rc == UI_FLAGS_OK && words == 0) {
		fprintf(stderr, WHO ": expected a scenario; `mrc sim list` shows those that are "
				    "built in\n");
		return UI_FLAGS_ERROR;
	}
	return rc;
}

static bool refuse(struct sim_packets *p, uint32_t line, const char *what)
{
	ms_file_set_error(&p->error, p->name, line, "%s", what);
	return false;
}

/* Whether the map's hour can be of this scenario; its rates are looked at one by one. */
static bool check(struct sim_packets *p)
{
	const struct ms_scenario *s = p->scenario;
	const struct mf_topology_cfg *c = &s->goodput.at_scale.cfg;

	if (s->n_jobs == 0)
		return refuse(p, 0, "has no [[job]], whose pace is asked");
	if (c->tiers != 2 || c->hosts_per_t0 > MM_SHARES_HOSTS_MAX)
		return refuse(p, 0,
			      "goodput.fabric: expected two tiers, and at most 1024 hosts on a T0");
	if (s->goodput.horizon_ns > HORIZON_MAX_NS)
		return refuse(p, 0, "goodput.horizon: expected a day at most, for the map");
	for (uint32_t i = 0; i < s->n_rates; i++) {
		const struct ms_scenario_rate *r = &s->rate[i];

		if (r->effect == MS_EFFECT_MEASURE &&
		    (r->kind == MF_FAULT_CORRUPT || r->kind == MF_FAULT_SLOW))
			return refuse(p, r->line,
				      "rate.kind: expected down, blackhole, stall or loss");
	}
	return true;
}

/* The effect of the same parts where they are dead: that of denying them. */
static uint32_t denied_slow(const struct sim_packets *p, uint32_t of, uint32_t otherwise)
{
	for (uint32_t i = 0; i < p->scenario->n_rates; i++)
		if (p->scenario->rate[i].of == of && p->scenario->rate[i].kind != MF_FAULT_LOSS &&
		    p->scenario->rate[i].effect == MS_EFFECT_MEASURE)
			return p->effect[i].slow;
	return otherwise;
}

/* Rates that are measured in packets; those that end jobs are not the map's. */
static uint32_t take_classes(const struct sim_packets *p, struct study_map_class *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->scenario->n_rates; i++) {
		const struct ms_scenario_rate *r = &p->scenario->rate[i];
		const struct ms_effect *e = &p->effect[i];

		if (r->effect != MS_EFFECT_MEASURE)
			continue;
		out[n++] = (struct study_map_class){
			.name = r->name[0] ? r->name : ms_class_names[r->of],
			.source = r->source,
			.of = r->of,
			.loss_ppm = r->kind == MF_FAULT_LOSS ? r->share : MS_SHARE_ONE,
			.mtbf_ns = r->mtbf_ns,
			.repair_ns = r->repair_ns,
			.slow = e->slow,
			.denied_slow = denied_slow(p, r->of, e->slow),
			.once_ns = e->onset_ns + e->recovery_ns,
		};
	}
	return n;
}

static bool caught(void)
{
	return ui_term_caught() != 0;
}

static int go_through(void *options, const struct sim_packets *p)
{
	const struct options *o = options;
	struct study_map_class class[MS_STEPS_CLASSES];
	struct study_map_cfg cfg = {.t = &p->scenario->goodput.at_scale,
				    .watchers = o->share,
				    .horizon_ns = p->scenario->goodput.horizon_ns,
				    .seed = p->scenario->head.seed,
				    .background_ppb = o->background_ppb,
				    .classes = class,
				    .n_classes = take_classes(p, class),
				    .stop = caught};
	struct study_map_result r;
	int err = study_map_hour(&cfg, &r), status = SIM_EXIT_FAILED;

	if (err == ENOMEM) {
		fprintf(stderr, WHO ": no memory for a map of %u NICs\n", cfg.t->n_hosts);
	} else if (err == E2BIG) {
		fprintf(stderr,
			WHO ": more than %u faults in goodput.horizon: expected lower rates or a "
			    "shorter one\n",
			STUDY_MAP_FAULTS_MAX);
	} else {
		json_t *result = study_map_json(p->scenario, &cfg, &r);

		status = sim_write_result(WHO, result, o->packets.json, study_map_text);
		json_decref(result);
	}
	study_map_fini(&r);
	return err == EINTR ? SIM_EXIT_INTERRUPTED : status;
}

static int sim_map_main(int argc, char **argv)
{
	static const struct sim_packets_verb verb = {WHO, check, go_through};
	struct options o;
	int status;

	status = parse_options(&o, argc, argv);
	if (status != UI_FLAGS_OK)
		return status;
	return sim_packets_run(&verb, &o.packets, &o);
}

const struct ui_verb sim_map_verb = {
	.name = "mrc sim map",
	.summary = "the map of a large fabric through an hour of faults",
	.usage = "SCENARIO [FLAG...]",
	.about =
		"Goes through goodput.horizon on goodput.fabric with faults at the scenario's "
		"[[rate]]s before the code of `mrc map`: how soon each is named, what is accused "
		"falsely, what probes cost. What probes meet is drawn for each of them; what "
		"faults do to a job is measured packet by packet, and its pace is compared with no "
		"map, with advice that is followed after a minute, and with automatic denial.",
	.examples = "mrc sim map map-hour\n"
		    "mrc sim map map-hour --set goodput.fabric=lab8 --json=hour.json",
	.exits = "0 good; 1 a run failed; 2 wrong usage or a bad file; 3 interrupted",
	.operands = "SCENARIO",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.choices = (const struct ui_choices *const[]){&study_scenarios, &study_keys, NULL},
	.run = sim_map_main,
};
