/* SPDX-License-Identifier: BSD-2-Clause */
/* node_readers.c - processes that follow a store as the thread of a device with QPs does. */
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "node/bench_node.h"

#define READERS 1000u
#define UNTOLD_MS 5
#define TOLD_MS 1000
#define PATIENCE_MS 30000u

/* Shared with the readers. */
static struct shared {
	_Atomic uint32_t ready, hears;
	_Atomic uint32_t took; /* the newest state, of this round */
	uint64_t ns[READERS];
} * shared;

static void follow(uint32_t number)
{
	static struct mn_state state;
	struct store_watch w;
	struct store_info info;
	struct store_error error;

	store_watch_open(&w, bn_dir, "mrc0", &error);
	store_watch_look(&w, &state, &info, &error);
	atomic_fetch_add(&shared->hears, store_watch_hears(&w));
	atomic_fetch_add(&shared->ready, 1);
	for (;;) {
		struct pollfd pfd = {w.fd, POLLIN, 0};

		poll(&pfd, 1, store_watch_hears(&w) ? TOLD_MS : UNTOLD_MS);
		if (store_watch_look(&w, &state, &info, &error))
			continue;
		shared->ns[number] = bn_now_ns(CLOCK_REALTIME) - info.written_ns;
		atomic_fetch_add(&shared->took, 1);
	}
}

static bool wait_for(_Atomic uint32_t *count, uint32_t n)
{
	for (uint32_t ms = 0; ms < PATIENCE_MS && atomic_load(count) < n; ms++)
		bn_sleep_ms(1);
	return atomic_load(count) >= n;
}

void bn_measure_readers(uint32_t rounds)
{
	static pid_t pid[READERS];
	uint64_t begin, all;
	char what[80];

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		bn_die("shared memory");
	for (uint32_t i = 0; i < READERS; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			follow(i);
	}
	if (!wait_for(&shared->ready, READERS))
		bn_die("not all readers have begun");
	printf("%-44s %u of %u\n", "readers that inotify tells", shared->hears, READERS);
	for (uint32_t round = 0; round < rounds; round++) {
		atomic_store(&shared->took, 0);
		begin = bn_now_ns(CLOCK_MONOTONIC);
		bn_commit(round);
		if (!wait_for(&shared->took, READERS))
			bn_die("not all readers have been told");
		all = bn_now_ns(CLOCK_MONOTONIC) - begin;
		snprintf(what, sizeof(what), "commit to %u readers, all after %.1f ms", READERS,
			 (double)all / 1e6);
		bn_print_times(what, shared->ns, READERS);
	}
	for (uint32_t i = 0; i < READERS; i++)
		kill(pid[i], SIGKILL);
	while (wait(NULL) > 0)
		;
}
