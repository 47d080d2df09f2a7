/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ucx.c - UCX over TCP, as its own ucx_perftest measures it (Debian: ucx-utils). It counts
 * messages, not time, so a message takes part in the figure as soon as it is sent; of latency it
 * tells one percentile a run, the median here. CPU time is that of both whole processes.
 */
#include "host/bench_host.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define UCX "ucx_perftest"
#define UCX_PORT "13399"
#define UCX_SECONDS 60u
#define UCX_WARMUP 20u
/* Messages for each millisecond that was asked for: a millisecond carries about as many. */
#define MESSAGES_PER_MS 2u
#define PINGS_PER_MS 40u
/* Until the server listens. */
#define START_US 250000

static bool installed(void)
{
	return system("command -v " UCX " >/dev/null 2>&1") == 0;
}

/* UCX looks for interfaces in /sys, which shows those of the namespace that mounted it. */
static int show_interfaces(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("sysfs", "/sys", "sysfs", 0, NULL)) {
		perror("host: /sys of a network namespace");
		return -1;
	}
	return 0;
}

static pid_t start(const struct hb_case *c, int side, int to)
{
	bool bandwidth = c->kind == HB_BANDWIDTH;
	uint32_t n = c->ms * (bandwidth ? MESSAGES_PER_MS : PINGS_PER_MS);
	char count[16], size[24];
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	alarm(UCX_SECONDS);
	if (hb_space_enter(c->net, side) || (c->net == HB_VETH && show_interfaces()))
		_exit(1);
	snprintf(count, sizeof(count), "%u", n);
	snprintf(size, sizeof(size), "%u",
		 bandwidth ? (unsigned)HB_MESSAGE : (unsigned)HB_PING_BYTES);
	setenv("UCX_TLS", "tcp", 1);
	setenv("UCX_NET_DEVICES", hb_space_interface(c->net, side), 1);
	setenv("UCX_WARN_UNUSED_ENV_VARS", "n", 1);
	dup2(to, STDOUT_FILENO);
	if (side == 1)
		execlp(UCX, UCX, "-p", UCX_PORT, (char *)NULL);
	else
		execlp(UCX, UCX, hb_space_address(c->net, 1, false), "-p", UCX_PORT, "-f", "-v",
		       "-t", bandwidth ? "tag_bw" : "tag_lat", "-s", size, "-n", count, "-w", "20",
		       (char *)NULL);
	_exit(127);
}

/* The last line of the client: iterations, percentile, average, overall, then bandwidths. */
static bool read_figures(int fd, double number[6])
{
	char text[8192], *line;
	size_t len = 0;
	ssize_t n;

	while (len + 1 < sizeof(text) && (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	while (len > 0 && text[len - 1] == '\n')
		len--;
	text[len] = 0;
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	return sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf", &number[0], &number[1], &number[2],
		      &number[3], &number[4], &number[5]) == 6;
}

static double cpu_s(const struct rusage *use)
{
	return (double)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) +
	       (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec) * 1e-6;
}

/* Waits for both processes and returns their CPU time, or a negative number. */
static double wait_both(const pid_t pid[2])
{
	double all = 0;

	for (int side = 0; side < 2; side++) {
		struct rusage use;
		int status;

		if (pid[side] < 0 || wait4(pid[side], &status, 0, &use) != pid[side] || status)
			return -1;
		all += cpu_s(&use);
	}
	return all;
}

void hb_ucx_measure(const struct hb_case *c, struct hb_figure *f)
{
	double number[6] = {0}, cpu;
	int out[2], null;
	pid_t pid[2];
	bool good;

	f->skipped = !installed();
	snprintf(f->why, HB_WHY, "%s", UCX " is not installed (Debian: ucx-utils)");
	if (f->skipped)
		return;
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null < 0 || pipe(out)) {
		perror("host");
		f->failed = true;
		return;
	}
	pid[1] = start(c, 1, null);
	usleep(START_US);
	pid[0] = start(c, 0, out[1]);
	close(out[1]);
	close(null);
	good = read_figures(out[0], number);
	close(out[0]);
	cpu = wait_both(pid);
	f->failed = !good || cpu < 0;
	snprintf(f->why, HB_WHY, "%s", f->failed ? "failed; stderr says why" : "");
	f->p50_us = number[1];
	f->gbit_s = number[5] * (1 << 20) * 8 / 1e9;
	f->cpu_s_per_gb = cpu * 1e9 / ((number[0] + UCX_WARMUP) * (double)HB_MESSAGE);
}
