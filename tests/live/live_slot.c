/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_slot.c - the UDP ports of a process and another user of its host: what the kernel refuses
 * while the process lives, and what a host's administrator can have it refuse afterwards.
 *
 * Argument: SECURITY.md, whose commands are those that are run here.
 */
#include "host/nic.h"
#include "support/netns.h"
#include "support/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534u
#define UDP_PORT 4791u
#define SLOTS 1024u
#define EV_BASE 12000u
#define EVS 4u
/* What a child says that could not become who it should be. */
#define NOT_READY 125

static struct mh_device *dev;

static int slot_setup(void **state)
{
	const char *why = NULL;

	(void)state;
	if (geteuid() != 0)
		test_skip("needs root, who can be another user");
	if (!test_netns(&why))
		test_skip(why);
	setenv("MRC_PORTS", "127.0.0.1", 1);
	setenv("MRC_EVS", "4", 1);
	setenv("MRC_EV_BASE", "12000", 1);
	return 0;
}

static int slot_teardown(void **state)
{
	(void)state;
	if (dev)
		mh_device_close(dev);
	dev = NULL;
	unsetenv("MRC_PORTS");
	unsetenv("MRC_EVS");
	unsetenv("MRC_EV_BASE");
	return 0;
}

#define SLOT_TEST(name) TEST_WITH(slot_setup, slot_teardown, live_slot, name)

/* ---- as another user ---- */

/* Calls fn in a child that is user 65534, with one capability or none (-1); what it returned. */
static int as_nobody(int capability, int (*fn)(void))
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {{0}};
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (prctl(PR_SET_KEEPCAPS, 1) || setresgid(NOBODY, NOBODY, NOBODY) ||
		    setresuid(NOBODY, NOBODY, NOBODY))
			_exit(NOT_READY);
		if (capability >= 0)
			caps[0].permitted = caps[0].effective = 1u << capability;
		if (syscall(SYS_capset, &head, caps))
			_exit(NOT_READY);
		_exit(fn());
	}
	assert_i_eq(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_true(WEXITSTATUS(status) != NOT_READY);
	return WEXITSTATUS(status);
}

/* How a socket is to be bound. */
struct attempt {
	int family;
	const char *address;
	bool reuse_address, reuse_port, on_loopback, v6_only;
};

/* bind_as binds a socket to a UDP port; its descriptor, or -1 and errno. */
static int bind_as(const struct attempt *a, uint16_t port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	int fd = socket(a->family, SOCK_DGRAM | SOCK_CLOEXEC, 0), on = 1, err;
	bool four = a->family == AF_INET;

	inet_pton(a->family, a->address, four ? (void *)&in.sin_addr : (void *)&in6.sin6_addr);
	if (a->reuse_address)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (a->reuse_port)
		setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	if (a->on_loopback)
		setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2);
	if (!four)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){a->v6_only}, sizeof(int));
	err = four ? bind(fd, (struct sockaddr *)&in, sizeof(in))
		   : bind(fd, (struct sockaddr *)&in6, sizeof(in6));
	if (err == 0)
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

/* Tries all ways to a port; the errno value of all, 0 if one worked, 124 if they differ. */
static int try_all(uint16_t port)
{
	static const struct {
		int family;
		const char *address;
	} where[] = {{AF_INET, "127.0.0.1"},
		     {AF_INET, "0.0.0.0"},
		     {AF_INET6, "::"},
		     {AF_INET6, "::ffff:127.0.0.1"}};
	int all = -1;

	for (uint32_t i = 0; i < sizeof(where) / sizeof(where[0]); i++)
		for (uint32_t options = 0; options < 8; options++) {
			struct attempt a = {.family = where[i].family,
					    .address = where[i].address,
					    .reuse_address = options & 1,
					    .reuse_port = options & 2,
					    .on_loopback = options & 4};
			int fd = bind_as(&a, port), err = fd < 0 ? errno : 0;

			if (fd >= 0)
				close(fd);
			if (all >= 0 && all != err)
				return 124;
			all = err;
		}
	return all;
}

static int try_slot(void)
{
	return try_all(UDP_PORT);
}

static int try_ev(void)
{
	return try_all(EV_BASE + EVS - 1);
}

static int try_last_slot(void)
{
	return try_all(UDP_PORT + SLOTS - 1);
}

static int open_device(void)
{
	return mh_device_open(0, NULL, &dev);
}

/* ---- while the process lives ---- */

/* Neither where it receives nor the source ports that are its EVs, with any option of sockets. */
SLOT_TEST(ports_of_a_living_process_are_refused_to_others)
{
	assert_i_eq(as_nobody(-1, try_slot), 0); /* nobody's yet */
	assert_i_eq(open_device(), 0);
	assert_i_eq(as_nobody(-1, try_slot), EADDRINUSE);
	assert_i_eq(as_nobody(-1, try_ev), EADDRINUSE);
	assert_i_eq(as_nobody(CAP_NET_BIND_SERVICE, try_slot), EADDRINUSE);
}

/* Another user's process of softmrc takes the next slot, and EVs of its own. */
SLOT_TEST(another_user_gets_another_slot)
{
	unsetenv("MRC_EV_BASE");
	assert_i_eq(open_device(), 0);
	assert_i_eq(as_nobody(-1, open_device), 0);
}

/* ---- when it has died: what the administrator can do ---- */

#define TOOLS "PATH=$PATH:/usr/sbin:/sbin; "

/* Finds the line of SECURITY.md that is such a command and runs it; false: it fails. */
static bool run_documented(const char *tool)
{
	char line[400], command[440], start[32];
	bool found = false;
	FILE *f = fopen(test_arg(0), "re");

	assert_non_null(f);
	snprintf(start, sizeof(start), "    %s ", tool);
	while (!found && fgets(line, sizeof(line), f))
		found = strncmp(line, start, strlen(start)) == 0;
	fclose(f);
	if (!found)
		fail_msg("%s has no line that begins with \"%s\"", test_arg(0), start);
	snprintf(command, sizeof(command), TOOLS "%s", line);
	return system(command) == 0;
}

static bool is_there(const char *tool)
{
	char command[80];

	snprintf(command, sizeof(command), TOOLS "command -v %s >/dev/null", tool);
	return system(command) == 0;
}

static int slot_of_a_dead_process(void)
{
	int err = try_slot();

	return err == EACCES ? try_last_slot() : err;
}

static int open_and_say(void)
{
	FILE *catcher = tmpfile();
	char said[400] = "";
	int err;

	if (!catcher || dup2(fileno(catcher), STDERR_FILENO) < 0)
		return NOT_READY;
	err = open_device();
	rewind(catcher);
	if (err != EACCES || fread(said, 1, sizeof(said) - 1, catcher) == 0)
		return 1;
	return !strstr(said, "bind for UDP 127.0.0.1 port 4791: Permission denied") ||
	       !strstr(said, "CAP_NET_BIND_SERVICE (net.ipv4.ip_unprivileged_port_start)");
}

/* Then only who has a capability can be the heir of a slot; programs of MRC need it, too. */
SLOT_TEST(ports_that_need_a_capability)
{
	if (!is_there("sysctl"))
		test_skip("no sysctl (procps)");
	assert_i_eq(open_device(), 0);
	assert_true(run_documented("sysctl"));
	assert_i_eq(mh_device_close(dev), 0);
	dev = NULL;
	assert_i_eq(as_nobody(-1, slot_of_a_dead_process), EACCES);
	assert_i_eq(as_nobody(-1, open_and_say), 0);
	assert_i_eq(as_nobody(CAP_NET_BIND_SERVICE, open_device), 0);
	test_sysctl("net/ipv4/ip_unprivileged_port_start", "1024");
}

static int send_to_slot(uint32_t slot)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)(UDP_PORT + slot)),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err = sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)) == 1 ? 0 : errno;

	close(fd);
	return err;
}

static int send_to_first(void)
{
	return send_to_slot(0);
}

static int send_to_last(void)
{
	return send_to_slot(SLOTS - 1);
}

static int send_elsewhere(void)
{
	return send_to_slot(SLOTS);
}

/* Who may not send to the ports of MRC can neither forge packets nor answer in another's place. */
SLOT_TEST(rule_that_lets_only_some_users_send)
{
	if (!is_there("nft"))
		test_skip("no nft (nftables)");
	if (!run_documented("nft"))
		test_skip("this kernel has no nftables with meta skuid");
	assert_i_eq(as_nobody(-1, send_to_first), EPERM);
	assert_i_eq(as_nobody(-1, send_to_last), EPERM);
	assert_i_eq(as_nobody(-1, send_elsewhere), 0);
	assert_i_eq(send_to_slot(0), 0); /* root, whom the rule names */
	assert_i_eq(system(TOOLS "nft delete table inet mrc"), 0);
}
