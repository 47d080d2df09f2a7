/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_verbs.h - the verbs of `mrc lab`, and what they share. The result of a verb is the exit
 * status: 0 good, 1 the work failed, 2 wrong usage.
 */
#ifndef SOFTMRC_CLI_LAB_LAB_VERBS_H
#define SOFTMRC_CLI_LAB_LAB_VERBS_H

#include "lab/lab.h"
#include "ui/verb.h"

/* The names of running labs. */
extern const struct ui_choices lab_choices;

enum { LAB_GOOD = 0, LAB_FAILED = 1, LAB_USAGE = 2 };

extern const struct ui_verb lab_up_verb;
extern const struct ui_verb lab_down_verb;
extern const struct ui_verb lab_status_verb;
extern const struct ui_verb lab_fault_verb;
extern const struct ui_verb lab_reboot_verb;
extern const struct ui_verb lab_shell_verb;
extern const struct ui_verb lab_watch_verb;
extern const struct ui_verb lab_run_verb;
extern const struct ui_verb lab_drain_verb;
extern const struct ui_verb lab_undrain_verb;
extern const struct ui_verb lab_roll_verb;

/* Longest list of labs that is looked at. */
#define LAB_NAMES_MAX 32u

struct lab_names {
	char name[LAB_NAMES_MAX][ML_LAB_NAME_MAX];
	size_t n;
};

/* lab_fail prints what went wrong, and returns LAB_FAILED. */
int lab_fail(const struct ui_verb *verb, const struct ml_error *e);

/* lab_sleep sleeps until the time is over or the user wants to end the verb. */
void lab_sleep(uint64_t ns);

/* lab_find_all finds every lab of this machine that this user may touch. */
void lab_find_all(struct lab_names *names);

/*
 * lab_find_name returns the name that was given, or that of the only lab there is. NULL, after a
 * message: there is none, or there are several.
 */
const char *lab_find_name(const struct ui_verb *verb, const char *given, struct lab_names *names);

/*
 * lab_open opens a lab, after moving to the user namespace that it lives in where it has one. NULL
 * after a message.
 */
struct ml_lab *lab_open(const struct ui_verb *verb, const char *name);

#endif
