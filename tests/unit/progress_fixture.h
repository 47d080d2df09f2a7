/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress_fixture.h - progress.c alone: the poll loop, its deadlines, the ports, the store, time
 * and sleep are the test's. Who links it says --wrap to the linker for each function that
 * progress_fixture.c has.
 */
#ifndef UNIT_PROGRESS_FIXTURE_H
#define UNIT_PROGRESS_FIXTURE_H

#include "support/test.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>

#include "host/node/node.h"
#include "host/progress/progress.h"

#define NOW_NS UINT64_C(5000000000)
#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define NEVER UINT64_MAX
#define PORTS 3u
#define PORT_FD 100 /* of port 0; the others follow */

/* What a sleep was like. */
struct progress_sleep {
	uint64_t ns; /* NEVER: until something comes */
	nfds_t n;
	bool backing_off;
	uint32_t runs; /* of the loop, so far */
};

struct progress_fixture {
	struct mh_nic nic;
	struct mh_node node;
	struct mio_port port[PORTS + 1];
	struct mio_status status[PORTS + 1];
	uint64_t now_ns; /* 0: the time of the system */
	/* What the loop and others say. */
	uint64_t rung_due_ns, deadline_ns, thread_deadline_ns, segment_deadline_ns, store_due_ns;
	uint64_t run_takes_ns;
	uint32_t work, frames, read_work;
	bool gathers, have_qps, links_drained, links_changed, store_changed, store_moves_ports;
	int sleep_err; /* a sleep fails */
	/* What was asked of them. */
	bool held, polling;
	uint32_t runs, txs, posted_wrs, kicks, yields, naps, refreshes, reports, drains, updates,
		looks, takes, joins, inits;
	char raised[32]; /* by 1 and 0: that the priority was raised, and put back */
	char name[16];	 /* of the thread */
	unsigned long slack;
	int start_err, eventfd_err, links_err;
	void *(*routine)(void *); /* of the thread */
	sigset_t routine_mask;	  /* with which it began */
	/* The thread's sleeps; what comes in each is the test's, who ends it. */
	struct progress_sleep slept[8];
	uint32_t sleeps;
	void (*on_sleep)(uint32_t i, struct pollfd *fds);
};

extern struct progress_fixture fix;

int progress_setup(void **state);
int progress_teardown(void **state);
/* progress_start starts the thread, which does not run; 0, or an errno value. */
int progress_start(void);
/* progress_run is the thread, until a sleep sets nic.progress.stop. */
void progress_run(void (*on_sleep)(uint32_t i, struct pollfd *fds));

#endif
