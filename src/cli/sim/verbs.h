/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs.h - what `mrc sim` can be asked; each is written like a main(). */
#ifndef SOFTMRC_CLI_SIM_VERBS_H
#define SOFTMRC_CLI_SIM_VERBS_H

/*
 * Exit statuses. A run that was broken off is neither good nor bad; what it has written is valid,
 * and says so.
 */
enum sim_exit {
	SIM_EXIT_GOOD = 0,
	SIM_EXIT_FAILED = 1, /* flows unfinished, something the checker found, or not as expected */
	SIM_EXIT_USAGE = 2,  /* a flag, a file, or a run that does not fit in here */
	SIM_EXIT_INTERRUPTED = 3,
};

int sim_run_main(int argc, char **argv);
int sim_list_main(int argc, char **argv);
int sim_keys_main(int argc, char **argv);
int sim_compare_main(int argc, char **argv);
int sim_sweep_main(int argc, char **argv);
int sim_figure_main(int argc, char **argv);
int sim_goodput_main(int argc, char **argv);
int sim_hashing_main(int argc, char **argv);

#endif
