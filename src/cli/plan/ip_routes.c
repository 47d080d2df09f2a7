/* SPDX-License-Identifier: BSD-2-Clause */
/* What ip(8) shows: see plan_verb.h. */
#include "cli/plan/plan_verb.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Routes of the largest switch that there is in a lab, many times over. */
#define SHOWN_MAX (64u << 20)

static char *read_all(FILE *from, char *error, size_t size)
{
	char *text = NULL;
	size_t len = 0, room = 0;

	do {
		char *grown;

		room = room ? 2 * room : 1u << 16;
		grown = room <= SHOWN_MAX ? realloc(text, room) : NULL;
		if (!grown) {
			snprintf(error, size, "more routes than there is room for");
			free(text);
			return NULL;
		}
		text = grown;
		len += fread(text + len, 1, room - len - 1, from);
	} while (len == room - 1);
	if (ferror(from)) {
		snprintf(error, size, "%s", strerror(errno));
		free(text);
		return NULL;
	}
	text[len] = '\0';
	return text;
}

/* In the child: everything that it says goes to the pipe. */
static void become_ip(int netns, int out)
{
	if (setns(netns, CLONE_NEWNET) || dup2(out, STDOUT_FILENO) < 0)
		_exit(126);
	execlp("ip", "ip", "-j", "-6", "route", "show", "table", "all", (char *)NULL);
	execl("/sbin/ip", "ip", "-j", "-6", "route", "show", "table", "all", (char *)NULL);
	_exit(127);
}

static char *run_ip(int netns, char *error, size_t size)
{
	int fds[2], status;
	char *text = NULL;
	FILE *from;
	pid_t pid;

	if (pipe(fds)) {
		snprintf(error, size, "%s", strerror(errno));
		return NULL;
	}
	pid = fork();
	if (pid == 0)
		become_ip(netns, fds[1]);
	close(fds[1]);
	from = fdopen(fds[0], "r");
	if (pid > 0 && from)
		text = read_all(from, error, size);
	if (from)
		fclose(from);
	else
		close(fds[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status)) {
		snprintf(error, size, "ip -j -6 route show failed");
		free(text);
		return NULL;
	}
	return text;
}

char *plan_ip_routes_run(const struct ml_lab *lab, uint32_t node, char *error, size_t size)
{
	struct ml_error e;
	int netns = ml_lab_netns(lab, node, &e);
	char *text;

	if (netns < 0) {
		snprintf(error, size, "%s", e.text);
		return NULL;
	}
	text = run_ip(netns, error, size);
	close(netns);
	return text;
}

char *plan_ip_routes_read(const char *dir, const char *path, char *error, size_t size)
{
	char whole[PATH_MAX];
	FILE *from;
	char *text;

	snprintf(whole, sizeof(whole), "%s/%s.routes.json", dir, path);
	from = fopen(whole, "r");
	if (!from) {
		snprintf(error, size, "%.180s: %s", whole, strerror(errno));
		return NULL;
	}
	text = read_all(from, error, size);
	fclose(from);
	return text;
}
