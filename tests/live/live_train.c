/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_train.c - the training job over real sockets: whatever carries the gradients, and whatever
 * is done to the packets, the weights at the end are the same.
 *
 * Argument: the program train.
 */
#include "support/test.h"

#include <fcntl.h>
#include <mrc/fault.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RANKS 3u
#define DIGEST_BYTES 64

static char dir[64];
static pid_t pid[RANKS];

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/live-train-XXXXXX");
	assert_non_null(mkdtemp(dir));
	unsetenv("MRC_FAULTS");
	return 0;
}

static int remove_dir(void **state)
{
	char command[128];

	(void)state;
	for (unsigned i = 0; i < RANKS; i++)
		if (pid[i] > 0)
			kill(pid[i], SIGKILL);
	unsetenv("MRC_FAULTS");
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	return system(command);
}

#define TRAIN_TEST(name) TEST_WITH(make_dir, remove_dir, train, name)

/* In the child: rank `rank` on addresses of its own; output goes to DIR/RANK. */
static void become_rank(unsigned rank, const char *transport, const char *steps)
{
	char ports[128], number[16], ranks[16], path[128];
	int fd;

	snprintf(ports, sizeof(ports), "127.0.0.%u,127.0.1.%u,127.0.2.%u,127.0.3.%u", rank + 1,
		 rank + 1, rank + 1, rank + 1);
	setenv("MRC_PORTS", ports, 1);
	setenv("MRC_PACE", "200M", 1);
	snprintf(path, sizeof(path), "%s/%u", dir, rank);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dup2(fd, 1);
	dup2(fd, 2);
	snprintf(number, sizeof(number), "%u", rank);
	snprintf(ranks, sizeof(ranks), "%u", RANKS);
	execl(test_arg(0), "train", "--rank", number, "--ranks", ranks, "--rendezvous", dir,
	      "--transport", transport, "--params", "262144", "--batch", "64", "--json", "--steps",
	      steps, (char *)NULL);
	_exit(127);
}

static void start(const char *transport, const char *steps)
{
	assert_non_null(test_arg(0));
	for (unsigned i = 0; i < RANKS; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			become_rank(i, transport, steps);
		assert_true(pid[i] > 0);
	}
}

static void read_output(unsigned rank, char *text, size_t size)
{
	char path[128];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%u", dir, rank);
	f = fopen(path, "r");
	assert_non_null(f);
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	fclose(f);
}

static int wait_for(unsigned rank)
{
	int status;

	assert_int_equal(waitpid(pid[rank], &status, 0), pid[rank]);
	pid[rank] = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Runs the job and takes the digest that rank 0 prints. */
static void run(const char *transport, char digest[DIGEST_BYTES + 1])
{
	static char text[8192];
	const char *at;

	start(transport, "4");
	for (unsigned i = 0; i < RANKS; i++) {
		int status = wait_for(i);

		read_output(i, text, sizeof(text));
		if (status)
			fail_msg("rank %u over %s: status %d:\n%s", i, transport, status, text);
	}
	read_output(0, text, sizeof(text));
	at = strstr(text, "\"sha256\": \"");
	assert_non_null(at);
	memcpy(digest, at + strlen("\"sha256\": \""), DIGEST_BYTES);
	digest[DIGEST_BYTES] = '\0';
}

/* A table that hurts every plane a little, and one path and one plane a lot. */
static void write_faults(void)
{
	static struct mrc_fault_table table = {
		.magic = MRC_FAULT_MAGIC,
		.version = MRC_FAULT_VERSION,
		.rules = MRC_FAULT_RULES,
		.rule =
			{
				{.kind = MRC_FAULT_DROP, .port_mask = 15, .chance_ppm = 10000},
				{.kind = MRC_FAULT_DROP,
				 .port_mask = 1,
				 .path_modulus = 8,
				 .path_mask = 0x0f,
				 .chance_ppm = 1000000},
				{.kind = MRC_FAULT_DROP, .port_mask = 2, .chance_ppm = 1000000},
				{.kind = MRC_FAULT_CORRUPT, .port_mask = 4, .chance_ppm = 10000},
				{.kind = MRC_FAULT_DUPLICATE, .port_mask = 8, .chance_ppm = 10000},
			},
	};
	char path[128];
	int fd;

	table.seed = test_rand();
	snprintf(path, sizeof(path), "%s/faults", dir);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, &table, sizeof(table)), sizeof(table));
	close(fd);
	setenv("MRC_FAULTS", path, 1);
}

TRAIN_TEST(ends_alike_over_mrc_over_tcp_and_through_faults)
{
	char over_mrc[DIGEST_BYTES + 1], over_tcp[DIGEST_BYTES + 1], faulty[DIGEST_BYTES + 1];

	run("mrc", over_mrc);
	run("tcp", over_tcp);
	assert_string_equal(over_mrc, over_tcp);
	write_faults();
	run("mrc", faulty);
	assert_string_equal(over_mrc, faulty);
}

/* Waits until the ring runs: rank 0 has said something of a step. */
static void wait_for_steps(void)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	char text[4096] = "";

	for (int i = 0; i < 18000; i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/0", dir);
		if (access(path, R_OK) == 0)
			read_output(0, text, sizeof(text));
		if (strstr(text, "\"step\""))
			return;
		nanosleep(&pause, NULL);
	}
	fail_msg("no step within 180 s:\n%s", text);
}

static void expect_to_notice_a_dead_rank(const char *transport)
{
	char text[65536];
	bool said = false;

	start(transport, "100000");
	wait_for_steps();
	kill(pid[1], SIGKILL);
	assert_int_equal(wait_for(1), -SIGKILL);
	for (unsigned i = 0; i < RANKS; i += 2) {
		assert_int_equal(wait_for(i), 1);
		read_output(i, text, sizeof(text));
		said = said || strstr(text, "rank 1");
	}
	assert_true(said);
}

TRAIN_TEST(notices_a_dead_rank_over_mrc)
{
	expect_to_notice_a_dead_rank("mrc");
}

TRAIN_TEST(notices_a_dead_rank_over_tcp)
{
	expect_to_notice_a_dead_rank("tcp");
}

TRAIN_TEST(runs_alone)
{
	char command[4096];

	snprintf(
		command, sizeof(command),
		"'%s' --params 262144 --batch 64 --steps 2 >%s/alone && grep -q 'weights    sha256 "
		"[0-9a-f]\\{64\\}$' %s/alone",
		test_arg(0), dir, dir);
	assert_int_equal(system(command), 0);
}
