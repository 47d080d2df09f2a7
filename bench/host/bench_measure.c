/* SPDX-License-Identifier: BSD-2-Clause */
/* measure.c - runs the two ends of a case as processes and turns what they found into figures. */
#include "host/bench_host.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)
/* An end that hangs is ended, so that a bench never waits for ever. */
#define END_SECONDS 60u

uint64_t hb_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static uint64_t timeval_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * NS_PER_S + (uint64_t)t->tv_usec * 1000;
}

uint64_t hb_cpu_ns(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return timeval_ns(&use.ru_utime) + timeval_ns(&use.ru_stime);
}

uint64_t hb_switches(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (uint64_t)use.ru_nvcsw + (uint64_t)use.ru_nivcsw;
}

void hb_times_begin(struct hb_times *t)
{
	t->n = 0;
	t->switches = hb_switches();
}

void hb_times_add(struct hb_times *t, uint64_t ns)
{
	if (t->n < sizeof(t->ns) / sizeof(t->ns[0]))
		t->ns[t->n++] = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

void hb_times_end(struct hb_times *t, struct hb_end *out)
{
	out->switches = hb_switches() - t->switches;
	out->round_trips = t->n;
	qsort(t->ns, t->n, sizeof(t->ns[0]), by_value);
	out->p50_ns = t->n ? t->ns[t->n / 2] / 2 : 0;
	out->p99_ns = t->n ? t->ns[(uint64_t)t->n * 99 / 100] / 2 : 0;
	out->p999_ns = t->n ? t->ns[(uint64_t)t->n * 999 / 1000] / 2 : 0;
}

static void set_env(const char *name, const char *value)
{
	setenv(name, value, 1);
}

void hb_environment(const struct hb_case *c, int side)
{
	static const char *const driver[] = {"udp", "af_packet", "raw41"};
	char run[16];

	snprintf(run, sizeof(run), "%u", c->run);
	setenv("MRC_RUN", run, 1);
	setenv("MRC_DRIVER", driver[c->driver], 1);
	setenv("MRC_ICRC", c->icrc ? "on" : "off", 1);
	setenv("MRC_PORTS",
	       c->driver == HB_DRIVER_RAW41 ? hb_space_address(c->net, side, true)
					    : hb_space_planes(c->net, side, c->planes),
	       1);
	/* What else the user has set is not what is measured here. */
	for (const char *const *name =
		     (const char *const[]){"MRC_PACE", "MRC_MTU", "MRC_EVS", "MRC_CC", "MRC_FAULTS",
					   "MRC_CAPTURE", "MRC_EV_FORMAT", "MRC_EV_BASE",
					   "MRC_PORT_PREFIX", "MRC_SRV6_ROWS", "MRC_SRV6_GID",
					   "MRC_SRV6_UPLINKS", "MRC_SRV6_T1_UPLINKS", NULL};
	     *name; name++)
		unsetenv(*name);
	if (c->net == HB_FABRIC)
		hb_fabric_environment(side, set_env);
}

static int end_of(const struct hb_case *c, int side, int fd, struct hb_end *out)
{
	alarm(END_SECONDS);
	if (hb_space_enter(c->net, side))
		return -1;
	switch (c->means) {
	case HB_MRC:
		hb_environment(c, side);
		return hb_mrc_end(c, side, fd, out);
	case HB_UDP:
		return hb_udp_end(c, side, fd, out);
	case HB_TCP:
		return hb_tcp_end(c, side, fd, out);
	case HB_UCX:
		break;
	}
	return -1;
}

static bool may_be_raw(const struct hb_case *c)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int fd = hb_space_enter(c->net, 0) ? -1 : socket(AF_INET6, SOCK_RAW, IPPROTO_UDP);

		_exit(fd < 0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static void figure_of(const struct hb_case *c, const struct hb_end *end, struct hb_figure *f)
{
	double bytes = (double)end[1].bytes;

	if (c->kind != HB_BANDWIDTH) {
		f->p50_us = (double)end[0].p50_ns / 1e3;
		f->p99_us = (double)end[0].p99_ns / 1e3;
		f->p999_us = (double)end[0].p999_ns / 1e3;
		f->switches = (double)(end[0].switches + end[1].switches) / 2 /
			      (double)(end[0].round_trips ? end[0].round_trips : 1);
		return;
	}
	f->gbit_s = bytes * 8 / (double)end[0].ns;
	f->cpu_s_per_gb = (double)(end[0].cpu_ns + end[1].cpu_ns) / bytes;
	if (end[0].sent_bytes > end[1].bytes)
		f->lost = 1 - bytes / (double)end[0].sent_bytes;
}

/* Starts both ends and waits for them; false: one of them failed. */
static bool run_ends(const struct hb_case *c, struct hb_end *end)
{
	int fds[2], status;
	bool good = true;
	pid_t pid[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
		perror("host");
		return false;
	}
	for (int side = 0; side < 2; side++) {
		pid[side] = fork();
		if (pid[side] == 0) {
			close(fds[!side]);
			_exit(end_of(c, side, fds[side], &end[side]) ? 1 : 0);
		}
	}
	close(fds[0]);
	close(fds[1]);
	for (int side = 0; side < 2; side++)
		good &= pid[side] > 0 && waitpid(pid[side], &status, 0) == pid[side] && status == 0;
	return good;
}

void hb_measure(const struct hb_case *c, struct hb_figure *figure)
{
	struct hb_end *end;

	memset(figure, 0, sizeof(*figure));
	if (c->means == HB_UCX) {
		hb_ucx_measure(c, figure);
		return;
	}
	if (c->means == HB_MRC && c->driver != HB_DRIVER_UDP && !may_be_raw(c)) {
		figure->skipped = true;
		snprintf(figure->why, HB_WHY, "needs CAP_NET_RAW and IPv6");
		return;
	}
	end = mmap(NULL, 2 * sizeof(*end), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		   0);
	if (end == MAP_FAILED || !run_ends(c, end)) {
		figure->failed = true;
		snprintf(figure->why, HB_WHY, "failed; stderr says why");
	} else {
		figure_of(c, end, figure);
	}
	if (end != MAP_FAILED)
		munmap(end, 2 * sizeof(*end));
}
