/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_stat.c - `mrc stat` of a process that has the device open, this one: over HTTP, as a file,
 * as text; and clients of its port that mean no good.
 *
 * Argument: the program mrc.
 */
#include "support/test.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/nic.h"

static char dir[] = "/tmp/mrc-live-stat-XXXXXX", port[8];
static struct mh_device *device;
static pid_t running; /* a server that a case has not ended */

static int stat_setup(void **state)
{
	(void)state;
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	setenv("MRC_PORTS", "127.0.0.1,127.0.1.1", 1);
	setenv("MRC_STATS_DIR", dir, 1);
	snprintf(port, sizeof(port), "%ld", 20000 + (long)getpid() % 20000);
	return mh_device_open(0, NULL, &device);
}

static int stat_teardown(void **state)
{
	(void)state;
	if (running) {
		kill(running, SIGKILL);
		waitpid(running, NULL, 0);
		running = 0;
	}
	unsetenv("MRC_PORTS");
	unsetenv("MRC_STATS_DIR");
	return mh_device_close(device) || rmdir(dir);
}

#define STAT_TEST(name) TEST_WITH(stat_setup, stat_teardown, mrc_stat, name)

/* Runs mrc with words of the shell; what it says on both outputs is in `said`. */
static char said[1 << 17];

static int run(const char *words)
{
	char command[512];
	FILE *f;
	size_t n;

	snprintf(command, sizeof(command), "%s %s 2>&1", test_arg(0), words);
	f = popen(command, "r");
	assert_non_null(f);
	n = fread(said, 1, sizeof(said) - 1, f);
	said[n] = '\0';
	return WEXITSTATUS(pclose(f));
}

static void expect_said(const char *part)
{
	if (!strstr(said, part))
		fail_msg("no <%s> in:\n%.2000s", part, said);
}

STAT_TEST(shows_this_process)
{
	char part[64];

	assert_int_equal(run("stat --zeros"), 0);
	snprintf(part, sizeof(part), "process %d (", (int)getpid());
	expect_said(part);
	expect_said("QPs: none");
	expect_said("127.0.1.1");
	expect_said("payload bytes sent, retransmissions included");
	assert_int_equal(run("stat --json"), 0);
	expect_said("\"plane_tx_packets\"");
	assert_int_equal(run("stat --interval 50ms --pid 1"), 1);
	expect_said("--pid 1: no MRC process of this number");
}

STAT_TEST(writes_a_file_for_the_textfile_collector)
{
	char words[128];

	snprintf(words, sizeof(words), "stat --out %s/x.prom && cat %s/x.prom && rm %s/x.prom", dir,
		 dir, dir);
	assert_int_equal(run(words), 0);
	expect_said("softmrc_processes 1\n");
	snprintf(words, sizeof(words), "stat --out %s/no/x.prom", dir);
	assert_int_equal(run(words), 1);
	expect_said("No such file or directory");
}

STAT_TEST(names_what_is_wrong_with_its_flags)
{
	assert_int_equal(run("stat --listen nowhere"), 2);
	expect_said("--listen nowhere: must be ADDRESS:PORT in numbers");
	assert_int_equal(run("stat --listen 127.0.0.1:99999"), 2);
	assert_int_equal(run("stat --json --prometheus"), 2);
	expect_said("one of --json");
	assert_int_equal(run("stat --processes 0"), 2);
}

/* ---- over HTTP ---- */

/* A server inherits as many descriptors, more than it polls, for poll() fails beyond the limit. */
#define INHERITED 40

static pid_t start_server(void)
{
	char address[32];
	pid_t pid;

	snprintf(address, sizeof(address), "127.0.0.1:%s", port);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		for (int fd = 3; fd < INHERITED; fd++)
			dup2(0, fd);
		execl(test_arg(0), "mrc", "stat", "--listen", address, (char *)NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	running = pid;
	return pid;
}

static void stop_server(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	running = 0;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int connect_to_server(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
	int fd;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int ms = 0; ms < 60000; ms += 10) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
			return fd;
		close(fd);
		poll(NULL, 0, 10);
	}
	fail_msg("nobody listens on port %s", port);
	return -1;
}

/* Sends a request and returns all that is answered, until the server ends the connection. */
static const char *ask(const char *request)
{
	int fd = connect_to_server();
	size_t got = 0;
	ssize_t n;

	assert_true(send(fd, request, strlen(request), MSG_NOSIGNAL) > 0);
	while ((n = recv(fd, said + got, sizeof(said) - 1 - got, 0)) > 0)
		got += (size_t)n;
	said[got] = '\0';
	close(fd);
	return said;
}

STAT_TEST(answers_scrapes)
{
	pid_t server = start_server();
	char part[80];

	ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
	expect_said("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4");
	snprintf(part, sizeof(part), "softmrc_process_info{pid=\"%d\"", (int)getpid());
	expect_said(part);
	ask("GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text; version=1.0.0\r\n\r\n");
	expect_said("Content-Type: application/openmetrics-text");
	assert_string_equal(said + strlen(said) - 6, "# EOF\n");
	ask("HEAD /metrics HTTP/1.1\r\n\r\n");
	expect_said("200 OK");
	assert_null(strstr(said, "softmrc_"));
	ask("GET /etc/passwd HTTP/1.1\r\n\r\n");
	expect_said("404 Not Found");
	ask("\r\n\r\n");
	expect_said("400 Bad Request");
	stop_server(server);
}

/* They take all places and say nothing; who asks is answered all the same. */
STAT_TEST(is_not_held_up_by_slow_clients)
{
	pid_t server = start_server();
	int fd[40];

	for (int i = 0; i < 40; i++) {
		fd[i] = connect_to_server();
		assert_true(send(fd[i], "GET /metr", 9, MSG_NOSIGNAL) == 9);
	}
	ask("GET /metrics HTTP/1.1\r\n\r\n");
	expect_said("softmrc_processes 1\n");
	for (int i = 0; i < 40; i++)
		close(fd[i]);
	stop_server(server);
}

/* User and system time of a process, in ticks. */
static long ticks_of(pid_t pid)
{
	unsigned long user, system;
	char path[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
				&user, &system),
			 2);
	fclose(f);
	return (long)(user + system);
}

/* From now on it may have those that it has: no client can be taken. */
STAT_TEST(does_not_spin_without_descriptors)
{
	struct rlimit before_that, limit;
	pid_t server = start_server();
	int fd = connect_to_server();
	long before, used = LONG_MAX;

	close(fd);
	assert_int_equal(prlimit(server, RLIMIT_NOFILE, NULL, &before_that), 0);
	limit = (struct rlimit){INHERITED, before_that.rlim_max};
	assert_int_equal(prlimit(server, RLIMIT_NOFILE, &limit, NULL), 0);
	fd = connect_to_server();
	/* What it does before it waits may take its time on a busy machine. */
	for (int i = 0; i < 15 && used > sysconf(_SC_CLK_TCK) / 20; i++) {
		before = ticks_of(server);
		poll(NULL, 0, 1000);
		used = ticks_of(server) - before;
	}
	assert_in_range(used, 0, sysconf(_SC_CLK_TCK) / 20);
	/* What looks for leaks at its end opens files. */
	assert_int_equal(prlimit(server, RLIMIT_NOFILE, &before_that, NULL), 0);
	close(fd);
	stop_server(server);
}

STAT_TEST(ends_requests_without_end)
{
	pid_t server = start_server();
	static char request[8192];

	memset(request, 'x', sizeof(request) - 1);
	ask(request);
	if (said[0])
		expect_said("400 Bad Request");
	ask("GET /metrics HTTP/1.1\r\n\r\n");
	expect_said("200 OK");
	stop_server(server);
}
