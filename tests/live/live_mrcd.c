/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_mrcd.c - the socket of mrcd, with clients of other users, clients that flood, and clients
 * that do not read: the door and its clients run here, in one thread, beside them.
 */
#include "mrcd/md_serve.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mrcd/md_log.h"
#include "support/test.h"
#include "ui/terminal.h"

static struct md_node node;
static struct md_door door;
static char dir[] = "/tmp/mrc-live-mrcd-XXXXXX";
static char subuid_path[sizeof(dir) + 16];

static int door_setup(void **state)
{
	struct md_config config;
	struct md_config_error error = {""};
	char text[200];

	(void)state;
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	if (!mkdtemp(dir) || chmod(dir, 0755))
		return -1;
	snprintf(text, sizeof(text), "[node]\ndir = \"%s/node\"\n[device]\nports = 2\n", dir);
	if (md_config_parse(&config, "x", text, &error) ||
	    md_node_create(&node, "/nowhere", &config) || md_node_open(&node, &error) ||
	    md_door_open(&door, &node, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	/* Not those of the machine. */
	snprintf(subuid_path, sizeof(subuid_path), "%s/subuid", dir);
	md_subuid_init(&door.subuid, subuid_path);
	return 0;
}

static int door_teardown(void **state)
{
	char command[64];

	(void)state;
	md_door_close(&door);
	md_node_destroy(&node);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

#define DOOR_TEST(name) TEST_WITH(door_setup, door_teardown, md_door, name)

static void serve_once(void)
{
	struct pollfd fds[MD_DOOR_POLLED];

	md_door_poll(&door, fds, ui_clock_ns());
	poll(fds, MD_DOOR_POLLED, 10);
	md_door_serve(&door, fds, ui_clock_ns());
}

static int connect_client(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(at.sun_path, door.path, strlen(door.path) + 1);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	serve_once();
	return fd;
}

/* Sends a line and returns the first answer, which serving makes. */
static const char *ask(int fd, const char *line)
{
	static char said[65536];
	ssize_t n = 0;

	assert_true(send(fd, line, strlen(line), MSG_NOSIGNAL) > 0);
	for (int i = 0; i < 500 && n <= 0; i++) {
		serve_once();
		n = recv(fd, said, sizeof(said) - 1, MSG_DONTWAIT);
	}
	said[n > 0 ? n : 0] = '\0';
	return said;
}

DOOR_TEST(answers_line_by_line)
{
	int fd = connect_client();

	assert_non_null(strstr(ask(fd, "{\"do\":\"stat"), ""));
	assert_non_null(strstr(ask(fd, "us\"}\n"), "\"generation\":1"));
	assert_non_null(strstr(ask(fd, "nonsense\n"), "one JSON object"));
	assert_non_null(strstr(ask(fd, "{\"do\":\"port.show\"}\n"), "enabled"));
	close(fd);
	serve_once();
	serve_once();
	assert_u_eq(node.counts.clients, 0);
}

/* All that was asked is answered, though nothing more will be: also what waits for its turn. */
DOOR_TEST(answers_what_was_asked_before_the_end)
{
	static char answers[1 << 17], asked[9 * (MD_BURST + 100)];
	uint32_t lines = 0, sent = MD_BURST + 100;
	int fd = connect_client();
	ssize_t n = -1;

	for (uint32_t i = 0; i < sent; i++)
		memcpy(asked + 9 * (size_t)i, "{\"do\":1}\n", 9);
	/* The last line has no end but that of the input. */
	assert_int_equal(send(fd, asked, sizeof(asked) - 1, MSG_NOSIGNAL), sizeof(asked) - 1);
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	for (int i = 0; i < 5000 && n != 0; i++) {
		serve_once();
		n = recv(fd, answers, sizeof(answers), MSG_DONTWAIT);
		for (ssize_t k = 0; k < n; k++)
			lines += answers[k] == '\n';
	}
	assert_u_eq(lines, sent);
	assert_int_equal(n, 0);
	assert_u_eq(node.counts.clients, 0);
	close(fd);
}

/* Who has nothing to ask any more may go on to follow, until he is gone. */
DOOR_TEST(tells_who_only_listens)
{
	json_t *event = json_pack("{s:s}", "event", "x");
	char text[64];
	int fd = connect_client();

	ask(fd, "{\"do\":\"events\"}\n");
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	serve_once();
	serve_once();
	assert_u_eq(node.counts.clients, 1);
	md_door_tell(&door, event, MD_NOBODY);
	serve_once();
	assert_true(recv(fd, text, sizeof(text), MSG_DONTWAIT) > 0);
	close(fd);
	serve_once();
	assert_u_eq(node.counts.clients, 0);
	json_decref(event);
}

/* What is to come wakes the daemon by itself; what has come and waits for its turn does not. */
DOOR_TEST(sleeps_over_half_a_line)
{
	struct pollfd fds[MD_DOOR_POLLED];
	int fd = connect_client();

	assert_int_equal(send(fd, "{\"do\":\"stat", 11, MSG_NOSIGNAL), 11);
	serve_once();
	assert_int_equal(md_door_poll(&door, fds, ui_clock_ns()), -1);
	assert_non_null(strstr(ask(fd, "us\"}\n"), "\"generation\":1"));
	assert_int_equal(md_door_poll(&door, fds, ui_clock_ns()), -1);
	close(fd);
}

DOOR_TEST(ends_a_line_without_end)
{
	static char line[MD_REQUEST_MAX];
	int fd = connect_client();

	memset(line, 'x', sizeof(line) - 1);
	ask(fd, line);
	assert_non_null(strstr(ask(fd, "xx"), "less than 65536 bytes"));
	close(fd);
}

/* A user has some of the places; root, whose these are, is no exception. */
DOOR_TEST(bounds_the_connections_of_a_user)
{
	int fd[MD_CLIENTS_OF_USER + 1];

	for (uint32_t i = 0; i <= MD_CLIENTS_OF_USER; i++)
		fd[i] = connect_client();
	assert_u_eq(node.counts.clients, MD_CLIENTS_OF_USER);
	assert_non_null(strstr(ask(fd[0], "{\"do\":\"status\"}\n"), "\"ok\":true"));
	for (uint32_t i = 0; i <= MD_CLIENTS_OF_USER; i++)
		close(fd[i]);
}

static void write_subuid(const char *text)
{
	FILE *file = fopen(subuid_path, "we");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* Connects as each of these users as often as one of them may. Ends with their number. */
static uint32_t connect_as(const uid_t *uids, uint32_t n, int *fd)
{
	for (uint32_t i = 0; i < n * MD_CLIENTS_OF_USER; i++) {
		assert_int_equal(seteuid(uids[i / MD_CLIENTS_OF_USER]), 0);
		fd[i] = connect_client();
		assert_int_equal(seteuid(0), 0);
	}
	return n * MD_CLIENTS_OF_USER;
}

/* A user and those that his files in the namespace of the host become, by their modes, are one. */
DOOR_TEST(counts_subordinate_numbers_for_whose_they_are)
{
	static const uid_t one[] = {100000, 165535, 7001}, other[] = {165536};
	int fd[4 * MD_CLIENTS_OF_USER];
	uint32_t n;

	if (geteuid() != 0)
		test_skip("needs root");
	write_subuid("7001:100000:65536\n7002:165536:65536\n");
	n = connect_as(one, 3, fd);
	assert_u_eq(node.counts.clients, MD_CLIENTS_OF_USER);
	n += connect_as(other, 1, fd + n);
	assert_u_eq(node.counts.clients, 2 * MD_CLIENTS_OF_USER);
	while (n-- > 0)
		close(fd[n]);
}

static void write_map(pid_t pid, const char *name, const char *map)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, map, strlen(map)) != (ssize_t)strlen(map))
		test_skip("no user namespace can be mapped here");
	close(fd);
}

/* In a user namespace, whose map comes with a byte: connects as three users, and stays. */
_Noreturn static void flood_from_namespace(int come, int done)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char byte = unshare(CLONE_NEWUSER) == 0;

	alarm(100); /* where the case fails, nobody ends it */
	memcpy(at.sun_path, door.path, strlen(door.path) + 1);
	if (write(done, &byte, 1) != 1 || read(come, &byte, 1) != 1 || setresuid(0, 0, 0))
		_exit(1);
	for (uint32_t i = 0; i < 3 * MD_CLIENTS_OF_USER; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (setresuid((uid_t)-1, i / MD_CLIENTS_OF_USER, (uid_t)-1) ||
		    connect(fd, (struct sockaddr *)&at, sizeof(at)) || seteuid(0))
			_exit(1);
	}
	if (write(done, &byte, 1) != 1)
		_exit(1);
	pause();
	_exit(1);
}

DOOR_TEST(counts_a_user_namespace_for_whose_it_is)
{
	int come[2], done[2], status;
	struct pollfd wait;
	char byte = 0;
	pid_t pid;

	if (geteuid() != 0)
		test_skip("needs root");
	write_subuid("7001:100000:65536\n");
	assert_true(pipe2(come, O_CLOEXEC) == 0 && pipe2(done, O_CLOEXEC) == 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		flood_from_namespace(come[0], done[1]);
	close(done[1]);
	assert_i_eq(read(done[0], &byte, 1), 1);
	if (!byte)
		test_skip("no user namespace can be made here");
	write_map(pid, "uid_map", "0 100000 1000\n");
	assert_i_eq(write(come[1], &byte, 1), 1);
	wait = (struct pollfd){done[0], POLLIN, 0};
	while (poll(&wait, 1, 0) == 0)
		serve_once();
	assert_i_eq(read(done[0], &byte, 1), 1); /* 0: it ended early */
	for (uint32_t i = 0; i <= 3 * MD_CLIENTS_OF_USER; i++)
		serve_once();
	assert_u_eq(node.counts.clients, MD_CLIENTS_OF_USER);
	kill(pid, SIGKILL);
	assert_i_eq(waitpid(pid, &status, 0), pid);
	close(come[0]), close(come[1]), close(done[0]);
}

/* Numbers of nobody are one user each, but take no place of those who may change. */
DOOR_TEST(keeps_places_for_who_may_change)
{
	int fd[MD_CLIENTS + MD_CLIENTS_KEPT];
	uint32_t n = 0;

	for (uid_t uid = 100000; n < MD_CLIENTS; uid += n % MD_CLIENTS_OF_USER == 0) {
		if (geteuid() != 0 || seteuid(uid))
			test_skip("needs root");
		fd[n++] = connect_client();
		assert_int_equal(seteuid(0), 0);
	}
	assert_u_eq(node.counts.clients, MD_CLIENTS - MD_CLIENTS_KEPT);
	while (n < MD_CLIENTS + MD_CLIENTS_KEPT)
		fd[n++] = connect_client();
	assert_u_eq(node.counts.clients, MD_CLIENTS);
	assert_non_null(strstr(ask(fd[n - 1], "{\"do\":\"status\"}\n"), "\"ok\":true"));
	/* A place that is given back by one of the others is another's of them. */
	close(fd[0]);
	serve_once();
	assert_int_equal(seteuid(200000), 0);
	fd[0] = connect_client();
	assert_int_equal(seteuid(0), 0);
	assert_u_eq(node.counts.clients, MD_CLIENTS);
	while (n-- > 0)
		close(fd[n]);
}

/* More at once than the burst: the rest waits for its turn, and nothing is lost. */
DOOR_TEST(bounds_the_rate_of_requests)
{
	int fd = connect_client();
	static char answers[65536], asked[9 * (MD_BURST + 100) + 1];
	uint32_t lines = 0, sent = MD_BURST + 100;
	uint64_t begin = ui_clock_ns();

	for (uint32_t i = 0; i < sent; i++)
		memcpy(asked + 9 * (size_t)i, "{\"do\":1}\n", 10);
	assert_int_equal(send(fd, asked, 9 * (size_t)sent, MSG_NOSIGNAL), 9 * sent);
	while (lines < sent) {
		ssize_t n;

		serve_once();
		n = recv(fd, answers, sizeof(answers), MSG_DONTWAIT);
		for (ssize_t i = 0; i < n; i++)
			lines += answers[i] == '\n';
	}
	assert_true(ui_clock_ns() - begin >= UINT64_C(100) * 1000000000 / MD_RATE);
	close(fd);
}

DOOR_TEST(drops_events_of_who_does_not_read_and_says_so)
{
	int fd = connect_client(), kept = 0;
	json_t *event = json_pack("{s:s, s:s}", "event", "x", "text",
				  "0123456789012345678901234567890123456789012345678901234567890");

	ask(fd, "{\"do\":\"events\"}\n");
	for (int i = 0; i < 20000; i++)
		md_door_tell(&door, event, MD_NOBODY);
	assert_true(node.counts.events_dropped > 0);
	assert_u_eq(node.counts.events + node.counts.events_dropped, 20000);
	while (kept < 1000) {
		const char *text;

		serve_once();
		md_door_tell(&door, event, MD_NOBODY);
		text = ask(fd, "{\"do\":\"status\"}\n");
		if (strstr(text, "\"dropped\":"))
			break;
		kept++;
	}
	assert_in_range(kept, 0, 999);
	json_decref(event);
	close(fd);
}

TEST(md_door_open, names_the_line_of_a_group_that_is_none)
{
	static const char text[] = "[node]\ndir = \"/proc\"\n[device]\nports = 2\n"
				   "[access]\ngroup = \"no-such-group\"\n";
	struct md_config_error error = {""};
	struct md_config config;

	assert_int_equal(md_config_parse(&config, "x.toml", text, &error), 0);
	assert_int_equal(md_node_create(&node, "x.toml", &config), 0);
	assert_int_equal(md_door_open(&door, &node, &error), EINVAL);
	assert_string_equal(error.text, "x.toml:6: access.group = no-such-group: no such group");
	md_node_destroy(&node);
}

/* The one end of a pipe that was given away; true: nobody has the other end any more. */
static bool was_dropped(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 0;
}

/* Sends the beginning of a request, and a descriptor; returns the other end of that. */
static int pass_descriptor(int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec text = {"{", 1};
	struct msghdr message = {.msg_iov = &text,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *m = CMSG_FIRSTHDR(&message);
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	m->cmsg_level = SOL_SOCKET;
	m->cmsg_type = SCM_RIGHTS;
	m->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(m), &ends[1], sizeof(int));
	assert_int_equal(sendmsg(fd, &message, MSG_NOSIGNAL), 1);
	close(ends[1]);
	serve_once();
	return ends[0];
}

/* To close one may take as long as its file system likes. REQ(ctl.privilege) */
DOOR_TEST(takes_descriptors_of_who_may_change)
{
	int fd = connect_client(), other;

	door.client[0].peer.is_privileged = true;
	other = pass_descriptor(fd);
	assert_false(was_dropped(other));
	close(other);
	ask(fd, "}\n");
	door.client[0].peer.is_privileged = false;
	other = pass_descriptor(fd);
	assert_true(was_dropped(other));
	assert_int_equal(door.client[0].peer.passed_fd, -1);
	close(other);
	close(fd);
}

/* Another user reads, follows what is his own, and changes nothing. */
DOOR_TEST(tells_users_apart)
{
	json_t *event = json_pack("{s:s}", "event", "of-somebody");
	int fd;

	if (geteuid() != 0 || seteuid(65534))
		test_skip("needs root");
	fd = connect_client();
	assert_int_equal(seteuid(0), 0);
	assert_non_null(strstr(ask(fd, "{\"do\":\"port.set\",\"port\":1,\"admin\":\"down\"}\n"),
			       "\"EPERM\""));
	assert_non_null(strstr(ask(fd, "{\"do\":\"events\"}\n"), "\"ok\":true"));
	md_door_tell(&door, event, 0);
	assert_u_eq(node.counts.events, 0);
	md_door_tell(&door, event, 65534);
	assert_u_eq(node.counts.events, 1);
	assert_u_eq(node.now->port_admin[0], MN_PORT_ENABLED);
	json_decref(event);
	close(fd);
}
