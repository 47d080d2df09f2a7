/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc - the one command of softmrc. */
#include "cli/built_parts.h"
#include "cli/cli_verbs.h"

#include <stdio.h>
#include <string.h>

static void print_version(void)
{
	printf("mrc %s\n", SOFTMRC_VERSION);
	for (size_t i = 0; i < CLI_BUILT_PARTS; i++) {
		const struct cli_built_part *part = &cli_built_parts[i];

		if (part->built)
			printf("with %s\n", part->name);
		else
			printf("without %s: %s (%s)\n", part->name, part->without, part->packages);
	}
}

int main(int argc, char **argv)
{
	int status = 0;

	if (argc > 1 && strcmp(argv[1], "--version") == 0)
		print_version();
	else
		status = ui_verb_run(&cli_root_verb, argc, argv);
	return ui_verb_end(&cli_root_verb, status);
}
