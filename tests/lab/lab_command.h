/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_command.h - runs the one command, which is the first argument of the test, and those of the
 * shell. A report of a sanitizer fails the test, whatever it expects.
 */
#ifndef LAB_LAB_COMMAND_H
#define LAB_LAB_COMMAND_H

/* What the last one said, on both outputs. */
extern char command_said[65536];

/* command_run runs `mrc WORDS` and returns the exit status, -1 where a signal ended it. */
__attribute__((format(printf, 1, 2))) int command_run(const char *format, ...);

/* shell_run runs a line of the shell, with the folders of ip(8), and returns the same. */
__attribute__((format(printf, 1, 2))) int shell_run(const char *format, ...);

/* command_want fails the test where the status is another one, or words were not said. */
void command_want(int status, int wanted, const char *words);

#endif
