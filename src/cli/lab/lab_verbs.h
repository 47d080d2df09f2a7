/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_verbs.h - the second words of `mrc lab`, one function each, written like a main(): argv[0] is
 * that word. The result is the exit status: 0 good, 1 the work failed, 2 wrong usage.
 */
#ifndef SOFTMRC_CLI_LAB_LAB_VERBS_H
#define SOFTMRC_CLI_LAB_LAB_VERBS_H

enum { LAB_GOOD = 0, LAB_FAILED = 1, LAB_USAGE = 2 };

int lab_up_main(int argc, char **argv);
int lab_down_main(int argc, char **argv);
int lab_status_main(int argc, char **argv);
int lab_fault_main(int argc, char **argv);
int lab_reboot_main(int argc, char **argv);
int lab_shell_main(int argc, char **argv);
int lab_watch_main(int argc, char **argv);
int lab_run_main(int argc, char **argv);

#endif
