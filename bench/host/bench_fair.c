/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fair.c - eight processes on two cores: four pairs over loopback, both ends of each writing as
 * fast as they can. What counts is what each process got acknowledged in the time all had.
 */
#include "common/connection.h"
#include "common/tcp_exchange.h"
#include "host/bench_host.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CORES 2
#define SECONDS 120u
#define MESSAGE (UINT64_C(1) << 18)

struct shared {
	atomic_uint ready, done;
	double gbit_s[HB_FAIR];
};

static void two_cores(void)
{
	cpu_set_t all, two;
	int taken = 0;

	CPU_ZERO(&two);
	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	for (size_t i = 0; i < CPU_SETSIZE && taken < CORES; i++)
		if (CPU_ISSET(i, &all)) {
			CPU_SET(i, &two);
			taken++;
		}
	sched_setaffinity(0, sizeof(two), &two);
}

static int write_for(struct connection *r, uint32_t ms, double *gbit_s)
{
	uint64_t begin = hb_now_ns(), end = begin + ms * UINT64_C(1000000), posted = 0, done = 0;
	bool counted = false;

	while (!counted || done < posted) {
		int n;

		for (; !counted && posted - done < HB_DEPTH; posted++)
			if (connection_post_write(r, MESSAGE))
				return -1;
		n = connection_poll(r);
		if (n < 0)
			return -1;
		done += (uint64_t)n;
		if (!counted && hb_now_ns() >= end) {
			counted = true;
			*gbit_s = (double)done * MESSAGE * 8 / (double)(hb_now_ns() - begin);
		}
	}
	return 0;
}

static int run_pair(struct shared *s, uint32_t i, int fd, uint32_t ms, uint32_t run)
{
	const struct hb_case c = {.net = HB_LO, .run = run, .icrc = true};
	struct connection r;
	int rc;

	alarm(SECONDS);
	two_cores();
	hb_environment(&c, 0);
	rc = connection_open(&r, hb_program, MESSAGE, HB_DEPTH, 1);
	if (!rc)
		rc = connection_connect(&r, fd);
	atomic_fetch_add(&s->ready, 1);
	while (!rc && atomic_load(&s->ready) < HB_FAIR)
		usleep(1000);
	if (!rc)
		rc = write_for(&r, ms, &s->gbit_s[i]);
	if (!rc)
		rc = meet_barrier(hb_program, fd);
	connection_close(&r);
	return rc;
}

int hb_fair(uint32_t ms, uint32_t run, double gbit_s[HB_FAIR])
{
	struct shared *s =
		mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid[HB_FAIR];
	int rc = 0;

	if (s == MAP_FAILED)
		return -1;
	for (uint32_t i = 0; i < HB_FAIR; i += 2) {
		int fds[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
			rc = -1;
		for (uint32_t k = 0; k < 2; k++) {
			pid[i + k] = rc ? -1 : fork();
			if (pid[i + k] == 0) {
				close(fds[!k]);
				_exit(run_pair(s, i + k, fds[k], ms, run) ? 1 : 0);
			}
		}
		if (!rc) {
			close(fds[0]);
			close(fds[1]);
		}
	}
	for (uint32_t i = 0; i < HB_FAIR; i++) {
		int status;

		if (pid[i] < 0 || waitpid(pid[i], &status, 0) != pid[i] || status)
			rc = -1;
		gbit_s[i] = s->gbit_s[i];
	}
	munmap(s, sizeof(*s));
	return rc;
}
