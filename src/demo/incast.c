/* SPDX-License-Identifier: BSD-2-Clause */
/* Writers beside the job: see incast.h. */
#include "demo/incast.h"

#include "base/quantity.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PORT_FIRST 18600u
/* Longer than any fault lasts; it is ended before. */
#define RUN_MS "60000"

struct place {
	const struct demo_incast_cfg *cfg;
	uint32_t host;
	uint16_t port;
	const char *call; /* whom; NULL: a server */
	char config[ML_HOST_PATH_MAX];
};

/* In the child: moves to the host and sets what the device reads there. */
static int wait_ready(const struct place *p)
{
	char pace[MB_QUANTITY_MAX];
	struct ml_error e;
	int fd = ml_lab_netns(p->cfg->lab, p->host, &e);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		return -1;
	close(fd);
	unsetenv("MRC_PORTS");
	unsetenv("MRC_FAULTS");
	return setenv("MRC_CONFIG", p->config, 1) ||
	       setenv("MRC_PACE", mb_quantity_write_rate(pace, p->cfg->pace_bps), 1) ||
	       setenv("MRC_CC", "none", 1) || unsetenv("MRC_STATS_DIR");
}

__attribute__((noreturn)) static void exec_program(const struct place *p, pid_t parent)
{
	char port[8];
	const char *server[] = {p->cfg->program, "--port", port, NULL};
	const char *client[] = {p->cfg->program, p->call, "--port",  port,   "--min",
				"262144",	 "--max", "262144",  "--ms", RUN_MS,
				"--depth",	 "4",	  "--sleep", NULL};
	int null = open("/dev/null", O_RDWR);

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || null < 0 || wait_ready(p))
		_exit(127);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	snprintf(port, sizeof(port), "%u", p->port);
	execv(p->cfg->program, (char *const *)(uintptr_t)(p->call ? client : server));
	_exit(127);
}

/* Files are written here: of processes that write the same one at once, some would read half. */
static int write_config(struct place *p)
{
	struct ml_error e;

	if (ml_host_config(p->cfg->lab, p->host, MF_HOST_RAW41, p->config, &e) == 0)
		return 0;
	fprintf(stderr, "mrc demo: %s\n", e.text);
	return -1;
}

static int start_pair(struct demo_incast *incast, const struct place *p)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid == 0)
		exec_program(p, parent);
	if (pid < 0) {
		fprintf(stderr, "mrc demo: cannot start %s: %s\n", p->cfg->program,
			strerror(errno));
		return -1;
	}
	incast->pid[incast->n++] = pid;
	return 0;
}

int demo_incast_start(struct demo_incast *incast, const struct demo_incast_cfg *cfg)
{
	char address[INET6_ADDRSTRLEN];
	struct place server = {.cfg = cfg, .host = cfg->target};
	int rc = write_config(&server);

	ml_host_address(cfg->lab, cfg->target, address);
	incast->n = 0;
	fflush(NULL);
	for (uint32_t i = 0; !rc && i < cfg->senders; i++) {
		struct place client = {.cfg = cfg, .host = cfg->sender[i], .call = address};

		server.port = client.port = (uint16_t)(PORT_FIRST + i);
		rc = write_config(&client);
		if (!rc && (start_pair(incast, &server) || start_pair(incast, &client)))
			rc = -1;
	}
	if (rc)
		demo_incast_stop(incast);
	return rc;
}

uint32_t demo_incast_stop(struct demo_incast *incast)
{
	uint32_t ended = 0;

	for (uint32_t i = 0; i < incast->n; i++)
		if (waitpid(incast->pid[i], NULL, WNOHANG) == incast->pid[i]) {
			incast->pid[i] = 0;
			ended++;
		}
	for (uint32_t i = 0; i < incast->n; i++)
		if (incast->pid[i])
			kill(incast->pid[i], SIGKILL);
	for (uint32_t i = 0; i < incast->n; i++)
		if (incast->pid[i])
			waitpid(incast->pid[i], NULL, 0);
	incast->n = 0;
	return ended;
}
