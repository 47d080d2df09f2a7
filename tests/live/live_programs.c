/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_programs.c - programs of the distribution, unmodified, over the drop-in libibverbs.so.1:
 * the device is the only one they find, and what they measure went over MRC.
 *
 * Arguments: the folder of the drop-in, and what the programs load first: the runtime of the
 * sanitizer that the drop-in was built with, if any, and fast_clock.c. Without the programs
 * (perftest, ibverbs-utils) cases skip.
 */
#include "support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARGUMENTS_MAX 24
#define SERVER_PORT "18599"
/* A server that nobody could connect to yet is tried again this often, every 100 ms. */
#define CONNECT_TRIES 600

static void skip_without(const char *program)
{
	char command[128], why[128];

	snprintf(command, sizeof(command), "command -v %s >/dev/null", program);
	snprintf(why, sizeof(why), "%s is not installed", program);
	if (system(command) != 0)
		test_skip(why);
}

static void be_program(const char *const argv[], const char *out)
{
	int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
		_exit(126);
	setenv("LD_LIBRARY_PATH", test_arg(0), 1);
	setenv("MRC_PORTS", "127.0.0.1", 1);
	/* They ask for 67 ms and seven retries; a busy machine is silent for longer. */
	setenv("MRC_RTO_MIN_US", "500000", 1);
	setenv("LD_PRELOAD", test_arg(1), 1);
	setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* the programs themselves leak */
	alarm(240);				     /* whatever happens, it ends */
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

static pid_t start(const char *const argv[], const char *out)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		be_program(argv, out);
	return pid;
}

static int wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool file_has(const char *path, const char *text)
{
	char line[512];
	bool found = false;
	FILE *f = fopen(path, "r");

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		found |= strstr(line, text) != NULL;
	fclose(f);
	return found;
}

static void show(const char *path)
{
	char line[512];
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f))
		print_error("%s: %s", path, line);
	if (f)
		fclose(f);
}

/* Runs a program that is server and client against itself; a client that comes too early is started
 * again. */
static void run_pair(const char *program, const char *const flags[])
{
	const struct timespec pause = {.tv_nsec = 100000000};
	const char *argv[ARGUMENTS_MAX] = {program, "-d", "mrc0", "-p", SERVER_PORT};
	char server_out[] = "/tmp/softmrc-server-XXXXXX",
	     client_out[] = "/tmp/softmrc-client-XXXXXX";
	int n = 5, server_status, client_status = -1;
	pid_t server;

	skip_without(program);
	close(mkstemp(server_out));
	close(mkstemp(client_out));
	for (int i = 0; flags[i]; i++)
		argv[n++] = flags[i];
	server = start(argv, server_out);
	argv[n] = "127.0.0.1";
	for (int i = 0; i < CONNECT_TRIES && client_status != 0; i++) {
		nanosleep(&pause, NULL);
		client_status = wait_for(start(argv, client_out));
		if (client_status != 0 && !file_has(client_out, "Couldn't connect"))
			break;
	}
	if (client_status != 0)
		kill(server, SIGKILL);
	server_status = wait_for(server);
	if (client_status != 0 || server_status != 0) {
		show(server_out);
		show(client_out);
	}
	assert_int_equal(client_status, 0);
	assert_int_equal(server_status, 0);
	unlink(server_out);
	unlink(client_out);
}

#define PERFTEST(program, ...) run_pair(program, (const char *const[]){"-F", __VA_ARGS__, NULL})
#define PINGPONG(program, ...) \
	run_pair(program, (const char *const[]){"-g", "0", __VA_ARGS__, NULL})

TEST(ibv_devinfo, shows_the_device)
{
	static const char *const argv[] = {"ibv_devinfo", "-v", NULL};
	char out[] = "/tmp/softmrc-devinfo-XXXXXX";

	skip_without("ibv_devinfo");
	close(mkstemp(out));
	assert_int_equal(wait_for(start(argv, out)), 0);
	assert_true(file_has(out, "mrc0"));
	assert_true(file_has(out, "PORT_ACTIVE"));
	assert_true(file_has(out, "::ffff:127.0.0.1, RoCE v2"));
	unlink(out);
}

TEST(ib_write_bw, all_sizes)
{
	PERFTEST("ib_write_bw", "-a", "-n", "20");
}

TEST(ib_write_bw, both_ways_on_eight_qps)
{
	PERFTEST("ib_write_bw", "-b", "-q", "8", "-n", "200", "-s", "16384");
}

TEST(ib_write_bw, lists_and_inline)
{
	PERFTEST("ib_write_bw", "-I", "64", "-s", "64", "-n", "1000", "-l", "4");
}

TEST(ib_write_lat, two_bytes)
{
	PERFTEST("ib_write_lat", "-n", "200");
}

TEST(ib_send_bw, all_sizes)
{
	PERFTEST("ib_send_bw", "-a", "-n", "20");
}

/* A receive queue shorter than what is sent at once: the sender is told to wait. */
TEST(ib_send_bw, short_receive_queues_both_ways)
{
	PERFTEST("ib_send_bw", "-b", "-r", "8", "-n", "500", "-s", "8192");
}

TEST(ib_send_bw, with_events)
{
	PERFTEST("ib_send_bw", "-e", "-n", "200", "-s", "4096");
}

TEST(ib_send_lat, two_bytes_and_inline)
{
	PERFTEST("ib_send_lat", "-n", "200");
	PERFTEST("ib_send_lat", "-n", "200", "-s", "64", "-I", "64");
}

/* Their servers stay in RTR, and answer. */
TEST(ib_read_bw, all_sizes_and_both_ways)
{
	PERFTEST("ib_read_bw", "-a", "-n", "20");
	PERFTEST("ib_read_bw", "-b", "-q", "2", "-n", "100", "-s", "16384");
}

TEST(ib_read_lat, two_bytes)
{
	PERFTEST("ib_read_lat", "-n", "200");
}

TEST(ib_atomic_bw, both_operations)
{
	PERFTEST("ib_atomic_bw", "-n", "200", "-A", "FETCH_AND_ADD");
	PERFTEST("ib_atomic_bw", "-n", "200", "-A", "CMP_AND_SWAP", "-b");
}

TEST(ib_atomic_lat, both_operations)
{
	PERFTEST("ib_atomic_lat", "-n", "200", "-A", "FETCH_AND_ADD");
	PERFTEST("ib_atomic_lat", "-n", "200", "-A", "CMP_AND_SWAP");
}

/* It compares each message with what was sent. */
TEST(ibv_rc_pingpong, data_is_right)
{
	PINGPONG("ibv_rc_pingpong", "-c", "-n", "200");
}

/* The calls that build WRs one by one, and CQs with times of completions. */
TEST(ibv_rc_pingpong, with_extended_qps_and_cqs)
{
	PINGPONG("ibv_rc_pingpong", "-c", "-N", "-n", "200");
	PINGPONG("ibv_rc_pingpong", "-c", "-t", "-n", "200");
}

TEST(ibv_rc_pingpong, with_events)
{
	PINGPONG("ibv_rc_pingpong", "-e", "-n", "200", "-s", "65536");
}

TEST(ibv_srq_pingpong, sixteen_qps_share_receives)
{
	PINGPONG("ibv_srq_pingpong", "-c", "-n", "200");
}

/* Datagrams: what is outstanding fits a receive buffer, for nothing is sent again. */
TEST(ibv_ud_pingpong, runs)
{
	PINGPONG("ibv_ud_pingpong", "-n", "200");
	PINGPONG("ibv_ud_pingpong", "-n", "200", "-e");
}

TEST(ib_send_bw, datagrams)
{
	PERFTEST("ib_send_bw", "-c", "UD", "-n", "500", "-s", "2048");
}

TEST(ib_send_lat, datagrams)
{
	PERFTEST("ib_send_lat", "-c", "UD", "-n", "200");
}
