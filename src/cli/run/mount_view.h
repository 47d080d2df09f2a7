/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mount_view.h - a mount namespace in which folders that nobody may write to, /dev and /sys/class,
 * have more in them than the kernel put there.
 *
 * Over the folder comes one in memory that holds all its entries, each bound from where it was, and
 * then what is to be added. Only this process and those that it starts see it.
 */
#ifndef SOFTMRC_CLI_RUN_MOUNT_VIEW_H
#define SOFTMRC_CLI_RUN_MOUNT_VIEW_H

#include <stddef.h>

/* What could not be done, and why. */
struct run_view_error {
	char text[200];
};

/*
 * run_view_enter moves this process, which must have one thread, into a mount namespace of its own;
 * without root into a user namespace too, in which it is the user that it was. 0, or -1.
 */
int run_view_enter(struct run_view_error *e);

/* run_view_open makes `folder` one that can be written to, with what is in it; 0, or -1. */
int run_view_open(const char *folder, struct run_view_error *e);

/* run_view_file makes a file with its folders below an open one; 0, or -1. */
int run_view_file(const char *path, const char *text, struct run_view_error *e);
/* run_view_bind makes a file at path show what another is; 0, or -1. */
int run_view_bind(const char *path, const char *of, struct run_view_error *e);

#endif
