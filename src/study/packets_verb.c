/* SPDX-License-Identifier: BSD-2-Clause */
/* packets_verb.c - what the commands have in common that begin with packet runs: see study.h. */
#include "study/study.h"
#include "study/study_verbs.h"

#include "ui/terminal.h"

#include <stdio.h>

static int measure(const struct sim_packets_verb *verb, struct sim_packets *p, void *context)
{
	switch (sim_packets_measure(p)) {
	case SIM_PACKETS_GOOD:
		return verb->go_through(context, p);
	case SIM_PACKETS_WRONG:
		fprintf(stderr, "%s: %s\n", verb->who, p->error.text);
		return SIM_EXIT_FAILED;
	case SIM_PACKETS_CAUGHT:
		break;
	}
	fprintf(stderr, "%s: interrupted during packet runs: no result yet\n", verb->who);
	return SIM_EXIT_INTERRUPTED;
}

int sim_packets_run(const struct sim_packets_verb *verb, const struct sim_packets_options *o,
		    void *context)
{
	struct sim_changes changes;
	struct ms_changes all;
	struct sim_packets p = {.name = o->name, .changes = &all, .quiet = o->quiet};
	struct ms_scenario *s;
	int status = SIM_EXIT_USAGE;

	sim_changes_of(&changes, &o->set);
	sim_changes_add(&changes, "seed", o->seed, "");
	all = (struct ms_changes){changes.text, changes.n};
	ui_term_catch();
	s = sim_source_read(o->name, &all, &p.error);
	p.scenario = s;
	if (!s || !verb->check(&p)) {
		fprintf(stderr, "%s: %s\n", verb->who, p.error.text);
	} else {
		status = measure(verb, &p, context);
		sim_packets_fini(&p);
	}
	ms_scenario_destroy(s);
	return status;
}
