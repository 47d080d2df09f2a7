/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs.h - the verbs of `mrc`, one function each, written like a main(): argv[0] is the verb's own
 * name. The result is the exit status: 0 good, 1 the verb's work failed, 2 wrong usage.
 */
#ifndef SOFTMRC_CLI_VERBS_H
#define SOFTMRC_CLI_VERBS_H

/* demo/demo.c: trains through faults and says how it went. */
int cli_demo_main(int argc, char **argv);
/* doctor/doctor.c: says what will hurt on this machine. The result may also be 3: warnings. */
int cli_doctor_main(int argc, char **argv);
/* lab/lab.c: a fabric of network namespaces on this machine. */
int cli_lab_main(int argc, char **argv);
/* perf/perf.c: measures bandwidth and latency between two machines. */
int cli_perf_main(int argc, char **argv);
/* ping/ping.c: asks other machines, path by path. */
int cli_ping_main(int argc, char **argv);
/* plan/plan.c: works a fabric out. */
int cli_plan_main(int argc, char **argv);
/* run/run.c: becomes another program; the result is its own. */
int cli_run_main(int argc, char **argv);
/* sim/sim.c: simulates fabrics. The result may also be 3: broken off. */
int cli_sim_main(int argc, char **argv);
/* top/top.c: shows what the MRC processes of this machine do. */
int cli_top_main(int argc, char **argv);

#endif
