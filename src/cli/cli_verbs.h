/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cli_verbs.h - the verbs of `mrc`. The result of each is the exit status: 0 good, 1 its work
 * failed, 2 wrong usage.
 */
#ifndef SOFTMRC_CLI_CLI_VERBS_H
#define SOFTMRC_CLI_CLI_VERBS_H

#include "ui/verb.h"

extern const struct ui_verb cli_ctl_verb;    /* the controller API, through mrcd */
extern const struct ui_verb cli_doctor_verb; /* the status may also be 3: warnings */
extern const struct ui_verb cli_dump_verb;   /* the packets of a capture file */
extern const struct ui_verb cli_lab_verb;    /* a fabric of network namespaces */
extern const struct ui_verb cli_map_verb;    /* 0 healthy, 1 sick, 2 wrong usage or no lab */
extern const struct ui_verb cli_perf_verb;   /* bandwidth and latency between two machines */
extern const struct ui_verb cli_ping_verb;   /* asks other machines, path by path */
extern const struct ui_verb cli_plan_verb;   /* works a fabric out */
extern const struct ui_verb cli_run_verb;    /* becomes another program; the status is its own */
extern const struct ui_verb cli_sim_verb;    /* the status may also be 3: interrupted */
extern const struct ui_verb cli_stat_verb;   /* all that they count */
extern const struct ui_verb cli_top_verb;    /* what the MRC processes of this machine do */
extern const struct ui_verb cli_trace_verb;  /* EVs to cables and back; 1: a hop is silent */

/* The command itself: the verb that all others are below. */
extern const struct ui_verb cli_root_verb;

#endif
