/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_node_store.c - a device whose state comes from a store, as it is seen on the wire:
 * src/host/node/node_store.c. This process is the writer as well.
 */
#include "unit/nic_evs_fixture.h"
#include "unit/store_fixture.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "host/node/node.h"
#include "host/state/shards.h"
#include "stats/stats_reader.h"

/* As node_store.c and node_share.c have them. */
#define LOOK_NS UINT64_C(1000000000)
#define ANSWER_S 5

/* ---- what takes seconds, at once ---- */

#define SOON_NS UINT64_C(1000000)

static atomic_bool looks_soon;

__typeof__(mh_node_store_due) __real_mh_node_store_due, __wrap_mh_node_store_due;
uint64_t __wrap_mh_node_store_due(const struct mh_nic *nic)
{
	uint64_t due = __real_mh_node_store_due(nic);

	return atomic_load(&looks_soon) && due != UINT64_MAX ? due - LOOK_NS + SOON_NS : due;
}

/* Nothing tells of what has changed: the device is to look by itself, which it does each second. */
static void look_soon(struct nic_fixture *fixture)
{
	atomic_store(&looks_soon, true);
	mh_nic_kick(fixture->dev->nic);
}

/* Of a writer that should answer the program waits for seconds; here for a moment. */
__typeof__(setsockopt) __real_setsockopt, __wrap_setsockopt;
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	static const struct timeval moment = {.tv_usec = 1000};
	const struct timeval *patience = value;

	if (level != SOL_SOCKET || (name != SO_RCVTIMEO && name != SO_SNDTIMEO))
		return __real_setsockopt(fd, level, name, value, len);
	assert_true(patience->tv_sec == ANSWER_S && patience->tv_usec == 0);
	return __real_setsockopt(fd, level, name, &moment, sizeof(moment));
}

/* ---- a device and a store ---- */

static struct mn_state wanted;

static void deny(uint32_t value, uint8_t port)
{
	struct mn_ev *ev = &wanted.evs[wanted.n_evs++];

	*ev = (struct mn_ev){.port = port, .denied = 1};
	memcpy(ev->val, &value, sizeof(value));
	wanted.ev[MN_OWN_PROFILE].n_evs = wanted.n_evs;
	for (uint32_t id = 1; id < MN_EV_PROFILES; id++)
		wanted.ev[id].first = wanted.n_evs;
}

/* Each packet on an EV of its own; the EV of the socket 53401 on port 2 is denied before. */
static int setup(void **state)
{
	atomic_store(&looks_soon, false);
	if (store_setup(state))
		return -1;
	mn_state_init(&wanted);
	deny(FIXTURE_EV_BASE + 1, 2);
	commit(&wanted);
	setenv("MRC_NODE_DIR", store_dir, 1);
	setenv("MRC_STATS_DIR", store_dir, 1);
	setenv("MRC_RUN", "1", 1);
	return fixture_setup(state) || fixture_connect(*state);
}

/* The same, and port 1 is down before the device is. */
static int setup_port_down(void **state)
{
	if (store_setup(state))
		return -1;
	mn_state_init(&wanted);
	wanted.port_admin[0] = MN_PORT_DOWN;
	commit(&wanted);
	setenv("MRC_NODE_DIR", store_dir, 1);
	setenv("MRC_STATS_DIR", store_dir, 1);
	setenv("MRC_RUN", "1", 1);
	return fixture_setup(state) || fixture_connect(*state);
}

static int teardown(void **state)
{
	int err = fixture_teardown(state);

	unsetenv("MRC_NODE_DIR");
	unsetenv("MRC_STATS_DIR");
	return store_teardown(state) || err;
}

#define STORE_CASE(name) TEST_WITH(setup, teardown, mh_node_store, name)

STORE_CASE(is_in_force_before_the_first_packet)
{
	struct nic_fixture *fixture = *state;
	struct seen seen = send_some(fixture);

	assert_u_eq(seen.on[1][1], 0);
	assert_true(seen.on[0][1] > 0 && seen.on[1][0] > 0);
	assert_u_eq(fixture_counter(fixture, "node_states"), 1);
	assert_u_eq(fixture_counter(fixture, "node_refused"), 0);
}

/* What another process reads of this one. */
static const struct mrc_stats_node *told(void)
{
	static struct mrc_stats_segment segment;
	char path[80];
	int fd;

	snprintf(path, sizeof(path), "%s/%ld" MRC_STATS_SUFFIX, store_dir, (long)getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_i_eq(stats_segment_load(fd, &segment), 0);
	close(fd);
	return &segment.node;
}

STORE_CASE(is_told_by_the_statistics)
{
	struct nic_fixture *fixture = *state;

	assert_string_equal(told()->store, store_file);
	assert_u_eq(told()->generation, 1);
	assert_string_equal(told()->writer, BY);
	assert_u_eq(told()->writer_pid, (uint64_t)getpid());
	assert_i_eq(chmod(store_file, 0666), 0);
	look_soon(fixture);
	fixture_wait(fixture, "node_refused", 1);
	assert_non_null(strstr(told()->refused, "nobody else can write"));
	assert_u_eq(told()->generation, 1);
	commit(&wanted);
	fixture_wait(fixture, "node_states", 2);
	assert_string_equal(told()->refused, "");
	/* The writer did not believe that file either, but counts on. */
	assert_u_eq(told()->generation, 2);
}

/* The state that is in force lies there again. */
STORE_CASE(forgets_a_reason_that_holds_no_more)
{
	struct nic_fixture *fixture = *state;

	assert_i_eq(chmod(store_file, 0666), 0);
	look_soon(fixture);
	fixture_wait(fixture, "node_refused", 1);
	assert_i_eq(chmod(store_file, 0644), 0);
	for (int i = 0; i < 60000 && told()->refused[0]; i++)
		usleep(1000);
	assert_string_equal(told()->refused, "");
	assert_u_eq(told()->generation, 1);
}

STORE_CASE(is_followed_by_a_qp_that_runs)
{
	struct nic_fixture *fixture = *state;
	struct seen seen;

	deny(FIXTURE_EV_BASE, 1);
	commit(&wanted);
	fixture_wait(fixture, "node_states", 2);
	seen = send_some(fixture);
	assert_u_eq(seen.on[1][1] + seen.on[0][0], 0);
	assert_true(seen.on[0][1] > 0 && seen.on[1][0] > 0);
	mn_state_init(&wanted);
	commit(&wanted);
	fixture_wait(fixture, "node_states", 3);
	seen = send_some(fixture);
	assert_true(seen.on[1][1] > 0 && seen.on[0][0] > 0);
}

STORE_CASE(leaves_a_port)
{
	struct nic_fixture *fixture = *state;
	struct seen seen;

	wanted.port_admin[0] = MN_PORT_SUSPENDED;
	commit(&wanted);
	fixture_wait(fixture, "node_states", 2);
	seen = send_some(fixture);
	for (uint32_t i = 0; i < FIXTURE_EVS; i++)
		assert_u_eq(seen.on[0][i], 0);
}

/* Nothing leaves by it, and the peer is told with the first QP. REQ(ctl.port-admin) */
TEST_WITH(setup_port_down, teardown, mh_node_store_open, of_a_port_that_is_down)
{
	struct nic_fixture *fixture = *state;
	struct mio_rx frame;
	uint32_t told_by = FIXTURE_PLANES;
	struct seen seen;

	while (told_by == FIXTURE_PLANES) {
		uint32_t plane = fixture_receive(fixture, &frame);

		assert_true(plane < FIXTURE_PLANES);
		if (frame.bytes[0] == MW_EP_REQUEST)
			told_by = plane;
	}
	assert_u_eq(told_by, 1);
	seen = send_some(fixture);
	for (uint32_t i = 0; i < FIXTURE_EVS; i++)
		assert_u_eq(seen.on[0][i], 0);
}

static void expect_denied_as_before(struct nic_fixture *fixture)
{
	struct seen seen = send_some(fixture);

	assert_u_eq(seen.on[1][1], 0);
	assert_true(seen.on[1][0] > 0);
}

/* ---- changes of this process, which is the store's owner and has no mrcd ---- */

static uint32_t calls;

static int suspend_port(struct mn_state *s, const struct mn_device *d, void *ctx)
{
	const uint32_t *port = ctx;

	calls++;
	return mn_port_modify(s, d, *port, MN_PORT_SUSPENDED);
}

static int suspend_beside_another(struct mn_state *s, const struct mn_device *d, void *ctx)
{
	if (calls == 0) {
		deny(FIXTURE_EV_BASE, 1);
		commit(&wanted);
	}
	return suspend_port(s, d, ctx);
}

static void expect_in_store(uint64_t generation, enum mn_port_admin admin, uint32_t denied)
{
	static struct mn_state found;
	struct store_info info;

	assert_i_eq(store_read(store_dir, DEVICE, &found, &info, &error), 0);
	assert_u_eq(info.generation, generation);
	assert_u_eq(found.port_admin[1], admin);
	assert_u_eq(found.n_evs, denied);
}

/* It is in force for this process when the call returns. */
STORE_CASE(takes_what_this_process_decides)
{
	struct nic_fixture *fixture = *state;
	uint32_t port = 2;
	struct seen seen;

	calls = 0;
	assert_i_eq(mh_node_change(fixture->dev, suspend_port, &port, NULL), 0);
	assert_u_eq(calls, 1);
	expect_in_store(2, MN_PORT_SUSPENDED, 1);
	assert_u_eq(told()->generation, 2);
	seen = send_some(fixture);
	for (uint32_t i = 0; i < FIXTURE_EVS; i++)
		assert_u_eq(seen.on[1][i], 0);
	/* Nothing new is not written. */
	assert_i_eq(mh_node_change(fixture->dev, suspend_port, &port, NULL), 0);
	port = 9;
	assert_i_eq(mh_node_change(fixture->dev, suspend_port, &port, NULL), EINVAL);
	expect_in_store(2, MN_PORT_SUSPENDED, 1);
}

STORE_CASE(keeps_what_others_decide_meanwhile)
{
	struct nic_fixture *fixture = *state;
	uint32_t port = 2;

	calls = 0;
	assert_i_eq(mh_node_change(fixture->dev, suspend_beside_another, &port, NULL), 0);
	assert_u_eq(calls, 2);
	expect_in_store(3, MN_PORT_SUSPENDED, 2);
}

STORE_CASE(cannot_be_changed_while_it_is_damaged)
{
	struct nic_fixture *fixture = *state;
	uint32_t port = 2;

	assert_i_eq(truncate(store_file, 1000), 0);
	assert_i_eq(mh_node_change(fixture->dev, suspend_port, &port, NULL), EIO);
	expect_denied_as_before(fixture);
	/* Without a store changes are this process's own. */
	assert_i_eq(unlink(store_file), 0);
	assert_i_eq(mh_node_change(fixture->dev, suspend_port, &port, NULL), 0);
	assert_i_eq(store_read(store_dir, DEVICE, &wanted, &(struct store_info){0}, &error),
		    ENOENT);
}

/* A writer that has as many to answer as may wait, and answers nobody. */
STORE_CASE(waits_once_for_a_writer_that_hangs)
{
	struct nic_fixture *fixture = *state;
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	static struct mn_state found;
	struct store_writer writer;
	int door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int waits = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint32_t port = 1;

	assert_i_eq(store_writer_open(&writer, store_dir, DEVICE, BY, &found, &lost, &error), 0);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/" STORE_SOCKET_NAME, store_dir);
	assert_i_eq(bind(door, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_i_eq(listen(door, 0), 0);
	assert_i_eq(connect(waits, (struct sockaddr *)&at, sizeof(at)), 0);
	calls = 0;
	assert_i_eq(mh_node_change(fixture->dev, suspend_port, &port, NULL), ETIMEDOUT);
	assert_u_eq(calls, 1);
	close(waits);
	close(door);
	store_writer_close(&writer);
}

/* The engine has the last word: the state is of a device with more EVs. REQ(ctl.ev-denied) */
STORE_CASE(cannot_take_the_last_ev)
{
	struct nic_fixture *fixture = *state;

	mn_state_init(&wanted);
	for (uint32_t i = 0; i < FIXTURE_PLANES * FIXTURE_EVS; i++)
		deny(FIXTURE_EV_BASE + i / FIXTURE_PLANES, (uint8_t)(i % FIXTURE_PLANES + 1));
	commit(&wanted);
	fixture_wait(fixture, "node_states", 2);
	assert_u_eq(send_some(fixture).all, 16);
}

/* A store that cannot be believed is said once and counted, and nothing changes. */
STORE_CASE(goes_on_without_what_is_damaged)
{
	struct nic_fixture *fixture = *state;

	deny(FIXTURE_EV_BASE, 1);
	commit(&wanted);
	fixture_wait(fixture, "node_states", 2);
	assert_i_eq(truncate(store_file, 1000), 0);
	commit(&wanted); /* replaces it, and tells */
	fixture_wait(fixture, "node_states", 3);
	assert_i_eq(truncate(store_file, 1000), 0);
	look_soon(fixture);
	fixture_wait(fixture, "node_refused", 1);
	expect_denied_as_before(fixture);
	assert_i_eq(unlink(store_file), 0);
	expect_denied_as_before(fixture);
	commit(&wanted);
	fixture_wait(fixture, "node_states", 4);
}

/* A profile that asks for a port which this device has not cannot be used here; the rest counts. */
STORE_CASE(of_a_device_with_more_ports)
{
	struct nic_fixture *fixture = *state;
	struct rd_qp_attr attr;

	wanted.fmt[1] = (struct mn_fmt_profile){
		.state = MN_ONLINE, .format = MN_FORMAT_UDP, .n_fields = 1, .width = {16}};
	wanted.ev[1] = (struct mn_ev_profile){.state = MN_ONLINE,
					      .mode = MN_MODE_EXPLICIT,
					      .fmt = 1,
					      .count = 1,
					      .first = wanted.n_evs,
					      .n_evs = 1};
	wanted.evs[wanted.n_evs++] = (struct mn_ev){.val = {1}, .port = FIXTURE_PLANES + 1};
	for (uint32_t id = 2; id < MN_EV_PROFILES; id++)
		wanted.ev[id].first = wanted.n_evs;
	commit(&wanted);
	fixture_wait(fixture, "node_states", 2);
	expect_denied_as_before(fixture);
	mh_qp_attr_default(&attr);
	attr.state = RD_QPS_RESET;
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE), 0);
	attr.state = RD_QPS_INIT;
	attr.ev_profile = 1;
	assert_i_eq(mh_qp_modify(fixture->qp, &attr, RD_QP_STATE | RD_QP_EV_PROFILE), EINVAL);
}
