/* SPDX-License-Identifier: BSD-2-Clause */
/* lab_command.c - see lab_command.h. */
#include "lab/lab_command.h"
#include "support/test.h"

#include <stdio.h>
#include <sys/wait.h>

char command_said[65536];

static int run(const char *program, const char *format, va_list args)
{
	char words[900], command[1400];
	size_t n;
	FILE *f;
	int status;

	assert_true(vsnprintf(words, sizeof(words), format, args) < (int)sizeof(words));
	assert_true(snprintf(command, sizeof(command), "PATH=$PATH:/usr/sbin:/sbin; %s %s 2>&1",
			     program, words) < (int)sizeof(command));
	f = popen(command, "re");
	assert_non_null(f);
	n = fread(command_said, 1, sizeof(command_said) - 1, f);
	command_said[n] = '\0';
	status = pclose(f);
	if (strstr(command_said, "Sanitizer"))
		fail_msg("%s: %s", words, command_said);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int command_run(const char *format, ...)
{
	va_list args;
	int status;

	va_start(args, format);
	status = run(test_arg(0), format, args);
	va_end(args);
	return status;
}

int shell_run(const char *format, ...)
{
	va_list args;
	int status;

	va_start(args, format);
	status = run("", format, args);
	va_end(args);
	return status;
}

void command_want(int status, int wanted, const char *words)
{
	if (status != wanted || !strstr(command_said, words))
		fail_msg("status %d, want %d and \"%s\", but:\n%s", status, wanted, words,
			 command_said);
}
