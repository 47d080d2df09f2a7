/* SPDX-License-Identifier: BSD-2-Clause */
/* diff.h - `mrc plan diff`: what runs against what was planned. */
#ifndef SOFTMRC_CLI_PLAN_DIFF_H
#define SOFTMRC_CLI_PLAN_DIFF_H

/* plan_diff_main is written like a main(). 0 nothing differs, 1 something does, 2 usage or
 * trouble. */
int plan_diff_main(int argc, char **argv);

#endif
