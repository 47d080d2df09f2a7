/* SPDX-License-Identifier: BSD-2-Clause */
/* run_dir.h - the demo's private directory: everything it writes but the result, gone at the
 * end. */
#ifndef SOFTMRC_DEMO_RUN_DIR_H
#define SOFTMRC_DEMO_RUN_DIR_H

#include <stddef.h>

struct demo_rundir {
	char path[200]; /* empty: none */
};

/*
 * demo_rundir_create makes a directory that only this user can enter, below TMPDIR or /tmp; 0, or
 * -1 after a message on stderr.
 */
int demo_rundir_create(struct demo_rundir *d);
/* demo_rundir_remove deletes it with all that is in it. */
void demo_rundir_remove(struct demo_rundir *d);

/* demo_rundir_sub makes a directory in it and writes its path; 0, or -1 after a message. */
int demo_rundir_sub(const struct demo_rundir *d, const char *name, char *path, size_t size);

#endif
