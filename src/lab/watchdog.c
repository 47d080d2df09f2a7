/* SPDX-License-Identifier: BSD-2-Clause */
/* Watching the process that owns a lab: see lab_state.h. */
#include "lab/lab.h"
#include "lab/lab_state.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALL_IS_WELL 'w'

/* Ctrl-C is for the process that is watched; nothing that its parent has open must stay so. */
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

/* Returns an error of the system, or 0, in the parent. */
static int fork_watchdog(const struct ml_lab *lab, int fd)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		return errno;
	if (child == 0) {
		/* Its parent is gone at once, so that init waits for it. */
		pid_t watchdog = fork();

		if (watchdog == 0) {
			step_aside(fd);
			watch_parent(lab);
		}
		_exit(watchdog < 0 ? errno : 0);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 0; /* who ignores SIGCHLD never hears how it ended */
	return WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
}

int ml_watchdog_start(const struct ml_lab *lab, struct ml_error *e)
{
	int ends[2], err;

	/* No pipe: without its reader, which others may have killed, that would end who writes. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return ml_error_set(e, "socketpair: %s", strerror(errno));
	err = fork_watchdog(lab, ends[0]);
	close(ends[0]);
	if (!err)
		return ends[1];
	close(ends[1]);
	return ml_error_set(e, "fork: %s", strerror(err));
}

void ml_watchdog_stop(int fd)
{
	if (fd < 0)
		return;
	while (send(fd, &(char){ALL_IS_WELL}, 1, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
	close(fd);
}
