/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_ports_watch.c - ports whose interface goes down, whose address goes away, and which come
 * back; in a network of the test's own.
 */
#include "support/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bytes.h"
#include "host/state/nic_context.h"
#include "support/netns.h"

/* The two planes: addresses of lo, by the names that the old ioctls give them. */
static const char *const watch_label[2] = {"lo:1", "lo:2"};
static const char *const watch_ip[2] = {"10.77.1.1", "10.77.2.1"};
static int watch_socket = -1; /* opened while there are descriptors */

static void watch_ioctl(struct ifreq *request, unsigned long what)
{
	int fd = watch_socket >= 0 ? watch_socket : socket(AF_INET, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	assert_i_eq(ioctl(fd, what, request), 0);
	if (fd != watch_socket)
		close(fd);
}

static void watch_flags(const char *name, bool up)
{
	struct ifreq request = {.ifr_flags = up ? IFF_UP | IFF_RUNNING : 0};

	strcpy(request.ifr_name, name);
	watch_ioctl(&request, SIOCSIFFLAGS);
}

static void watch_add(uint32_t plane)
{
	struct sockaddr_in sa = {.sin_family = AF_INET};
	struct ifreq request = {.ifr_flags = 0};

	strcpy(request.ifr_name, watch_label[plane]);
	assert_i_eq(inet_pton(AF_INET, watch_ip[plane], &sa.sin_addr), 1);
	memcpy(&request.ifr_addr, &sa, sizeof(sa));
	watch_ioctl(&request, SIOCSIFADDR);
}

/* Taking an alias down takes its address away. */
static void watch_remove(uint32_t plane)
{
	watch_flags(watch_label[plane], false);
}

static struct mh_device *watch_dev;

static int watch_setup(void **state)
{
	const char *why;

	(void)state;
	watch_dev = NULL;
	if (!test_netns(&why))
		return 0;
	watch_add(0);
	watch_add(1);
	setenv("MRC_CONFIG", "/dev/null", 1);
	setenv("MRC_PORTS", "10.77.1.1,10.77.2.1", 1);
	setenv("MRC_EVS", "2", 1);
	return mh_device_open(0, NULL, &watch_dev);
}

static int watch_teardown(void **state)
{
	(void)state;
	return watch_dev ? mh_device_close(watch_dev) : 0;
}

#define WATCH_TEST(name) TEST_WITH(watch_setup, watch_teardown, mh_ports_update_links, name)

static bool watch_here(void)
{
	if (!watch_dev)
		test_skip("no network of our own here");
	return watch_dev != NULL;
}

/* watch_wait waits until plane i is up, or down; the progress thread finds out by itself. */
static void watch_wait(uint32_t i, bool up)
{
	struct mh_plane_attr attr = {.up = !up};

	for (int ms = 0; ms < 60000 && attr.up != up; ms++) {
		assert_i_eq(mh_device_query_plane(watch_dev, i, &attr), 0);
		poll(NULL, 0, 1);
	}
	assert_true(attr.up == up);
}

static void watch_event(enum mh_async_type want)
{
	struct mh_async_event event;

	assert_i_eq(mh_async_get(watch_dev, &event), 0);
	assert_i_eq(event.type, want);
	mh_async_ack(watch_dev, &event);
}

static bool watch_quiet(void)
{
	struct pollfd pfd = {mh_async_fd(watch_dev), POLLIN, 0};

	return poll(&pfd, 1, 0) == 0;
}

/* REQ(ep.port.local-down) REQ(ep.port.return) */
WATCH_TEST(address_that_goes_takes_its_plane)
{
	if (!watch_here())
		return;
	watch_wait(0, true);
	watch_wait(1, true);
	watch_remove(1);
	watch_wait(1, false);
	watch_wait(0, true);
	assert_true(mh_device_is_up(watch_dev));
	assert_true(watch_quiet());
	watch_add(1);
	watch_wait(1, true);
	assert_true(watch_quiet());
}

/* REQ(api.async) */
WATCH_TEST(interface_that_goes_down_is_an_event)
{
	if (!watch_here())
		return;
	watch_flags("lo", false);
	watch_event(MH_ASYNC_PORT_DOWN);
	assert_false(mh_device_is_up(watch_dev));
	watch_flags("lo", true);
	watch_event(MH_ASYNC_PORT_UP);
	watch_wait(0, true);
	watch_wait(1, true);
	assert_true(watch_quiet());
}

/* Takes all descriptors that the process may still have; returns how many. */
static uint32_t watch_take_descriptors(int *fds, uint32_t max)
{
	uint32_t n = 0;

	while (n < max && (fds[n] = dup(0)) >= 0)
		n++;
	assert_true(n < max);
	assert_i_eq(errno, EMFILE);
	return n;
}

#define DESCRIPTORS 512u

/* A program at its limit cannot ask the kernel for links: that is no fault of theirs. */
WATCH_TEST(a_process_without_descriptors_keeps_its_ports)
{
	struct rlimit before, limit;
	struct mh_plane_attr attr[2];
	bool stayed = true;
	int fds[DESCRIPTORS];
	uint32_t n;

	if (!watch_here())
		return;
	assert_i_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = (struct rlimit){DESCRIPTORS, before.rlim_max};
	assert_i_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	watch_socket = socket(AF_INET, SOCK_DGRAM, 0);
	n = watch_take_descriptors(fds, DESCRIPTORS);
	watch_remove(1);
	/* Judged when there are descriptors again, without which a test cannot even fail. */
	for (int ms = 0; ms < 150; ms++) {
		for (uint32_t i = 0; i < 2; i++)
			stayed &= mh_device_query_plane(watch_dev, i, &attr[i]) == 0 && attr[i].up;
		poll(NULL, 0, 1);
	}
	while (n > 0)
		close(fds[--n]);
	assert_true(stayed);
	/* Nothing changes now; the timer asks again. */
	watch_wait(1, false);
	watch_wait(0, true);
	close(watch_socket);
	watch_socket = -1;
	assert_i_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* Opened while an address's interface is down: not an error, and used when it comes up. */
/* ---- what is said of offloads ---- */

struct watch_heard {
	uint32_t n;
	char text[300];
};

static void watch_hear(void *context, enum mrc_log_level level, const char *text)
{
	struct watch_heard *heard = context;

	assert_i_eq(level, MRC_LOG_WARNING);
	heard->n++;
	snprintf(heard->text, sizeof(heard->text), "%s", text);
}

TEST(mh_ports_check_errors, says_once_what_a_system_cannot_do)
{
	struct mio_status status = {.fd = -1};
	struct mio_port io = {.status = &status, .max_run = 1};
	static struct mh_ports ports;
	struct watch_heard heard = {.n = 0};

	memset(&ports, 0, sizeof(ports));
	ports.n = 1;
	ports.port[0].io = &io;
	assert_i_eq(mrc_log_set(MRC_LOG_CONFIGURED, watch_hear, &heard), 0);
	assert_false(mh_ports_check_errors(&ports, 1));
	assert_u_eq(heard.n, 0);
	status.no_runs = "the system refuses them";
	for (uint32_t i = 0; i < 3; i++)
		mh_ports_check_errors(&ports, 2 + i);
	assert_u_eq(heard.n, 1);
	assert_non_null(strstr(heard.text, "(UDP GSO) do not work here: the system refuses them"));
	for (; status.rx_oversize < 3; status.rx_oversize++)
		mh_ports_check_errors(&ports, 6);
	assert_u_eq(heard.n, 2);
	assert_non_null(strstr(heard.text, "MRC_RUN=1"));
	assert_i_eq(mrc_log_set(MRC_LOG_CONFIGURED, NULL, NULL), 0);
}

TEST(mh_ports_open, link_that_is_down)
{
	struct mh_plane_attr attr;
	const char *why;
	uint32_t up;

	if (!test_netns(&why))
		test_skip(why);
	watch_add(0);
	watch_add(1);
	watch_flags("lo", false);
	assert_i_eq(mh_device_open(0, NULL, &watch_dev), 0);
	assert_i_eq(mh_device_query_plane(watch_dev, 0, &attr), 0);
	assert_false(attr.up);
	mh_nic_lock(watch_dev->nic);
	up = mt_engine_ports_up(watch_dev->nic->engine);
	mh_nic_unlock(watch_dev->nic);
	assert_u_eq(up, 0);
	watch_flags("lo", true);
	watch_event(MH_ASYNC_PORT_UP);
	watch_wait(0, true);
	assert_i_eq(mh_device_close(watch_dev), 0);
	watch_dev = NULL;
}
