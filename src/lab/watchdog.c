/* SPDX-License-Identifier: BSD-2-Clause */
/* Watching the process that owns a lab: see lab_state.h. */
#include "lab/lab.h"
#include "lab/lab_state.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALL_IS_WELL 'w'

/* Ctrl-C is for the process that is watched; pipes of its parent must not stay open. */
static void step_aside(int fd)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	dup2(fd, 3);
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	syscall(SYS_close_range, 4, ~0u, 0);
}

static void watch_parent(const struct ml_lab *lab)
{
	struct ml_error e;
	char word = 0;
	ssize_t n;

	do {
		n = read(3, &word, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1 || word != ALL_IS_WELL)
		ml_down_if_same(lab->name, lab->id, &e);
}

int ml_watchdog_start(const struct ml_lab *lab, struct ml_error *e)
{
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return ml_error_set(e, "pipe: %s", strerror(errno));
	child = fork();
	if (child == 0) {
		close(ends[1]);
		/* Its parent is gone at once, so that init waits for it. */
		if (fork() == 0) {
			step_aside(ends[0]);
			watch_parent(lab);
		}
		_exit(0);
	}
	close(ends[0]);
	if (child < 0) {
		close(ends[1]);
		return ml_error_set(e, "fork: %s", strerror(errno));
	}
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return ends[1];
}

void ml_watchdog_stop(int fd)
{
	ssize_t n;

	if (fd < 0)
		return;
	do {
		n = write(fd, &(char){ALL_IS_WELL}, 1);
	} while (n < 0 && errno == EINTR);
	close(fd);
}
