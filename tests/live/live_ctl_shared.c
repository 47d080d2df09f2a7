/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_ctl_shared.c - a controller and an application in processes of their own, of different users
 * where there are such, with mrcd between them: the walks through explicit and generated EVs,
 * congestion control and ports of live_ctl_profiles.c. The argument is mrcd's program.
 *
 * The controller is the test itself.
 */
#include "live/live_ctl_app.h"
#include "live/live_daemon.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FMT 3
#define PROFILE 2
#define EVS 8
#define PATIENCE_MS LIVE_PATIENCE_MS

static char dir[] = "/tmp/mrc-shared-XXXXXX";
static struct fixture *r; /* the controller's, without QPs at work */
static pid_t daemon_pid;

static void start_daemon(void)
{
	daemon_pid = live_daemon_start(test_arg(0), dir, "ports = 2\nevs = 8\n");
}

static void stop_daemon(int signal)
{
	live_daemon_stop(daemon_pid, signal);
	daemon_pid = 0;
}

static int setup(void **state)
{
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	if (!mkdtemp(dir) || chmod(dir, 0755))
		return -1;
	/* Users share no UDP port: each takes a range of its own unless one is named. */
	unsetenv("MRC_EV_BASE");
	setenv("MRC_NODE_DIR", dir, 1);
	setenv("MRC_LOG", "error", 1);
	setenv("MRC_PORTS", "127.0.0.1,127.0.1.1", 1);
	setenv("MRC_EVS", "8", 1);
	start_daemon();
	ctl_app_start(-1);
	if (fixture_setup(state))
		return -1;
	r = *state;
	return 0;
}

static int teardown(void **state)
{
	char command[100];
	int bad = fixture_teardown(state);

	bad |= !ctl_app_stop();
	if (daemon_pid)
		stop_daemon(SIGTERM);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	unsetenv("MRC_NODE_DIR");
	return system(command) || bad;
}

#define SHARED_TEST(name) TEST_WITH(setup, teardown, mrc_ctl_shared, name)

/* ---- the controller ---- */

static int move_profile(enum mrc_ctl_profile_state to)
{
	struct mrc_ctl_ev_profile_attr attr = {.profile_state = to};

	return mrc_ctl_modify_ev_profile(r->ctx, PROFILE, &attr, MRC_CTL_EV_PROFILE_STATE);
}

static void make_profile(enum mrc_ctl_ev_mode mode)
{
	struct mrc_ctl_ev_profile_attr attr = {.profile_state = MRC_CTL_PROFILE_OFFLINE,
					       .ev_mode = mode,
					       .ev_fmt_profile_id = FMT,
					       .ev_count = EVS,
					       .ev_min_active = 2};

	ctl_make_udp_format(r, FMT);
	assert_int_equal(mrc_ctl_modify_ev_profile(
				 r->ctx, PROFILE, &attr,
				 MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE |
					 MRC_CTL_EV_PROFILE_FMT_ID | MRC_CTL_EV_PROFILE_COUNT |
					 MRC_CTL_EV_PROFILE_MIN_ACTIVE),
			 0);
}

/* EVs of numbers that are the host's, by both ports in turn. */
static struct mrc_ctl_ev ev_of(uint32_t i)
{
	struct mrc_ctl_ev ev = {.port = (uint8_t)(i % 2 + 1)};
	uint32_t value = 49152 + i / 2;

	memcpy(ev.val, &value, sizeof(value));
	return ev;
}

static void make_explicit(void)
{
	struct mrc_ctl_ev_op_entry entries[EVS] = {0};
	int n = EVS;

	make_profile(MRC_CTL_EV_MODE_EXP);
	for (uint32_t i = 0; i < EVS; i++)
		entries[i].ev_new = ev_of(i);
	assert_int_equal(ctl_ev_op(r, PROFILE, MRC_CTL_EV_OP_REPLACE_EV, entries, &n), 0);
	assert_int_equal(n, EVS);
	assert_int_equal(move_profile(MRC_CTL_PROFILE_ONLINE), 0);
}

/* What the controller has done in several calls the application sees in as many steps. */
static void connect_to_explicit(void)
{
	ctl_app_expect(CTL_APP_FIRST_EV, PROFILE, 49152);
	ctl_app_expect(CTL_APP_EV_STATE, PROFILE, MRC_CTL_PROFILE_ONLINE);
	assert_u_eq(ctl_app_tell(CTL_APP_CONNECT, PROFILE, 0), 0);
	assert_u_eq(ctl_app_tell(CTL_APP_WRITE, 0, 0), IBV_WC_SUCCESS);
}

/* Made by one process, used by another, and changed under its QPs.
 * REQ(ctl.node-state) REQ(ctl.ev-ops) REQ(ctl.ev-denied) */
SHARED_TEST(explicit_evs)
{
	struct mrc_ctl_ev_op_entry entries[EVS] = {0};
	int n = EVS - 2;

	assert_u_eq(ctl_app_tell(CTL_APP_CONNECT, PROFILE, 0), EINVAL);
	make_explicit();
	connect_to_explicit();
	for (uint32_t i = 0; i < EVS; i++)
		entries[i] =
			(struct mrc_ctl_ev_op_entry){.ev = ev_of(i), .state = MRC_CTL_EV_DENIED};
	assert_int_equal(ctl_ev_op(r, PROFILE, MRC_CTL_EV_OP_MODIFY_EV_STATE, entries, &n), 0);
	ctl_app_expect(CTL_APP_DENIED, PROFILE, EVS - 2);
	assert_u_eq(ctl_app_tell(CTL_APP_WRITE, 0, 0), IBV_WC_SUCCESS);
	n = EVS;
	assert_minus_one(ctl_ev_op(r, PROFILE, MRC_CTL_EV_OP_MODIFY_EV_STATE, entries, &n), EBUSY);
	assert_int_equal(n, EVS - 2);
	entries[0].ev_new = ev_of(0);
	entries[0].ev_new.val[0] ^= 7;
	entries[0].state = MRC_CTL_EV_GOOD;
	n = 1;
	assert_int_equal(ctl_ev_op(r, PROFILE, MRC_CTL_EV_OP_REPLACE_EV, entries, &n), 0);
	ctl_app_expect(CTL_APP_FIRST_EV, PROFILE, 49152 ^ 7);
	ctl_app_expect(CTL_APP_DENIED, PROFILE, EVS - 3);
	assert_u_eq(ctl_app_tell(CTL_APP_WRITE, 0, 0), IBV_WC_SUCCESS);
}

static int move_cc(enum mrc_ctl_profile_state to)
{
	struct mrc_ctl_cc_profile_attr attr = {.profile_state = to};

	return mrc_ctl_modify_cc_profile(r->ctx, PROFILE, &attr, MRC_CTL_CC_PROFILE_STATE);
}

/* What another process uses mrcd sees in its statistics, which come 20 times a second. */
static void expect_offline(int (*move)(enum mrc_ctl_profile_state to), int wanted)
{
	int err = -1;

	for (int ms = 0; ms < PATIENCE_MS && err != wanted; ms++) {
		if (ms)
			usleep(1000);
		err = move(MRC_CTL_PROFILE_OFFLINE) ? errno : 0;
		if (!err && wanted)
			assert_int_equal(move(MRC_CTL_PROFILE_ONLINE), 0);
	}
	assert_int_equal(err, wanted);
}

/* QPs of whichever process keep a profile ONLINE. REQ(ctl.profile-states) REQ(ctl.cc-profile) */
SHARED_TEST(profiles_that_others_use)
{
	struct mrc_ctl_cc_profile_attr attr = {.profile_state = MRC_CTL_PROFILE_OFFLINE};

	make_explicit();
	assert_int_equal(
		mrc_ctl_modify_cc_profile(r->ctx, PROFILE, &attr,
					  MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_ALGORITHM),
		0);
	assert_int_equal(move_cc(MRC_CTL_PROFILE_ONLINE), 0);
	ctl_app_expect(CTL_APP_FIRST_EV, PROFILE, 49152);
	ctl_app_expect(CTL_APP_CC_STATE, PROFILE, MRC_CTL_PROFILE_ONLINE);
	assert_u_eq(ctl_app_tell(CTL_APP_CONNECT, PROFILE, PROFILE), 0);
	expect_offline(move_profile, EBUSY);
	expect_offline(move_cc, EBUSY);
	assert_u_eq(ctl_app_tell(CTL_APP_CONNECT, 0, 0), 0);
	expect_offline(move_profile, 0);
	expect_offline(move_cc, 0);
}

/* REQ(ctl.ev-modes) */
SHARED_TEST(generated_evs)
{
	struct mrc_ctl_ev_field field = {16, 0, 0xC001, 0xC004, 0xFFFF};
	struct mrc_ctl_ev_profile_attr attr = {
		.profile_state = MRC_CTL_PROFILE_ONLINE,
		.ev_fields_op = {.op = MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS,
				 .fields = &field,
				 .field_count = 1}};

	make_profile(MRC_CTL_EV_MODE_GEN);
	assert_int_equal(mrc_ctl_modify_ev_profile(r->ctx, PROFILE, &attr,
						   MRC_CTL_EV_PROFILE_STATE |
							   MRC_CTL_EV_PROFILE_EV_FIELDS_OP),
			 0);
	ctl_app_expect(CTL_APP_FIRST_EV, PROFILE,
		       0x01C0); /* left-aligned bits, as a number of this machine */
	assert_u_eq(ctl_app_tell(CTL_APP_CONNECT, PROFILE, 0), 0);
	assert_u_eq(ctl_app_tell(CTL_APP_WRITE, 0, 0), IBV_WC_SUCCESS);
}

/* REQ(ctl.cc-profile) */
SHARED_TEST(congestion_control)
{
	struct mrc_ctl_cc_nscc_cfg cfg = {.base_rtt = 20000, .gamma = 0.8f, .max_cwnd = 1 << 20};
	struct mrc_ctl_cc_profile_attr attr = {.profile_state = MRC_CTL_PROFILE_OFFLINE,
					       .algorithm = "uet-1.0-nscc",
					       .cc_config = &cfg};

#define MODIFY(mask) mrc_ctl_modify_cc_profile(r->ctx, 4, &attr, (mask))
	assert_int_equal(MODIFY(MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_ALGORITHM), 0);
	attr.profile_state = MRC_CTL_PROFILE_ONLINE;
	assert_int_equal(MODIFY(MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_CONFIG), 0);
	ctl_app_expect(CTL_APP_MAX_CWND, 4, 1 << 20);
	assert_u_eq(ctl_app_tell(CTL_APP_CONNECT, 0, 4), 0);
	assert_u_eq(ctl_app_tell(CTL_APP_WRITE, 0, 0), IBV_WC_SUCCESS);
	cfg.max_cwnd = 1 << 21;
	assert_int_equal(MODIFY(MRC_CTL_CC_PROFILE_CONFIG), 0);
	ctl_app_expect(CTL_APP_MAX_CWND, 4, 1 << 21);
	assert_u_eq(ctl_app_tell(CTL_APP_WRITE, 0, 0), IBV_WC_SUCCESS);
#undef MODIFY
}

/* REQ(ctl.port-admin) REQ(ep.port.admin) */
SHARED_TEST(ports)
{
	assert_int_equal(ctl_set_port(r, 2, false), 0);
	ctl_app_expect(CTL_APP_PORT_DOWN, 2, true);
	assert_u_eq(ctl_app_tell(CTL_APP_CONNECT, 0, 0), 0);
	assert_u_eq(ctl_app_tell(CTL_APP_WRITE, 0, 0), IBV_WC_SUCCESS);
	assert_int_equal(ctl_set_port(r, 2, true), 0);
	ctl_app_expect(CTL_APP_PORT_DOWN, 2, false);
	assert_u_eq(ctl_app_tell(CTL_APP_WRITE, 0, 0), IBV_WC_SUCCESS);
}

/* Somebody else asks mrcd; returns as soon as what came of it lies in the store. */
static void order_daemon(const char *line)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat was, is;
	char store[64];
	time_t until = time(NULL) + PATIENCE_MS / 1000;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/mrcd.sock", dir);
	snprintf(store, sizeof(store), "%s/mrc0.state", dir);
	assert_int_equal(stat(store, &was), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(send(fd, line, strlen(line), MSG_NOSIGNAL), strlen(line));
	do
		assert_int_equal(stat(store, &is), 0);
	while (is.st_ino == was.st_ino && time(NULL) < until);
	assert_int_not_equal(is.st_ino, was.st_ino);
	close(fd);
}

/*
 * Who decides what others have decided before him goes by it when the call returns, though his
 * thread may not have heard of it yet; hence so often. REQ(ctl.port-admin)
 */
SHARED_TEST(what_was_decided_before)
{
	for (int i = 0; i < 200; i++) {
		bool down = i % 2 == 0;
		struct ibv_port_attr port;

		order_daemon(down ? "{\"do\":\"port.set\",\"port\":2,\"admin\":\"down\"}\n"
				  : "{\"do\":\"port.set\",\"port\":2,\"admin\":\"enabled\"}\n");
		assert_int_equal(ctl_set_port(r, 2, !down), 0);
		assert_int_equal(ibv_query_port(r->verbs, 2, &port), 0);
		assert_int_equal(port.state == IBV_PORT_DOWN, down);
	}
}

/* Denies an EV of the application and gives it back; whether the channel says so in a second. */
static bool hears_of(struct mrc_ctl_ev_op_entry *entry)
{
	struct pollfd raised = {.events = POLLIN};
	int n = 1;

	assert_int_equal(mrc_get_comp_channel_fd(r->channel, &raised.fd), 0);
	entry->state = MRC_CTL_EV_DENIED;
	assert_int_equal(ctl_ev_op(r, PROFILE, MRC_CTL_EV_OP_MODIFY_EV_STATE, entry, &n), 0);
	ctl_app_expect(CTL_APP_DENIED, PROFILE, 1);
	entry->state = MRC_CTL_EV_GOOD;
	assert_int_equal(ctl_ev_op(r, PROFILE, MRC_CTL_EV_OP_MODIFY_EV_STATE, entry, &n), 0);
	ctl_app_expect(CTL_APP_DENIED, PROFILE, 0);
	return poll(&raised, 1, 1000) == 1;
}

/*
 * What happens before mrcd has found the application, or the controller mrcd, nobody hears: it
 * happens until it is heard, and two may be heard together. REQ(ctl.event-queue)
 */
SHARED_TEST(ev_events)
{
	struct mrc_ctl_ev_profile_attr attr = {.ev_event_mask = (int)MRC_CTL_EV_GOOD};
	struct mrc_ctl_ev_op_entry entry = {.ev = ev_of(3)};
	struct mrc_cq *cq = mrc_ctl_create_ev_event_cq(r->ctx, 128, r, r->channel, 0), *raised;
	struct mrc_ctl_ev_event event[4];
	time_t until = time(NULL) + PATIENCE_MS / 1000;
	void *user;
	int n;

	assert_non_null(cq);
	make_explicit();
	assert_int_equal(
		mrc_ctl_modify_ev_profile(r->ctx, PROFILE, &attr, MRC_CTL_EV_PROFILE_EVENT_MASK),
		0);
	connect_to_explicit();
	assert_int_equal(mrc_req_notify_cq(cq, 0), 0);
	while (!hears_of(&entry))
		assert_true(time(NULL) < until);
	assert_int_equal(mrc_get_cq_event(r->channel, &raised, &user), 0);
	assert_ptr_equal(raised, cq);
	n = mrc_ctl_poll_ev_event(cq, 4, event);
	assert_true(n >= 1);
	for (int i = 0; i < n; i++) {
		assert_int_equal(event[i].profile_id, PROFILE);
		assert_memory_equal(&event[i].ev, &entry.ev, sizeof(entry.ev));
		assert_int_equal(event[i].state, MRC_CTL_EV_GOOD);
		assert_int_equal(event[i].drop_count, 0);
	}
	mrc_ack_cq_events(cq, 1);
	assert_int_equal(mrc_destroy_cq(cq), 0);
}

/* Nothing has changed for anybody then. REQ(ctl.privilege) */
SHARED_TEST(takes_rights)
{
	if (geteuid() != 0)
		test_skip("users of their own take root");
	assert_u_eq(ctl_app_tell(CTL_APP_DISABLE, 2, 0), EPERM);
	assert_u_eq(ctl_app_tell(CTL_APP_DENY, 0, 0), UINT64_C(100) * EPERM);
	assert_u_eq(ctl_app_tell(CTL_APP_PORT_DOWN, 2, 0), false);
	assert_u_eq(ctl_app_tell(CTL_APP_DENIED, 0, 0), 0);
	/* Without mrcd the store is its owner's alone. */
	stop_daemon(SIGKILL);
	assert_u_eq(ctl_app_tell(CTL_APP_DISABLE, 2, 0), EPERM);
	assert_int_equal(ctl_set_port(r, 2, false), 0);
	ctl_app_expect(CTL_APP_PORT_DOWN, 2, true);
	start_daemon();
	assert_int_equal(ctl_set_port(r, 1, false), 0);
	ctl_app_expect(CTL_APP_PORT_DOWN, 1, true);
	assert_u_eq(ctl_app_tell(CTL_APP_PORT_DOWN, 2, 0), true);
}
