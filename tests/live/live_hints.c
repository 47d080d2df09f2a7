/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_hints.c - processes that come after one another while a plane is dark: what the first one
 * has lost there the others need not lose, as mrcd tells them. The argument is mrcd's program.
 *
 * The device sends to itself over two planes, and a fault table swallows all frames of the second
 * one and counts those that had data in them: these are what was lost.
 */
#include "live/live_daemon.h"
#include "live/live_fixture.h"

#include <fcntl.h>
#include <mrc/fault.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVS 8 /* of a plane */
#define PROCESSES 10
/* All EVs have their turn, several times. */
#define WRITES 100
#define BYTES 100000
/* Of a file of hints, see store_hints.c. */
#define HEAD_BYTES 24
#define HINT_BYTES 56

static char dir[] = "/tmp/mrc-hints-XXXXXX", hints[64];
static struct mrc_fault_table *faults;
static pid_t daemon_pid;

static void open_faults(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(ftruncate(fd, sizeof(*faults)), 0);
	faults = mmap(NULL, sizeof(*faults), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	assert_true(faults != MAP_FAILED);
	memcpy(faults->magic, MRC_FAULT_MAGIC, sizeof(faults->magic));
	faults->version = MRC_FAULT_VERSION;
	faults->rules = MRC_FAULT_RULES;
	faults->rule[0] = (struct mrc_fault_rule){
		.kind = MRC_FAULT_DROP, .port_mask = 1u << 1, .chance_ppm = 1000000};
}

static int setup(void **state)
{
	char path[64];

	(void)state;
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	if (!mkdtemp(dir) || chmod(dir, 0755))
		return -1;
	snprintf(path, sizeof(path), "%s/faults", dir);
	open_faults(path);
	setenv("MRC_FAULTS", path, 1);
	snprintf(path, sizeof(path), "%s/stats", dir);
	if (mkdir(path, 0700))
		return -1;
	setenv("MRC_STATS_DIR", path, 1);
	snprintf(hints, sizeof(hints), "%s/hints/mrc0.%u", dir, geteuid());
	setenv("MRC_NODE_DIR", dir, 1);
	setenv("MRC_LOG", "error", 1);
	setenv("MRC_PORTS", "127.0.0.1,127.0.1.1", 1);
	setenv("MRC_EVS", "8", 1);
	daemon_pid = 0;
	return 0;
}

static int teardown(void **state)
{
	char command[100];

	(void)state;
	if (daemon_pid)
		live_daemon_stop(daemon_pid, SIGTERM);
	munmap(faults, sizeof(*faults));
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

#define HINTS_TEST(name) TEST_WITH(setup, teardown, ev_hints, name)

/* A process that sends, and waits until somebody has seen what it learnt. */
static void send_all(int done, int go)
{
	struct fixture *r;
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;
	void *state;
	char byte = 0;

	if (fixture_setup_connected(&state))
		_exit(4);
	r = state;
	for (int i = 0; i < WRITES; i++) {
		wr = fixture_wr(r, 0, &sge, BYTES);
		if (mrc_post_send(r->qp[0], &wr, &bad) ||
		    fixture_poll(r, 0).status != IBV_WC_SUCCESS)
			_exit(5);
	}
	if (write(done, &byte, 1) != 1 || read(go, &byte, 1) != 0)
		_exit(6);
	fixture_close(r);
	_exit(0);
}

static uint64_t lost(void)
{
	return __atomic_load_n(&faults->rule[0].hit_data, __ATOMIC_RELAXED);
}

static uint32_t count_hints(void)
{
	struct stat st;

	return stat(hints, &st) ? 0 : (uint32_t)(st.st_size - HEAD_BYTES) / HINT_BYTES;
}

static void await_hints(uint32_t n)
{
	for (int ms = 0; ms < LIVE_PATIENCE_MS && count_hints() != n; ms++)
		usleep(1000);
	assert_u_eq(count_hints(), n);
}

#define ANY UINT32_MAX

/* Runs one process until there are so many hints; how many packets it lost on the dark plane. */
static uint64_t run_one(uint32_t until)
{
	uint64_t before = lost(), after;
	int done[2], go[2], status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(done) || pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		send_all(done[1], go[0]);
	}
	close(done[1]);
	close(go[0]);
	assert_int_equal(read(done[0], &byte, 1), 1);
	after = lost();
	if (until != ANY)
		await_hints(until);
	close(go[1]);
	close(done[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return after - before;
}

/* REQ(req.ev.hint) */
HINTS_TEST(the_tenth_process_loses_nothing_on_a_dark_plane)
{
	uint64_t first, tenth = 0;

	daemon_pid = live_daemon_start(test_arg(0), dir, "ports = 2\nevs = 8\n");
	first = run_one(EVS);
	assert_true(first >= EVS);
	for (int i = 2; i <= PROCESSES; i++)
		tenth = run_one(ANY);
	print_message("lost: the first process %u packets, the tenth %u\n", (unsigned)first,
		      (unsigned)tenth);
	assert_true(tenth * EVS < first);
}

/* What one would have lost: each has a packet swallowed on each EV. */
HINTS_TEST(without_mrcd_each_learns_by_itself)
{
	assert_true(run_one(ANY) >= EVS);
	assert_true(run_one(ANY) >= EVS);
}

/* A plane that is back is used again, and nobody is told of it any more. REQ(req.ev.hint) */
HINTS_TEST(who_finds_a_plane_at_work_says_so)
{
	daemon_pid = live_daemon_start(test_arg(0), dir, "ports = 2\nevs = 8\n");
	run_one(EVS);
	__atomic_store_n(&faults->rule[0].kind, MRC_FAULT_OFF, __ATOMIC_RELEASE);
	run_one(0);
}
