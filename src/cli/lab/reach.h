/* SPDX-License-Identifier: BSD-2-Clause */
/* reach.h - from the name on a command line to the lab, wherever it is. */
#ifndef SOFTMRC_CLI_LAB_REACH_H
#define SOFTMRC_CLI_LAB_REACH_H

#include "lab/lab.h"

/* Longest list of labs that is looked at. */
#define REACH_LABS_MAX 32u

struct reach_names {
	char name[REACH_LABS_MAX][ML_LAB_NAME_MAX];
	size_t n;
};

/* reach_list finds every lab of this machine that this user may touch. */
void reach_list(struct reach_names *names);

/*
 * reach_name returns the name that was given, or that of the only lab there is. NULL, after a
 * message that begins with `who`: there is none, or there are several.
 */
const char *reach_name(const char *given, struct reach_names *names, const char *who);

/*
 * reach_open opens a lab, after moving to the user namespace that it lives in where it has one.
 * NULL after a message.
 */
struct ml_lab *reach_open(const char *name, const char *who);

#endif
