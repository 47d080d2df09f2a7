/* SPDX-License-Identifier: BSD-2-Clause */
/* ip and tc fed with lists of commands: see netns.h. */
#include "lab/netns.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define COMPLAINT_MAX 400

/* ---- lists ---- */

void ml_list_open(struct ml_list *l)
{
	*l = (struct ml_list){0};
	l->to = open_memstream(&l->text, &l->len);
	if (!l->to) {
		fprintf(stderr, "softmrc: no memory for a list of commands\n");
		abort();
	}
}

const char *ml_list_text(struct ml_list *l)
{
	fflush(l->to);
	return l->text;
}

void ml_list_close(struct ml_list *l)
{
	if (l->to)
		fclose(l->to);
	free(l->text);
	*l = (struct ml_list){0};
}

/* ---- programs ---- */

/* Users that are not root seldom have the sbin folders in PATH. */
static const char *find_tool(const char *tool, char *path, size_t size)
{
	static const char *const dirs[] = {"/usr/sbin", "/sbin", "/usr/bin", "/bin",
					   "/usr/local/sbin"};

	if (strchr(tool, '/'))
		return tool;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(path, size, "%s/%s", dirs[i], tool);
		if (access(path, X_OK) == 0)
			return path;
	}
	return tool;
}

static int memory_file(const char *text)
{
	int fd = memfd_create("softmrc-lab", MFD_CLOEXEC);
	size_t len = text ? strlen(text) : 0;

	for (size_t done = 0; fd >= 0 && done < len;) {
		ssize_t n = write(fd, text + done, len - done);

		if (n > 0) {
			done += (size_t)n;
		} else {
			close(fd);
			fd = -1;
		}
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

static int spawn_tool(const char *const argv[], int in, int out, pid_t *pid)
{
	char path[128];
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int err;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, out, STDERR_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP); /* one of its own: 0, as it is */
	err = posix_spawnp(pid, find_tool(argv[0], path, sizeof(path)), &files, &attr,
			   (char *const *)argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return err;
}

/* 0, or an error: who ignores SIGCHLD never hears how it ended. */
static int wait_for(pid_t pid, int *status)
{
	int how;

	while (waitpid(pid, &how, 0) < 0)
		if (errno != EINTR)
			return errno;
	*status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
	return 0;
}

/* The 1-based line of text, without its end. */
static void copy_line(const char *text, long number, char *out, size_t size)
{
	size_t len;

	while (--number > 0 && (text = strchr(text, '\n')))
		text++;
	if (!text)
		text = "";
	len = strcspn(text, "\n");
	snprintf(out, size, "%.*s", (int)len, text);
}

/* What the program printed, in one line, and of a list of commands the one that it is about. */
static void report_tool_error(const char *tool, const char *input, char *printed, int status,
			      struct ml_error *e)
{
	char *failed = strstr(printed, "Command failed");
	char line[200] = "";

	if (failed && input && strchr(failed, ':'))
		copy_line(input, strtol(strchr(failed, ':') + 1, NULL, 10), line, sizeof(line));
	if (failed)
		*failed = '\0';
	for (char *c = printed; *c; c++)
		if (*c == '\n')
			*c = ' ';
	for (size_t n = strlen(printed); n && printed[n - 1] == ' '; n--)
		printed[n - 1] = '\0';
	if (line[0])
		ml_error_set(e, "%s %s: %s", tool, line, printed);
	else if (printed[0])
		ml_error_set(e, "%s: %s", tool, printed);
	else
		ml_error_set(e, "%s exited with status %d and no message", tool, status);
}

static int run_tool(const char *const argv[], const char *input, struct ml_error *e)
{
	char printed[COMPLAINT_MAX] = "";
	int in = memory_file(input), out = memory_file(NULL);
	int status = -1, err = errno;
	pid_t pid;

	if (in >= 0 && out >= 0) {
		err = spawn_tool(argv, in, out, &pid);
		err = err ? err : wait_for(pid, &status);
	}
	if (status < 0)
		ml_error_set(e, "%s cannot be run: %s%s", argv[0], strerror(err),
			     err == ENOENT ? " (package iproute2)" : "");
	else if (status != 0) {
		ssize_t n = pread(out, printed, sizeof(printed) - 1, 0);

		printed[n > 0 ? n : 0] = '\0';
		report_tool_error(argv[0], input, printed, status, e);
	}
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return status == 0 ? 0 : -1;
}

int ml_proc_batch(const char *tool, const char *input, bool force, struct ml_error *e)
{
	const char *const plain[] = {tool, "-batch", "-", NULL};
	const char *const forced[] = {tool, "-force", "-batch", "-", NULL};

	return *input ? run_tool(force ? forced : plain, input, e) : 0;
}

int ml_proc_run(const char *const argv[], struct ml_error *e)
{
	return run_tool(argv, NULL, e);
}
