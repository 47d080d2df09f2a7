/* SPDX-License-Identifier: BSD-2-Clause */
/* find_lab.h - from the name on a command line to the lab, wherever it is. */
#ifndef SOFTMRC_CLI_LAB_FIND_LAB_H
#define SOFTMRC_CLI_LAB_FIND_LAB_H

#include "lab/lab.h"

/* Longest list of labs that is looked at. */
#define REACH_LABS_MAX 32u

struct reach_names {
	char name[REACH_LABS_MAX][ML_LAB_NAME_MAX];
	size_t n;
};

/* find_lab_list finds every lab of this machine that this user may touch. */
void find_lab_list(struct reach_names *names);

/*
 * find_lab_name returns the name that was given, or that of the only lab there is. NULL, after a
 * message that begins with `who`: there is none, or there are several.
 */
const char *find_lab_name(const char *given, struct reach_names *names, const char *who);

/*
 * find_lab_open opens a lab, after moving to the user namespace that it lives in where it has one.
 * NULL after a message.
 */
struct ml_lab *find_lab_open(const char *name, const char *who);

#endif
