/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_nic_device.c - openings of the NIC, what they say, and the order of taking things down. */
#include "support/open_fds.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/progress/progress.h"
#include "host/state/nic_context.h"
#include "support/nic_counters.h"
#include "unit/loopback.h"

static int device_env(void **state)
{
	(void)state;
	loopback_env(2);
	setenv("MRC_EV_BASE", "53100", 1);
	setenv("MRC_EVS", "4", 1);
	return 0;
}

#define DEVICE_TEST(function, name) TEST_WITH(device_env, NULL, function, name)

static struct mh_device *device_open(void *owner)
{
	struct mh_device *dev = NULL;

	assert_i_eq(mh_device_open(0, owner, &dev), 0);
	return dev;
}

DEVICE_TEST(mh_device_probe, describes_without_opening)
{
	struct mh_device_attr attr;

	assert_i_eq(mh_device_probe(0, &attr), 0);
	assert_string_equal(attr.name, "mrc0");
	assert_u_eq(attr.planes, 2);
	assert_u_eq(attr.evs, 8);
	assert_u_eq(attr.max_mtu, 4096);
	assert_u_eq(attr.gid.b[10], 0xFF);
	assert_u_eq(attr.gid.b[14], loopback_ip(0, 1) >> 8 & 255);
	assert_true(attr.guid != 0);
	assert_null(mh_process()->of[0].nic);
}

DEVICE_TEST(mh_device_probe, wrong_environment_is_EINVAL)
{
	struct mh_device_attr attr;
	struct mh_device *dev;

	setenv("MRC_EVS", "none", 1);
	assert_i_eq(mh_device_probe(0, &attr), EINVAL);
	assert_i_eq(mh_device_open(0, NULL, &dev), EINVAL);
}

DEVICE_TEST(mh_device_open, openings_share_the_nic)
{
	int one = 1, two = 2;
	struct mh_device *a = device_open(&one), *b = device_open(&two);
	struct mh_plane_attr pa, pb;

	assert_ptr_equal(a->nic, b->nic);
	assert_true(mh_async_fd(a) != mh_async_fd(b));
	assert_i_eq(mh_device_query_plane(a, 1, &pa), 0);
	assert_i_eq(mh_device_query_plane(b, 1, &pb), 0);
	assert_u_eq(pa.udp_port, pb.udp_port);
	assert_u_eq(pa.addr.b[14], loopback_ip(1, 1) >> 8 & 255);
	assert_true(pa.up);
	assert_i_eq(mh_device_query_plane(b, 2, &pb), EINVAL);
	assert_i_eq(mh_device_close(a), 0);
	assert_true(mh_device_is_up(b));
	assert_i_eq(mh_device_close(b), 0);
	assert_null(mh_process()->of[0].nic);
}

/* The first may open what stays for the process. */
DEVICE_TEST(mh_device_open, leaves_nothing_behind_when_closed)
{
	uint32_t before = 0;

	for (int i = 0; i < 5; i++) {
		struct mh_device *dev = device_open(NULL);

		assert_u_eq(dev->nic->ports.slot, 0);
		assert_i_eq(mh_device_close(dev), 0);
		if (i == 0)
			before = test_open_fds();
		assert_u_eq(test_open_fds(), before);
	}
}

DEVICE_TEST(mh_device_open, taken_address_is_named)
{
	struct mh_device *dev;

	setenv("MRC_PORTS", "192.0.2.7", 1);
	assert_i_eq(mh_device_open(0, NULL, &dev), EADDRNOTAVAIL);
	device_env(NULL);
	assert_i_eq(mh_device_close(device_open(NULL)), 0);
}

/* Whichever descriptor is one too many, the opening says so and leaves none behind. */
DEVICE_TEST(mh_device_open, descriptors_exhausted)
{
	uint32_t open_fds = test_open_fds();
	struct rlimit usual, tight;
	struct mh_device *dev;
	int err = EMFILE;

	assert_i_eq(getrlimit(RLIMIT_NOFILE, &usual), 0);
	tight = usual;
	for (tight.rlim_cur = (rlim_t)test_next_fd(); err == EMFILE; tight.rlim_cur++) {
		assert_i_eq(setrlimit(RLIMIT_NOFILE, &tight), 0);
		err = mh_device_open(0, NULL, &dev);
		assert_i_eq(setrlimit(RLIMIT_NOFILE, &usual), 0);
		if (err)
			assert_u_eq(test_open_fds(), open_fds);
	}
	assert_i_eq(err, 0);
	assert_i_eq(mh_device_close(dev), 0);
	assert_u_eq(test_open_fds(), open_fds);
}

DEVICE_TEST(mh_device_open, unusable_statistics_folder)
{
	struct mh_device *dev;

	setenv("MRC_STATS_DIR", "/nowhere/at/all", 1);
	assert_i_eq(mh_device_open(0, NULL, &dev), ENOENT);
	unsetenv("MRC_STATS_DIR");
	assert_i_eq(mh_device_close(device_open(NULL)), 0);
}

DEVICE_TEST(mh_device_find, by_owner_only)
{
	int one = 1, two = 2;
	struct mh_device *a;

	assert_null(mh_device_find(&one));
	a = device_open(&one);
	assert_ptr_equal(mh_device_find(&one), a);
	assert_null(mh_device_find(&two));
	assert_null(mh_device_find((void *)(uintptr_t)1));
	assert_i_eq(mh_device_close(a), 0);
	assert_null(mh_device_find(&one));
}

DEVICE_TEST(mh_pd_find, in_all_openings)
{
	int one = 1, two = 2;
	struct mh_device *a = device_open(&one), *b = device_open(&two);
	struct mh_pd *pa, *pb;

	assert_i_eq(mh_pd_create(a, &one, &pa), 0);
	assert_i_eq(mh_pd_create(b, &two, &pb), 0);
	assert_ptr_equal(mh_pd_find(&one), pa);
	assert_ptr_equal(mh_pd_find(&two), pb);
	assert_i_eq(mh_pd_destroy(pa), 0);
	assert_null(mh_pd_find(&one));
	assert_i_eq(mh_pd_destroy(pb), 0);
	assert_i_eq(mh_device_close(a), 0);
	assert_i_eq(mh_device_close(b), 0);
}

DEVICE_TEST(mh_device_close, refuses_while_objects_are_there)
{
	struct mh_device *dev = device_open(NULL);
	struct mh_channel *channel;
	struct mh_pd *pd;
	struct mh_cq *cq;

	assert_i_eq(mh_pd_create(dev, NULL, &pd), 0);
	assert_i_eq(mh_device_close(dev), EBUSY);
	assert_i_eq(mh_pd_destroy(pd), 0);
	assert_i_eq(mh_channel_create(dev, &channel), 0);
	assert_i_eq(mh_device_close(dev), EBUSY);
	assert_i_eq(mh_cq_create(dev, 1, channel, NULL, &cq), 0);
	assert_i_eq(mh_channel_destroy(channel), EBUSY);
	assert_i_eq(mh_cq_destroy(cq), 0);
	assert_i_eq(mh_channel_destroy(channel), 0);
	assert_i_eq(mh_device_close(dev), 0);
}

DEVICE_TEST(mh_async_get, none_on_a_nonblocking_descriptor)
{
	struct mh_device *dev = device_open(NULL);
	struct mh_async_event event;

	fcntl(mh_async_fd(dev), F_SETFL, O_NONBLOCK);
	assert_i_eq(mh_async_get(dev, &event), EAGAIN);
	assert_i_eq(mh_device_close(dev), 0);
}

/* Somebody closes the sockets under us: the device goes down, says so, and nothing crashes. */
DEVICE_TEST(mh_async_get, all_planes_gone_is_port_down)
{
	int owner = 0;
	struct mh_device *dev = device_open(&owner);
	struct pollfd pfd = {mh_async_fd(dev), POLLIN, 0};
	struct mh_async_event event;
	int null = open("/dev/null", O_RDWR);

	for (uint32_t i = 0; i < 2; i++)
		assert_true(dup2(null, dev->nic->ports.port[i].io->status->fd) >= 0);
	for (int i = 0; i < 2000 && poll(&pfd, 1, 1) == 0; i++)
		mh_progress_poll(dev->nic, true);
	assert_i_eq(mh_async_get(dev, &event), 0);
	assert_u_eq(event.type, MH_ASYNC_PORT_DOWN);
	assert_ptr_equal(event.owner, &owner);
	mh_async_ack(dev, &event);
	assert_false(mh_device_is_up(dev));
	assert_i_eq(mh_device_close(dev), 0);
	close(null);
}

DEVICE_TEST(mh_counters_read, names_are_unique_and_counted)
{
	struct mh_device *dev = device_open(NULL);
	struct mh_counter all[MH_COUNTERS_MAX];
	uint32_t n = nic_counters(dev, all);

	assert_u_between(n, 30, 128);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_string_not_equal(all[i].name, all[k].name);
	assert_i_eq(mh_device_close(dev), 0);
}
