/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_verbs.h - the verbs of `mrc lab`. The result is the exit status: 0 good, 1 the work failed, 2
 * wrong usage.
 */
#ifndef SOFTMRC_CLI_LAB_LAB_VERBS_H
#define SOFTMRC_CLI_LAB_LAB_VERBS_H

#include "ui/verb.h"

enum { LAB_GOOD = 0, LAB_FAILED = 1, LAB_USAGE = 2 };

extern const struct ui_verb lab_up_verb;
extern const struct ui_verb lab_down_verb;
extern const struct ui_verb lab_status_verb;
extern const struct ui_verb lab_fault_verb;
extern const struct ui_verb lab_reboot_verb;
extern const struct ui_verb lab_shell_verb;
extern const struct ui_verb lab_watch_verb;
extern const struct ui_verb lab_run_verb;

#endif
