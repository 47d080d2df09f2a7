/* SPDX-License-Identifier: BSD-2-Clause */
/* live_daemon.c - starts and ends mrcd: see live_daemon.h. */
#include "live/live_daemon.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

static bool answers(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	strcpy(at.sun_path, path);
	err = connect(fd, (struct sockaddr *)&at, sizeof(at));
	close(fd);
	return err == 0;
}

pid_t live_daemon_start(const char *program, const char *dir, const char *device)
{
	char config[64], path[64];
	pid_t daemon;
	FILE *f;

	snprintf(config, sizeof(config), "%s/mrcd.toml", dir);
	snprintf(path, sizeof(path), "%s/mrcd.sock", dir);
	f = fopen(config, "we");
	assert_non_null(f);
	fprintf(f, "[node]\ndir = \"%s\"\n[device]\n%s[log]\nlevel = \"error\"\n", dir, device);
	fclose(f);
	daemon = fork();
	assert_true(daemon >= 0);
	if (daemon == 0) {
		/* It does not outlive a test that fails or is killed. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(program, "mrcd", "--config", config, (char *)NULL);
		_exit(127);
	}
	for (int ms = 0; ms < LIVE_PATIENCE_MS && !answers(path); ms++)
		usleep(1000);
	assert_true(answers(path));
	return daemon;
}

void live_daemon_stop(pid_t daemon, int signal)
{
	int status;

	kill(daemon, signal);
	assert_int_equal(waitpid(daemon, &status, 0), daemon);
}
