/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_tool.h - runs ip(8) and tc(8) with a list of commands as standard input. The program belongs
 * to a process group of its own, so that Ctrl-C at a terminal reaches us and not a half-read list.
 */
#ifndef SOFTMRC_LAB_RUN_TOOL_H
#define SOFTMRC_LAB_RUN_TOOL_H

#include "lab/lab_error.h"

#include <stdbool.h>
#include <stdio.h>

/*
 * ml_proc_batch runs `tool -batch -` ("ip" or "tc", found in PATH or the sbin folders) with `input`
 * in the network namespace of the calling thread, and waits. With `force` it goes on after lines
 * that fail. 0; -1 with the error of the tool and the line that it is about.
 */
int ml_proc_batch(const char *tool, const char *input, bool force, struct ml_error *e);

/* ml_proc_run runs a command and waits; its output is thrown away, errors go to `e`. */
int ml_proc_run(const char *const argv[], struct ml_error *e);

/* A list of commands that grows. ml_list_open never fails: without memory the process ends. */
struct ml_list {
	FILE *to; /* write lines here */
	char *text;
	size_t len;
};

void ml_list_open(struct ml_list *l);
/* ml_list_text returns what was written so far. */
const char *ml_list_text(struct ml_list *l);
void ml_list_close(struct ml_list *l);

#endif
