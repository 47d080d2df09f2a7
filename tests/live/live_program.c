/* SPDX-License-Identifier: BSD-2-Clause */
/* live_program.c - see live_program.h. */
#include "live/live_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

static void become(int out, bool (*prepare)(void), char *const *argv)
{
	dup2(out, 1);
	dup2(out, 2);
	close(out);
	if (prepare && !prepare())
		_exit(77);
	execv(argv[0], argv);
	_exit(127);
}

void live_program_start(struct live_program *p, char *const *words, bool (*prepare)(void))
{
	char *argv[LIVE_PROGRAM_WORDS + 2] = {(char *)(uintptr_t)test_arg(0)};
	int fds[2];

	assert_non_null(argv[0]);
	for (int i = 0; words[i]; i++) {
		assert_true(i < LIVE_PROGRAM_WORDS);
		argv[i + 1] = words[i];
	}
	assert_int_equal(pipe(fds), 0);
	p->pid = fork();
	if (p->pid == 0) {
		close(fds[0]);
		become(fds[1], prepare, argv);
	}
	assert_true(p->pid > 0);
	close(fds[1]);
	p->out = fds[0];
	p->have = 0;
	p->said[0] = '\0';
}

bool live_program_hear(struct live_program *p)
{
	ssize_t n = read(p->out, p->said + p->have, sizeof(p->said) - 1 - p->have);

	p->have += n > 0 ? (size_t)n : 0;
	p->said[p->have] = '\0';
	return n > 0;
}

void live_program_wait_said(struct live_program *p, const char *part)
{
	while (!strstr(p->said, part))
		if (!live_program_hear(p))
			fail_msg("it ended without <%s>:\n%s", part, p->said);
}

int live_program_finish(struct live_program *p)
{
	int status;

	while (live_program_hear(p))
		continue;
	close(p->out);
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void live_program_assert_said(const struct live_program *p, const char *part)
{
	if (!strstr(p->said, part))
		fail_msg("no <%s> in:\n%s", part, p->said);
}
