/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_job.c - a training job over MRC and SRv6 through each fault: the weights at the end are those
 * of the undisturbed job to the last bit, EVs that a fault kills are retired and come back, and no
 * step takes longer than a bound that no repeated timeout would keep.
 *
 * Arguments: the program mrc (not used here), the scenarios (neither), the program train.
 */
#include "lab/lab.h"
#include "lab/lab_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <mrc/stats.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RANKS 4u
#define STEPS 13u
#define PACE_BPS 40000000
#define DIGEST_BYTES 64
/* A short one: evaluating the weights on a long one would take most of the CPU time. */
#define TEXT "/usr/share/common-licenses/Artistic"
/* When the fault comes, and how long it stays; the job takes two seconds or more. */
#define FAULT_AT_STEP 1u
#define FAULT_MS 1200
#define LONGEST_STEP_MS 30000u
#define PATIENCE_MS 180000

struct job {
	char dir[64];
	pid_t pid[RANKS];
	uint64_t retired, revived; /* the most that was seen, all ranks together */
};

static struct fixture fixture;
static struct job job;
/* ---- ranks ---- */

static void become_rank(uint32_t rank)
{
	char number[16], ranks[16], steps[16], path[96], report[96];
	struct ml_error e = {{0}};
	int netns = ml_lab_netns(fixture.lab, rank, &e);
	int fd;

	snprintf(path, sizeof(path), "%s/out%u", job.dir, rank);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dup2(fd, 1);
	dup2(fd, 2);
	snprintf(report, sizeof(report), "%s/report%u", job.dir, rank);
	snprintf(number, sizeof(number), "%u", rank);
	snprintf(ranks, sizeof(ranks), "%u", RANKS);
	snprintf(steps, sizeof(steps), "%u", STEPS);
	setenv("MRC_STATS_DIR", job.dir, 1);
	if (netns >= 0 && setns(netns, CLONE_NEWNET) == 0 &&
	    ml_host_environment(fixture.lab, rank, MF_HOST_RAW41, &e) == 0)
		execl(test_arg(2), "train", "--rank", number, "--ranks", ranks, "--rendezvous",
		      job.dir, "--params", "262144", "--batch", "64", "--data", TEXT, "--report",
		      report, "--steps", steps, (char *)NULL);
	fprintf(stderr, "%s: %s\n", test_arg(2), e.text);
	_exit(127);
}

/* What a rank wrote: "report", a line for each step and the digest, or "out". */
static void read_output(const char *what, uint32_t rank, char *text, size_t size)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s%u", job.dir, what, rank);
	f = fopen(path, "r");
	text[f ? fread(text, 1, size - 1, f) : 0] = '\0';
	if (f)
		fclose(f);
}

/* ---- what the ranks publish ---- */

static void add_counters(const char *path, uint64_t *retired, uint64_t *revived)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	const struct mrc_stats_segment *s = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof(*s))
		s = mmap(NULL, sizeof(*s), PROT_READ, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (s == MAP_FAILED)
		return;
	for (uint32_t i = 0; i < MRC_STATS_COUNTERS && s->counter[i].name[0]; i++) {
		if (strcmp(s->counter[i].name, "evs_retired") == 0)
			*retired += s->counter[i].value;
		if (strcmp(s->counter[i].name, "evs_revived") == 0)
			*revived += s->counter[i].value;
	}
	munmap((void *)(uintptr_t)s, sizeof(*s));
}

static void look(void)
{
	uint64_t retired = 0, revived = 0;
	DIR *dir = opendir(job.dir);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[400];

		if (!strstr(entry->d_name, ".mrcstats"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", job.dir, entry->d_name);
		add_counters(path, &retired, &revived);
	}
	if (dir)
		closedir(dir);
	if (retired > job.retired)
		job.retired = retired;
	if (revived > job.revived)
		job.revived = revived;
}

/* ---- a run ---- */

static uint32_t steps_done(void)
{
	static char text[65536];
	uint32_t n = 0;

	read_output("report", 0, text, sizeof(text));
	for (const char *at = text; (at = strstr(at, "\"step\"")); at++)
		n++;
	return n;
}

static bool ended(uint32_t rank)
{
	static char text[65536];
	int status;

	if (waitpid(job.pid[rank], &status, WNOHANG) != job.pid[rank])
		return false;
	job.pid[rank] = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		read_output("out", rank, text, sizeof(text));
		fail_msg("rank %u: status %d: %s", rank, status, text);
	}
	return true;
}

static void wait_for_step(uint32_t step)
{
	for (int ms = 0; ms < PATIENCE_MS && steps_done() <= step; ms += 5) {
		if (ended(0))
			break;
		poll(NULL, 0, 5);
	}
	assert_true(steps_done() > step);
}

static void wait_for_end(void)
{
	uint32_t left = RANKS;

	for (int ms = 0; ms < PATIENCE_MS && left; ms += 5) {
		look();
		for (uint32_t i = 0; i < RANKS; i++)
			left -= job.pid[i] && ended(i);
		poll(NULL, 0, 5);
	}
	assert_u_eq(left, 0);
}

/* The same digest from all ranks; every step of rank 0 within bounds. */
static void read_results(char digest[DIGEST_BYTES + 1])
{
	static char text[65536];
	unsigned long long begin, end;

	for (uint32_t rank = RANKS; rank-- > 0;) {
		const char *at;

		read_output("report", rank, text, sizeof(text));
		at = strstr(text, "\"sha256\": \"");
		assert_non_null(at);
		at += strlen("\"sha256\": \"");
		if (rank == RANKS - 1)
			snprintf(digest, DIGEST_BYTES + 1, "%s", at);
		assert_memory_equal(digest, at, DIGEST_BYTES);
	}
	for (const char *at = text; (at = strstr(at, "\"t_start_ns\"")); at++) {
		assert_i_eq(sscanf(at, "\"t_start_ns\": %llu, \"t_end_ns\": %llu", &begin, &end),
			    2);
		assert_u_between((end - begin) / 1000000, 0, LONGEST_STEP_MS);
	}
}

static void clean(void)
{
	char command[96];

	for (uint32_t i = 0; i < RANKS; i++)
		if (job.pid[i] > 0) {
			kill(job.pid[i], SIGKILL);
			waitpid(job.pid[i], NULL, 0);
		}
	snprintf(command, sizeof(command), "rm -rf '%s'", job.dir);
	if (system(command) != 0)
		fprintf(stderr, "%s is left\n", job.dir);
	job = (struct job){0};
}

static void begin(void)
{
	snprintf(job.dir, sizeof(job.dir), "/tmp/softmrc-job-XXXXXX");
	assert_non_null(mkdtemp(job.dir));
	for (uint32_t i = 0; i < RANKS; i++) {
		job.pid[i] = fork();
		if (job.pid[i] == 0)
			become_rank(i);
		assert_true(job.pid[i] > 0);
	}
	wait_for_step(FAULT_AT_STEP);
}

/* The digest of the job that nothing happens to, run once. */
static const char *expected(void)
{
	static char undisturbed[DIGEST_BYTES + 1];

	if (!undisturbed[0]) {
		begin();
		wait_for_end();
		read_results(undisturbed);
		clean();
	}
	return undisturbed;
}

static int setup(void **state)
{
	(void)state;
	fixture_able();
	fixture_open(&fixture, "tiny", PACE_BPS, true);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (job.dir[0])
		clean();
	fixture_close(&fixture);
	return 0;
}

/* ---- the faults ---- */

enum effect { NONE, RETIRES };

static void finish(enum effect effect)
{
	char digest[DIGEST_BYTES + 1];

	wait_for_end();
	read_results(digest);
	printf("# EVs retired %llu, revived %llu\n", (unsigned long long)job.retired,
	       (unsigned long long)job.revived);
	if (effect == RETIRES) {
		assert_true(job.retired > 0);
		assert_true(job.revived > 0);
	}
	clean();
	assert_string_equal(digest, expected());
}

/* A fault lasts until the job has felt it: on a busy machine its processes may not have run yet. */
static void bear(enum effect effect)
{
	poll(NULL, 0, FAULT_MS);
	for (int ms = 0; effect == RETIRES && ms < PATIENCE_MS && !job.retired; ms += 5) {
		look();
		poll(NULL, 0, 5);
	}
}

static void suffer(const char *target, const char *words, enum effect effect)
{
	begin();
	fixture_fault(&fixture, target, words);
	bear(effect);
	fixture_lift(&fixture);
	finish(effect);
}

static void suffer_with_programs(const char *target, const char *words)
{
	if (!fixture.programs)
		test_skip("BPF programs cannot be loaded here");
	suffer(target, words, NONE);
}

#define JOB_TEST(name) TEST_WITH(setup, teardown, lab_job, name)

JOB_TEST(ends_alike_through_a_stalled_t1)
{
	suffer("plane0.t1-0", "stall", RETIRES);
}

JOB_TEST(ends_alike_through_a_cable_that_is_down)
{
	suffer("plane0.t0-0.t1-1", "down", RETIRES);
}

JOB_TEST(ends_alike_through_a_blackhole_one_way)
{
	suffer("plane1.t0-1.t1-0", "blackhole in", RETIRES);
}

JOB_TEST(ends_alike_through_a_silently_dead_nic_port)
{
	suffer("host2.plane1", "blackhole", RETIRES);
}

JOB_TEST(ends_alike_through_a_nic_port_that_is_down)
{
	suffer("host2.plane1", "down", NONE);
}

JOB_TEST(ends_alike_through_a_plane_that_stalls)
{
	suffer("plane1", "stall", RETIRES);
}

JOB_TEST(ends_alike_through_loss)
{
	suffer("plane0.t0-0", "loss 2%", RETIRES);
}

JOB_TEST(ends_alike_on_a_slow_link)
{
	suffer("plane0.t0-1.t1-0", "slow 4M", NONE);
}

JOB_TEST(ends_alike_through_swapped_cables)
{
	suffer("plane0.t0-0.t1-0", "swap plane0.t0-1.t1-1", RETIRES);
}

JOB_TEST(ends_alike_through_corruption)
{
	suffer_with_programs("plane0.t0-0", "corrupt 2%");
}

JOB_TEST(ends_alike_through_duplicates)
{
	suffer_with_programs("plane0.t0-0", "duplicate 20%");
}

JOB_TEST(ends_alike_through_reordering)
{
	suffer_with_programs("plane0", "reorder 20%");
}

JOB_TEST(ends_alike_through_a_transceiver_that_flaps)
{
	begin();
	for (int i = 0; i < 3; i++) {
		fixture_fault(&fixture, "plane1.t0-0.transceiver0", "down");
		poll(NULL, 0, 200);
		fixture_lift(&fixture);
		poll(NULL, 0, 150);
	}
	finish(NONE);
}

JOB_TEST(ends_alike_through_a_t1_that_reboots)
{
	struct ml_error e;
	uint32_t node;

	begin();
	assert_i_eq(ml_node_find(fixture.t, "plane0.t1-1", &node, &e), 0);
	assert_i_eq(ml_lab_set_switch(fixture.lab, node, false, &e), 0);
	bear(RETIRES);
	assert_i_eq(ml_lab_set_switch(fixture.lab, node, true, &e), 0);
	finish(RETIRES);
}
