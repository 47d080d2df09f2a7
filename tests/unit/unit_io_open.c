/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_io_open.c - opening and closing what src/io has, with each call to the system failing in
 * turn: the error is in words, and neither a descriptor nor a mapping is left. Memory is the leak
 * sanitizer's affair.
 */
#include "support/fault_table.h"
#include "support/netns.h"
#include "support/open_fds.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/af_packet.h"
#include "io/backlog.h"
#include "io/drivers.h"
#include "io/udp.h"

#define PORT 4791
#define TRIES 60u

/* ---- calls that fail ---- */

static unsigned calls, fail_at; /* the call that fails, from 1; 0: none */
static int fail_with, mappings;

static bool fails(int code)
{
	calls++;
	if (calls != fail_at)
		return false;
	errno = code;
	return true;
}

#define WRAP(type, name, parameters, arguments, failed, code)            \
	type __real_##name parameters;                                   \
	type __wrap_##name parameters;                                   \
	type __wrap_##name parameters                                    \
	{                                                                \
		return fails(code) ? (failed) : __real_##name arguments; \
	}

WRAP(void *, calloc, (size_t n, size_t size), (n, size), NULL, ENOMEM)
WRAP(void *, malloc, (size_t size), (size), NULL, ENOMEM)
WRAP(int, socket, (int family, int type, int protocol), (family, type, protocol), -1, fail_with)
WRAP(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t len),
     (fd, level, name, value, len), -1, fail_with)
WRAP(int, bind, (int fd, const struct sockaddr *at, socklen_t len), (fd, at, len), -1, fail_with)
WRAP(struct mnl_socket *, mnl_socket_open2, (int bus, int flags), (bus, flags), NULL, fail_with)
WRAP(int, mnl_socket_bind, (struct mnl_socket * nl, unsigned groups, pid_t pid), (nl, groups, pid),
     -1, fail_with)
WRAP(FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL, ENOMEM)

int __real_ioctl(int fd, unsigned long request, void *argument);
int __wrap_ioctl(int fd, unsigned long request, void *argument);
int __wrap_ioctl(int fd, unsigned long request, void *argument)
{
	return fails(fail_with) ? -1 : __real_ioctl(fd, request, argument);
}

void *__real_mmap(void *at, size_t len, int rights, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t len, int rights, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t len, int rights, int flags, int fd, off_t offset)
{
	if (fails(fail_with))
		return MAP_FAILED;
	mappings++;
	return __real_mmap(at, len, rights, flags, fd, offset);
}

int __real_munmap(void *at, size_t len);
int __wrap_munmap(void *at, size_t len);
int __wrap_munmap(void *at, size_t len)
{
	mappings--;
	return __real_munmap(at, len);
}

/* ---- what is opened ---- */

static const uint8_t loopback[16] = {[15] = 1};
static struct mio_error error;

/* Opens; returns 0 or an errno value. *thing is what `close` takes. */
struct maker {
	const char *name;
	int (*open)(void **thing);
	void (*close)(void *thing);
	bool says_capability; /* where the reason is EPERM */
	bool silent;	      /* the caller has the words */
};

static int claim(const struct mio_addr *local)
{
	unsigned was = fail_at;
	int fd = -1;

	fail_at = 0;
	assert_int_equal(mio_udp_claim(local, NULL, &fd, &error), 0);
	fail_at = was;
	calls = 0;
	error.text[0] = '\0';
	return fd;
}

static struct mio_addr local(void)
{
	struct mio_addr at = {.udp_port = PORT};

	memcpy(at.ip, loopback, 16);
	return at;
}

/* The claimed socket is still the caller's when the port is not opened. */
static int settle(int err, int fd)
{
	if (err)
		close(fd);
	return err;
}

static int open_udp(void **thing)
{
	struct mio_udp_cfg cfg = {.local = local(),
				  .ev_base = 50000,
				  .n_evs = 3,
				  .max_run = 1,
				  .rx_buffer_bytes = 1 << 16,
				  .zero_checksum = true};
	int fd = claim(&cfg.local);

	return settle(mio_udp_open(&cfg, fd, (struct mio_port **)thing, &error), fd);
}

static int open_claim(void **thing)
{
	static int fd;
	struct mio_addr at = local();

	*thing = &fd;
	return mio_udp_claim(&at, NULL, &fd, &error);
}

static int open_claim_on_interface(void **thing)
{
	static int fd;
	struct mio_addr at = local();

	*thing = &fd;
	return mio_udp_claim(&at, "lo", &fd, &error);
}

static void close_claim(void *thing)
{
	close(*(int *)thing);
}

static int open_raw41(void **thing)
{
	struct mio_raw41_cfg cfg = {.local = local(), .ifname = "lo", .rx_buffer_bytes = 1 << 16};
	int fd = claim(&cfg.local);

	memcpy(cfg.gid, loopback, 16);
	return settle(mio_raw41_open(&cfg, fd, (struct mio_port **)thing, &error), fd);
}

static int open_af_packet(void **thing)
{
	struct mio_af_packet_cfg cfg = {
		.local = local(), .ifname = "lo", .rx_buffer_bytes = 1 << 20};
	int fd = claim(&cfg.local);

	return settle(mio_af_packet_open(&cfg, fd, (struct mio_port **)thing, &error), fd);
}

static void close_port(void *thing)
{
	mio_port_close(thing);
}

static int open_nexthop(void **thing)
{
	return mio_nexthop_open(1, true, (struct mio_nexthop **)thing, &error);
}

static void close_nexthop(void *thing)
{
	mio_nexthop_close(thing);
}

static int open_delayq(void **thing)
{
	*thing = mio_delayq_create(8);
	return *thing ? 0 : ENOMEM;
}

static void close_delayq(void *thing)
{
	mio_delayq_destroy(thing);
}

static char path[64];

static int open_capture(void **thing)
{
	return mio_capture_open(path, 0, (struct mio_capture **)thing, &error);
}

static void close_capture(void *thing)
{
	assert_int_equal(mio_capture_close(thing), 0);
}

static int open_table(void **thing)
{
	static const struct mrc_fault_table table = {TEST_FAULT_TABLE};

	test_fault_table_write(path, &table);
	return mio_fault_map(path, (struct mrc_fault_table **)thing, &error);
}

static void close_nothing(struct mio_port *port)
{
	(void)port;
}

static int open_fault_driver(void **thing)
{
	static const struct mio_port_ops ops = {.close = close_nothing};
	static const struct mio_status status;
	static struct mrc_fault_table table;
	static struct mio_port below = {&ops, &status, 1};
	const struct mio_fault_cfg cfg = {.table = &table, .trim_bytes = 1};

	return mio_fault_open(&cfg, &below, (struct mio_port **)thing);
}

static void close_table(void *thing)
{
	mio_fault_unmap(thing);
}

static const struct maker makers[] = {
	{"a claimed port", open_claim, close_claim, false, false},
	{"a claimed port of an interface", open_claim_on_interface, close_claim, false, false},
	{"udp", open_udp, close_port, false, false},
	{"raw41", open_raw41, close_port, true, false},
	{"af_packet", open_af_packet, close_port, true, false},
	{"nexthop", open_nexthop, close_nexthop, false, false},
	{"delay queue", open_delayq, close_delayq, false, true},
	{"capture", open_capture, close_capture, false, false},
	{"fault table", open_table, close_table, false, false},
	{"fault driver", open_fault_driver, close_port, false, true},
};

/* ---- the cases ---- */

TEST(mio_udp_grow_buffer, asks_with_the_rights_that_there_are)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0), bytes = 1 << 16;
	/* CAP_NET_ADMIN: root of a container may well be without. */
	bool is_allowed =
		__real_setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) == 0;

	fail_with = EPERM;
	calls = 0;
	fail_at = 1; /* who may not have more than others */
	assert_true(mio_udp_grow_buffer(fd, 1 << 16) >= 1 << 15);
	assert_int_equal(calls, 2);
	fail_at = UINT32_MAX;
	calls = 0;
	assert_true(mio_udp_grow_buffer(fd, 1 << 16) >= 1 << 15);
	assert_int_equal(calls, is_allowed ? 1 : 2);
	fail_at = 0;
	close(fd);
	assert_int_equal(mio_udp_grow_buffer(fd, 1 << 16), 0);
}

static int open_setup(void **state)
{
	const char *why = NULL;

	(void)state;
	if (!test_netns(&why))
		test_skip(why);
	snprintf(path, sizeof(path), "/tmp/softmrc-io-open-%d", getpid());
	return 0;
}

static int open_teardown(void **state)
{
	(void)state;
	fail_at = 0;
	unlink(path);
	return 0;
}

static void check_words(const struct maker *m, int err)
{
	bool capability = strstr(error.text, "CAP_NET_RAW") != NULL;

	if (m->silent)
		return;
	if (!strstr(error.text, err == ENOMEM && !strstr(error.text, strerror(err))
					? "no memory"
					: strerror(err)))
		fail_msg("%s, call %u: %s is not said: <%s>", m->name, fail_at, strerror(err),
			 error.text);
	if (m->says_capability && strstr(error.text, "protocol 41"))
		assert_int_equal(capability, err == EPERM);
}

/* Returns whether a call failed. */
static bool open_with(const struct maker *m, unsigned at)
{
	uint32_t before = test_open_fds();
	void *thing = NULL;
	int err;

	error.text[0] = '\0';
	mappings = 0;
	calls = 0;
	fail_at = at;
	errno = EDOM; /* what a call that works leaves there is no error of it */
	err = m->open(&thing);
	at = fail_at;
	fail_at = 0;
	if (calls < at && err)
		fail_msg("%s: %s, and no call failed", m->name, strerror(err));
	if (err)
		check_words(m, err);
	else
		m->close(thing);
	if (test_open_fds() != before || mappings != 0)
		fail_msg("%s, call %u failing: %u descriptors of %u, %d mappings left", m->name, at,
			 test_open_fds(), before, mappings);
	return calls >= at;
}

static void fail_each_call(int code)
{
	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
		unsigned at = 1;

		assert_false(open_with(&makers[i], UINT32_MAX));
		fail_with = code;
		while (open_with(&makers[i], at))
			assert_true(at++ < TRIES);
		assert_true(at > 1);
	}
}

TEST_WITH(open_setup, open_teardown, mio_open, leaves_nothing_where_a_right_is_missing)
{
	fail_each_call(EPERM);
}

TEST_WITH(open_setup, open_teardown, mio_open, leaves_nothing_where_a_call_fails)
{
	fail_each_call(EIO);
}
