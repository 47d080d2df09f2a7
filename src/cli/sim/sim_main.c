/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc sim - the table of its verbs. */
#include "cli/cli_verbs.h"
#include "study/study_verbs.h"

static const struct ui_verb *const verbs[] = {
	&sim_run_verb,	 &sim_list_verb,    &sim_keys_verb,    &sim_compare_verb, &sim_figure_verb,
	&sim_sweep_verb, &sim_goodput_verb, &sim_hashing_verb, &sim_map_verb,	  NULL};

const struct ui_verb cli_sim_verb = {
	.name = "mrc sim",
	.summary = "simulate a fabric of any size, packet by packet, with the same core",
	.usage = "VERB [FLAG...]",
	.about = "Simulates fabrics of any size packet by packet, with the same core that runs on "
		 "real networks: every host is a whole MRC endpoint.",
	.examples = "mrc sim run permutation\n"
		    "mrc sim run incast --set mrc.evs=4 --json=incast.json\n"
		    "mrc sim run my.toml --expect\n"
		    "mrc sim compare incast.json other.json\n"
		    "mrc sim figure 9a --html fig9a.html\n"
		    "mrc sim sweep permutation --vary mrc.evs=1,4,16 --dir sweep",
	.verbs = verbs,
};
