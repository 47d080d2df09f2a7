/* SPDX-License-Identifier: BSD-2-Clause */
/* live_ctl_app.c - see live_ctl_app.h. */
#include "live/live_ctl_app.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/live_daemon.h"

#define NOBODY 65534u

struct order {
	int command;
	uint64_t a, b;
};

static pid_t app;
static int app_fd = -1;
static struct fixture *app_r; /* in the application alone */

int ctl_ev_op(struct fixture *r, uint64_t profile, enum mrc_ctl_ev_op op,
	      struct mrc_ctl_ev_op_entry *entries, int *n)
{
	struct mrc_ctl_ev_profile_attr attr = {
		.ev_op = {.op = op, .entries = entries, .entry_count = *n}};
	bool query = op == MRC_CTL_EV_OP_QUERY_EV_ARRAY || op == MRC_CTL_EV_OP_QUERY_EV_STATE;
	int err = (query ? mrc_ctl_query_ev_profile : mrc_ctl_modify_ev_profile)(
		r->ctx, profile, &attr, MRC_CTL_EV_PROFILE_EV_OP);

	*n = attr.ev_op.entry_count;
	return err;
}

int ctl_set_port(struct fixture *r, uint8_t port, bool enabled)
{
	struct mrc_ctl_port_attr attr = {.port_admin_state = enabled ? MRC_CTL_PORT_ADMIN_ENABLED
								     : MRC_CTL_PORT_ADMIN_DISABLED};

	return mrc_ctl_modify_port(r->ctx, port, &attr, MRC_CTL_PORT_ADMIN_STATE);
}

static int connect_with(uint64_t ev_profile, uint64_t cc_profile)
{
	for (int i = 0; i < FIXTURE_QPS; i++) {
		struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
		struct mrc_qp_attr mrc = {.profile = {ev_profile, cc_profile}};
		int err;

		assert_int_equal(mrc_modify_qp(app_r->qp[i], &attr, IBV_QP_STATE, NULL, 0), 0);
		attr.qp_state = IBV_QPS_INIT;
		err = mrc_modify_qp(app_r->qp[i], &attr, IBV_QP_STATE, &mrc,
				    MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID);
		if (err)
			return err;
	}
	for (int i = 0; i < FIXTURE_QPS; i++)
		fixture_connect(app_r, i, &app_r->end[1 - i]);
	return 0;
}

static uint32_t max_cwnd(uint64_t profile)
{
	struct mrc_ctl_cc_nscc_cfg cfg;
	struct mrc_ctl_cc_profile_attr attr = {.cc_config = &cfg};

	assert_int_equal(
		mrc_ctl_query_cc_profile(app_r->ctx, profile, &attr, MRC_CTL_CC_PROFILE_CONFIG), 0);
	return cfg.max_cwnd;
}

static uint64_t deny_one(uint64_t profile)
{
	struct mrc_ctl_ev_op_entry entries[256];
	int n = 256, err;

	assert_int_equal(ctl_ev_op(app_r, profile, MRC_CTL_EV_OP_QUERY_EV_ARRAY, entries, &n), 0);
	entries[0].state = MRC_CTL_EV_DENIED;
	entries[0].flags = 0;
	n = 1;
	err = ctl_ev_op(app_r, profile, MRC_CTL_EV_OP_MODIFY_EV_STATE, entries, &n) ? errno : 0;
	return 100 * (uint64_t)err + (uint64_t)n;
}

static uint64_t obey(const struct order *o)
{
	struct mrc_ctl_ev_op_entry entries[256];
	struct mrc_ctl_cc_profile_attr cc;
	struct mrc_ctl_ev_profile_attr ev;
	struct ibv_port_attr port;
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;
	uint64_t denied = 0;
	uint32_t value;
	int n = 256;

	switch ((enum ctl_app_command)o->command) {
	case CTL_APP_CONNECT:
		return (uint64_t)connect_with(o->a, o->b);
	case CTL_APP_WRITE:
		wr = fixture_wr(app_r, 0, &sge, 100000);
		assert_int_equal(mrc_post_send(app_r->qp[0], &wr, &bad), 0);
		return fixture_poll(app_r, 0).status;
	case CTL_APP_DENIED:
		assert_int_equal(ctl_ev_op(app_r, o->a, MRC_CTL_EV_OP_QUERY_EV_ARRAY, entries, &n),
				 0);
		for (int i = 0; i < n; i++)
			denied += entries[i].state == MRC_CTL_EV_DENIED;
		return denied;
	case CTL_APP_FIRST_EV:
		assert_int_equal(ctl_ev_op(app_r, o->a, MRC_CTL_EV_OP_QUERY_EV_ARRAY, entries, &n),
				 0);
		memcpy(&value, entries[0].ev.val, sizeof(value));
		return value;
	case CTL_APP_EV_STATE:
		assert_int_equal(mrc_ctl_query_ev_profile(app_r->ctx, o->a, &ev,
							  MRC_CTL_EV_PROFILE_CUR_STATE),
				 0);
		return ev.cur_profile_state;
	case CTL_APP_MAX_CWND:
		return max_cwnd(o->a);
	case CTL_APP_CC_STATE:
		assert_int_equal(mrc_ctl_query_cc_profile(app_r->ctx, o->a, &cc,
							  MRC_CTL_CC_PROFILE_CUR_STATE),
				 0);
		return cc.cur_profile_state;
	case CTL_APP_PORT_DOWN:
		assert_int_equal(ibv_query_port(app_r->verbs, (uint8_t)o->a, &port), 0);
		return port.state == IBV_PORT_DOWN;
	case CTL_APP_DISABLE:
		return ctl_set_port(app_r, (uint8_t)o->a, false) ? (uint64_t)errno : 0;
	case CTL_APP_DENY:
		return deny_one(o->a);
	}
	return 0;
}

static bool become_nobody(int capability)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {{0}};

	if (prctl(PR_SET_KEEPCAPS, 1) || setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		return false;
	if (capability >= 0)
		caps[0].permitted = caps[0].effective = 1u << capability;
	return syscall(SYS_capset, &head, caps) == 0;
}

static void run_app(int fd, int capability)
{
	struct order o;
	void *state;
	uint64_t answer;

	if (geteuid() == 0 && !become_nobody(capability))
		_exit(3);
	if (fixture_setup(&state))
		_exit(4);
	app_r = state;
	while (recv(fd, &o, sizeof(o), MSG_WAITALL) == (ssize_t)sizeof(o)) {
		answer = obey(&o);
		if (send(fd, &answer, sizeof(answer), MSG_NOSIGNAL) != (ssize_t)sizeof(answer))
			break;
	}
	fixture_close(app_r);
	_exit(0);
}

uint64_t ctl_app_tell(enum ctl_app_command command, uint64_t a, uint64_t b)
{
	struct order o = {command, a, b};
	uint64_t answer = UINT64_MAX;

	assert_int_equal(send(app_fd, &o, sizeof(o), MSG_NOSIGNAL), sizeof(o));
	assert_int_equal(recv(app_fd, &answer, sizeof(answer), MSG_WAITALL), sizeof(answer));
	return answer;
}

void ctl_app_expect(enum ctl_app_command command, uint64_t a, uint64_t wanted)
{
	uint64_t answer = ctl_app_tell(command, a, 0);

	for (int ms = 0; ms < LIVE_PATIENCE_MS && answer != wanted; ms++) {
		usleep(1000);
		answer = ctl_app_tell(command, a, 0);
	}
	assert_u_eq(answer, wanted);
}

void ctl_app_start(int capability)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	app = fork();
	assert_true(app >= 0);
	if (app == 0) {
		close(ends[0]);
		run_app(ends[1], capability);
	}
	close(ends[1]);
	app_fd = ends[0];
}

bool ctl_app_stop(void)
{
	int status;

	close(app_fd);
	return waitpid(app, &status, 0) == app && status == 0;
}
