/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc - the one command of softmrc. */
#include "cli/cli_verbs.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--version") == 0) {
		printf("mrc %s\n", SOFTMRC_VERSION);
		return 0;
	}
	return ui_verb_run(&cli_root_verb, argc, argv);
}
