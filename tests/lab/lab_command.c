/* SPDX-License-Identifier: BSD-2-Clause */
/* lab_command.c - see lab_command.h. */
#include "lab/lab_command.h"
#include "support/test.h"

#include <stdio.h>
#include <sys/wait.h>

char command_said[65536];

int command_run(const char *format, ...)
{
	char words[512], command[1024];
	va_list args;
	size_t n;
	FILE *f;
	int status;

	va_start(args, format);
	vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	snprintf(command, sizeof(command), "%s %s 2>&1", test_arg(0), words);
	f = popen(command, "r");
	assert_non_null(f);
	n = fread(command_said, 1, sizeof(command_said) - 1, f);
	command_said[n] = '\0';
	status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void command_want(int status, int wanted, const char *words)
{
	if (status != wanted || !strstr(command_said, words))
		fail_msg("status %d, want %d and \"%s\", but:\n%s", status, wanted, words,
			 command_said);
}
