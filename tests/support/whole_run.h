/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * whole_run.h - a test program that ends before its last case fails. What it tests may end it by
 * _exit(0), which was meant for a child, and ctest asks for nothing but the status.
 */
#ifndef SUPPORT_WHOLE_RUN_H
#define SUPPORT_WHOLE_RUN_H

/* From here on what would end this process with status 0 ends it with 1; not its children. */
void test_run_begins(void);

/* All cases have run, and the status is what they came to. */
void test_run_ends(void);

/* The status with which this process ends instead; it says so. For who stands before _exit, too. */
int test_run_judge(int status);

#endif
