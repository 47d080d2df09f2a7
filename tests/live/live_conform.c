/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_conform.c - `mrc conform` over sockets: our own endpoint passes every case, and what is no
 * target is named and left within a bounded time.
 *
 * Argument: the program mrc.
 */
#include "live/live_program.h"
#include "support/netns.h"
#include "support/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TARGET "127.0.0.1"
#define KIT "127.0.0.2"
#define IMPOSTOR "127.0.0.3"
/* A QP that the impostor says it has. */
#define BY_HAND "gid " IMPOSTOR " qpn 17 psn 5 rkey 1 va 4096 length 4096"

/* Lets this process and what it becomes have no socket of IPv6, as a kernel without it. */
static bool deny_ipv6(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static char port[8];

static int conform_setup(void **state)
{
	(void)state;
	setenv("MRC_PORTS", TARGET, 1);
	snprintf(port, sizeof(port), "%ld", 20000 + (long)getpid() % 20000);
	return 0;
}

static int conform_teardown(void **state)
{
	(void)state;
	unsetenv("MRC_PORTS");
	unsetenv("MRC_EV_FORMAT");
	return 0;
}

#define CONFORM_TEST(name) TEST_WITH(conform_setup, conform_teardown, mrc_conform, name)

static long count_of(const json_t *json, const char *name)
{
	return (long)json_integer_value(json_object_get(json, name));
}

/* The kit at the address `from` against a target of ours. */
static void pass_every_case(const char *target, const char *from)
{
	static struct live_program server, kit;
	json_t *json;
	int status;

	START(&server, "conform", "--serve", "--once", "--port", port);
	live_program_wait_said(&server, "ready");
	START(&kit, "conform", "--json", "--from", (char *)(uintptr_t)from, "--patience", "5s",
	      "--html", "conform.html", (char *)(uintptr_t)target);
	status = live_program_finish(&kit);
	assert_int_equal(live_program_finish(&server), 0);
	json = json_loads(kit.said, 0, NULL);
	if (!json || status != 0 || count_of(json, "failed") || count_of(json, "not_run"))
		fail_msg("status %d: %s\n%s", status, kit.said, server.said);
	assert_true(count_of(json, "passed") > 90);
	assert_true(count_of(json, "answered") > 10);
	json_decref(json);
	assert_int_equal(access("conform.html", R_OK), 0);
	unlink("conform.html");
}

CONFORM_TEST(ours_passes_every_case)
{
	char target[40];

	snprintf(target, sizeof(target), TARGET ":%s", port);
	pass_every_case(target, KIT);
}

/* EVs of 32 bits, with the flow label. Two addresses take a network of its own. */
CONFORM_TEST(ours_passes_every_case_over_ipv6)
{
	const char *why;
	char target[40];

	if (!test_netns(&why))
		test_skip(why);
	test_ip("address add fd00::1/128 dev lo nodad");
	test_ip("address add fd00::2/128 dev lo nodad");
	setenv("MRC_PORTS", "fd00::1", 1);
	setenv("MRC_EV_FORMAT", "stev", 1);
	snprintf(target, sizeof(target), "[fd00::1]:%s", port);
	pass_every_case(target, "fd00::2");
}

/* One QP, made without a connection to the kit, serves the cases that need no more. */
CONFORM_TEST(ours_passes_by_hand)
{
	static struct live_program server, kit;
	char target[200];
	size_t n;

	START(&server, "conform", "--serve", "--peer", "gid " KIT " qpn 4097 psn 1000");
	live_program_wait_said(&server, "\n");
	n = strcspn(server.said, "\n");
	snprintf(target, sizeof(target), "%.*s", (int)n, server.said);
	START(&kit, "conform", "--from", KIT, "--patience", "5s", target);
	assert_int_equal(live_program_finish(&kit), 0);
	live_program_assert_said(&kit, " 0 failed");
	live_program_assert_said(&kit, "needs the program of mrc conform --serve");
	kill(server.pid, SIGTERM);
	live_program_finish(&server);
}

/* Of a page that is longer than stdio's buffer nothing is left to fail at its end. */
CONFORM_TEST(says_that_its_page_cannot_be_written)
{
	static struct live_program server, kit;
	char target[40];

	snprintf(target, sizeof(target), TARGET ":%s", port);
	START(&server, "conform", "--serve", "--once", "--port", port);
	live_program_wait_said(&server, "ready");
	START(&kit, "conform", "--from", KIT, "--patience", "5s", "--only", "sack", "--html",
	      "/dev/full", target);
	assert_int_equal(live_program_finish(&kit), 1);
	assert_int_equal(live_program_finish(&server), 0);
	live_program_assert_said(&kit, " 0 failed");
	live_program_assert_said(&kit, "mrc conform: /dev/full: No space left on device");
}

/* ---- kits that are no good ---- */

/* A connection to the program beside the target; who connects waits until it is taken. */
static int call_server(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
	struct timeval patience = {.tv_sec = 60};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, TARGET, &at.sin_addr);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

/* What comes, up to the end of a line; "": the connection ended. */
static const char *read_answer(int fd)
{
	static char line[256];
	size_t n = 0;

	while (n < sizeof(line) - 1 && recv(fd, line + n, 1, 0) == 1 && line[n] != '\n')
		n++;
	line[n] = '\0';
	return line;
}

static const char *ask_server(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	return read_answer(fd);
}

static void end_server(struct live_program *server)
{
	kill(server->pid, SIGTERM);
	live_program_finish(server);
}

/* It is served while nobody else wants to be; half a line is no word. */
CONFORM_TEST(a_silent_kit_makes_room)
{
	static struct live_program server;
	int silent, next;

	START(&server, "conform", "--serve", "--silence", "300ms", "--port", port);
	live_program_wait_said(&server, "ready");
	silent = call_server();
	assert_string_equal(ask_server(silent, "recv 1\n"), "error recv: want a QP before");
	poll(NULL, 0, 400);
	assert_string_equal(ask_server(silent, "recv 1\n"), "error recv: want a QP before");
	assert_int_equal(send(silent, "re", 2, MSG_NOSIGNAL), 2);
	next = call_server();
	assert_string_equal(ask_server(next, "recv 1\nrecv"), "error recv: want a QP before");
	assert_string_equal(read_answer(silent), "");
	assert_string_equal(ask_server(next, " 2\n"), "error recv: want a QP before");
	close(silent);
	close(next);
	end_server(&server);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* It says so each time, and rests for 100 ms. */
CONFORM_TEST(descriptors_that_run_out_are_waited_for)
{
	static const char says[] = "a kit: Too many open files";
	static struct live_program server;
	struct rlimit before, none;
	uint64_t began, tries = 0;
	int kit;

	START(&server, "conform", "--serve", "--port", port);
	live_program_wait_said(&server, "ready");
	assert_int_equal(prlimit(server.pid, RLIMIT_NOFILE, NULL, &before), 0);
	none = (struct rlimit){.rlim_cur = 3, .rlim_max = before.rlim_max};
	assert_int_equal(prlimit(server.pid, RLIMIT_NOFILE, &none, NULL), 0);
	began = now_ms();
	kit = call_server();
	live_program_wait_said(&server, says);
	poll(NULL, 0, 300);
	assert_int_equal(prlimit(server.pid, RLIMIT_NOFILE, &before, NULL), 0);
	assert_string_equal(ask_server(kit, "recv 1\n"), "error recv: want a QP before");
	close(kit);
	end_server(&server);
	for (const char *at = server.said; (at = strstr(at, says)); at++)
		tries++;
	assert_in_range(tries, 1, (now_ms() - began) / 100 + 1);
}

CONFORM_TEST(serves_where_there_is_no_ipv6)
{
	static struct live_program server;
	int kit;

	live_program_start(&server,
			   (char *[]){"conform", "--serve", "--once", "--port", port, NULL},
			   deny_ipv6);
	while (!strstr(server.said, "ready") && live_program_hear(&server))
		continue;
	if (!server.have && live_program_finish(&server) == 77)
		test_skip("no seccomp here");
	kit = call_server();
	assert_string_equal(ask_server(kit, "recv 1\n"), "error recv: want a QP before");
	close(kit);
	assert_int_equal(live_program_finish(&server), 0);
}

/* ---- what is no target ---- */

enum impostor { SILENT, ECHO, NOISE, FLOOD };

static void send_noise(int fd, const struct sockaddr_in *to, unsigned packets)
{
	uint8_t bytes[600];

	for (unsigned i = 0; i < packets; i++) {
		size_t len = (size_t)(test_rand() % sizeof(bytes));

		for (size_t k = 0; k < len; k++)
			bytes[k] = (uint8_t)test_rand();
		/* Every other one has the BTH of a SACK, so that some of it is read as one. */
		if (len > 12 && i % 2 == 0)
			memcpy(bytes, "\xdc\x00\xff\xff\x00\x00\x10\x01", 8);
		(void)sendto(fd, bytes, len, 0, (const struct sockaddr *)to, sizeof(*to));
	}
}

/* Ends with its parent. */
static void play(enum impostor what, int fd)
{
	struct sockaddr_in kit = {.sin_family = AF_INET, .sin_port = htons(4791)};
	uint8_t bytes[2048];

	inet_pton(AF_INET, KIT, &kit.sin_addr);
	for (int i = 0; i < 3000; i++) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		ssize_t n;

		if (what == FLOOD)
			send_noise(fd, &kit, 400);
		if (poll(&p, 1, what == FLOOD ? 0 : 20) <= 0)
			continue;
		n = recv(fd, bytes, sizeof(bytes), 0);
		if (what == ECHO && n > 0)
			(void)sendto(fd, bytes, (size_t)n, 0, (struct sockaddr *)&kit, sizeof(kit));
		if (what == NOISE)
			send_noise(fd, &kit, 20);
	}
	_exit(0);
}

static pid_t impostor(enum impostor what)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(4791)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	pid_t pid;

	inet_pton(AF_INET, IMPOSTOR, &at.sin_addr);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		play(what, fd);
	close(fd);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#define ASK_IMPOSTOR(kit) START(kit, "conform", "--from", KIT, "--patience", "400ms", BY_HAND)

CONFORM_TEST(a_silent_target_is_named)
{
	static struct live_program kit;
	pid_t pid = impostor(SILENT);

	ASK_IMPOSTOR(&kit);
	assert_int_equal(live_program_finish(&kit), 2);
	live_program_assert_said(&kit, "no target: silence");
	end(pid);
}

CONFORM_TEST(a_closed_port_is_named)
{
	static struct live_program kit;

	ASK_IMPOSTOR(&kit);
	assert_int_equal(live_program_finish(&kit), 2);
	live_program_assert_said(&kit, "nobody listens at its UDP port");
}

/* Both ends at the loopback's link-local addresses, which mean nothing without it. */
CONFORM_TEST(a_link_local_target_is_reached)
{
	struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_port = htons(4791)};
	static struct live_program kit;
	const char *why;
	uint8_t bytes[2048];
	ssize_t n;
	int fd;

	if (!test_netns(&why))
		test_skip(why);
	test_ip("address add fe80::2/64 dev lo nodad");
	test_ip("address add fe80::3/64 dev lo nodad");
	at.sin6_scope_id = if_nametoindex("lo");
	inet_pton(AF_INET6, "fe80::3", &at.sin6_addr);
	fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	START(&kit, "conform", "--from", "fe80::2%lo", "--patience", "400ms",
	      "gid fe80::3%lo qpn 17 psn 5 rkey 1 va 4096 length 4096");
	n = recv(fd, bytes, sizeof(bytes), 0);
	assert_true(n > 12);
	assert_int_equal(bytes[7], 17);
	assert_int_equal(live_program_finish(&kit), 2);
	live_program_assert_said(&kit, "no target: silence");
	close(fd);
}

CONFORM_TEST(an_echo_is_named)
{
	static struct live_program kit;
	pid_t pid = impostor(ECHO);

	ASK_IMPOSTOR(&kit);
	assert_int_equal(live_program_finish(&kit), 2);
	live_program_assert_said(&kit, "the target is no MRC endpoint");
	end(pid);
}

/* Noise may look like an answer; then all that is judged fails, and the kit ends. */
CONFORM_TEST(noise_ends)
{
	static struct live_program kit;
	pid_t pid = impostor(NOISE);
	int status;

	START(&kit, "conform", "--from", KIT, "--patience", "20ms", BY_HAND);
	status = live_program_finish(&kit);
	assert_true(status == 1 || status == 2);
	end(pid);
}

CONFORM_TEST(a_flood_ends)
{
	static struct live_program kit;
	pid_t pid = impostor(FLOOD);
	int status;

	START(&kit, "conform", "--from", KIT, "--patience", "20ms", "--only", "sack-", BY_HAND);
	status = live_program_finish(&kit);
	assert_true(status == 1 || status == 2);
	end(pid);
}

/* ---- command lines ---- */

static void assert_refused(const char *words, const char *says)
{
	static struct live_program kit;
	char copy[300], *argv[LIVE_PROGRAM_WORDS] = {"conform"}, *save;
	int n = 1;

	snprintf(copy, sizeof(copy), "%s", words);
	for (char *word = strtok_r(copy, "|", &save); word; word = strtok_r(NULL, "|", &save))
		argv[n++] = word;
	live_program_start(&kit, argv, NULL);
	if (live_program_finish(&kit) != 2 || !strstr(kit.said, says))
		fail_msg("%s: want <%s>, it said:\n%s", words, says, kit.said);
}

CONFORM_TEST(wrong_usage_is_refused)
{
	assert_refused("--json", "want a TARGET");
	assert_refused("gid ::1 qpn 5", "want gid, qpn, psn, rkey, va and length");
	assert_refused("gid ::1 qpn -5", "qpn -5: must be a whole number, 0 to 16777215");
	assert_refused("gid ::1 qpn 5 psn 5 rkey 1 va 0 length 63",
		       "length 63: must be a whole number, 64 to 18446744073709551615");
	assert_refused("gid ::1 qpn 5 mtu 255", "mtu 255: must be a whole number, 256 to 4096");
	assert_refused("gid ::1 size 5", "size 5: want gid ADDR qpn N");
	assert_refused("gid|::1|qpn|99999999999", "qpn 99999999999");
	assert_refused("127.0.0.1:1", "mrc conform --serve has to run there");
	assert_refused("--cases|/nonexistent|x", "/nonexistent");
	assert_refused("--serve|x", "--serve takes no TARGET");
	assert_refused("--patience|5|x", "--patience");
	assert_refused("--from|nobody|" BY_HAND, "--from");
	assert_refused("gid fe80::1%nosuch qpn 5", "gid fe80::1%nosuch: want gid ADDR qpn N");
	assert_refused("gid fd00::1%lo qpn 5", "gid fd00::1%lo: want gid ADDR qpn N");
	assert_refused("gid 127.0.0.1%lo qpn 5", "gid 127.0.0.1%lo: want gid ADDR qpn N");
	assert_refused("gid 0000:0000:0000:0000:0000:ffff:255.255.255.2559 qpn 5",
		       "want gid ADDR qpn N");
	assert_refused("--serve|--silence|0s", "--silence");
	assert_refused("--dscp|1,2|" BY_HAND, "--dscp");
}
