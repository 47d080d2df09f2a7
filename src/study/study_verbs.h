/* SPDX-License-Identifier: BSD-2-Clause */
/* study_verbs.h - the verbs of `mrc sim`. */
#ifndef SOFTMRC_STUDY_STUDY_VERBS_H
#define SOFTMRC_STUDY_STUDY_VERBS_H

#include "ui/verb.h"

/* Words that several verbs take. */
/* TOPOLOGY: the presets of fabrics. */
extern const struct ui_choices study_topologies;
/* SCENARIO: those of the simulator that are built in. */
extern const struct ui_choices study_scenarios;
extern const struct ui_choices study_keys;

/*
 * Exit statuses. A run that was interrupted is neither good nor bad; what it has written is valid,
 * and says so.
 */
enum sim_exit {
	SIM_EXIT_GOOD = 0,
	SIM_EXIT_FAILED = 1, /* flows unfinished, something the checker found, or not as expected */
	SIM_EXIT_USAGE = 2,  /* a flag, a file, or a run that does not fit in here */
	SIM_EXIT_INTERRUPTED = 3,
};

extern const struct ui_verb sim_run_verb;
extern const struct ui_verb sim_list_verb;
extern const struct ui_verb sim_keys_verb;
extern const struct ui_verb sim_compare_verb;
extern const struct ui_verb sim_sweep_verb;
extern const struct ui_verb sim_figure_verb;
extern const struct ui_verb sim_goodput_verb;
extern const struct ui_verb sim_hashing_verb;
extern const struct ui_verb sim_map_verb;
/* mrc report, about results of these and of others. */
extern const struct ui_verb study_report_verb;

#endif
