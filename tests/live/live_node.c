/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_node.c - programs of one user that follow a store of another: denials that come while QPs
 * run, writers that are killed, a store that is damaged, removed and made again.
 *
 * A program is a child with a device of its own and two QPs that write to each other all the time;
 * it tells how many EVs are denied whenever that is another number.
 */
#include "live/live_fixture.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <mrc_ctl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534u
#define PROGRAMS 2
#define PATIENCE_MS 60000
#define EVS_MAX 256
#define EV_BASE 49152u /* a multiple of 64, as the bases of all processes */

struct program {
	pid_t pid;
	int denied; /* the pipe on which it tells */
};

static char dir[] = "/tmp/mrc-node-XXXXXX", file[64];
static struct program programs[PROGRAMS];
static pid_t writer; /* 0: none */
static struct mn_state wanted, found;
static struct store_error error, lost;

/* ---- the program ---- */

static uint32_t count_denied(struct fixture *r)
{
	struct mrc_ctl_ev_op_entry entries[EVS_MAX];
	struct mrc_ctl_ev_profile_attr attr = {.ev_op = {.op = MRC_CTL_EV_OP_QUERY_EV_ARRAY,
							 .entries = entries,
							 .entry_count = EVS_MAX}};
	uint32_t n = 0;

	assert_int_equal(mrc_ctl_query_ev_profile(r->ctx, 0, &attr, MRC_CTL_EV_PROFILE_EV_OP), 0);
	attr.ev_op.op = MRC_CTL_EV_OP_QUERY_EV_STATE;
	assert_int_equal(mrc_ctl_query_ev_profile(r->ctx, 0, &attr, MRC_CTL_EV_PROFILE_EV_OP), 0);
	for (int i = 0; i < attr.ev_op.entry_count; i++)
		n += entries[i].state == MRC_CTL_EV_DENIED;
	return n;
}

/* Until nobody listens any more. */
static void run_program(int tell)
{
	struct fixture *r;
	uint32_t said = UINT32_MAX, denied = 0;
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;
	void *state;

	fixture_setup_connected(&state);
	r = state;
	while (denied == said || write(tell, &denied, sizeof(denied)) == sizeof(denied)) {
		struct pollfd pfd = {tell, POLLOUT, 0};

		if (poll(&pfd, 1, 0) < 0 || pfd.revents & POLLERR)
			break;
		said = denied;
		wr = fixture_wr(r, 0, &sge, 100000);
		assert_int_equal(mrc_post_send(r->qp[0], &wr, &bad), 0);
		assert_int_equal(fixture_poll(r, 0).status, IBV_WC_SUCCESS);
		denied = count_denied(r);
	}
	fixture_close(r);
}

static void become_nobody(void)
{
	if (geteuid() == 0 && (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY)))
		_exit(3);
}

static void start_program(struct program *p)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	p->pid = fork();
	assert_true(p->pid >= 0);
	if (p->pid == 0) {
		signal(SIGPIPE, SIG_IGN);
		for (int i = 0; i < PROGRAMS; i++)
			if (programs[i].denied >= 0)
				close(programs[i].denied);
		close(ends[0]);
		become_nobody();
		run_program(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	p->denied = ends[0];
}

/* ---- the writer ---- */

static void deny(uint32_t n)
{
	mn_state_init(&wanted);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t value = EV_BASE + i;

		wanted.evs[i] = (struct mn_ev){.port = 1, .denied = 1};
		memcpy(wanted.evs[i].val, &value, sizeof(value));
	}
	wanted.n_evs = wanted.ev[MN_OWN_PROFILE].n_evs = n;
	for (uint32_t id = 1; id < MN_EV_PROFILES; id++)
		wanted.ev[id].first = n;
}

static void open_writer(struct store_writer *w)
{
	if (store_writer_open(w, dir, "mrc0", "live_node", &found, &lost, &error))
		fail_msg("%s", error.text);
}

static void commit(uint32_t n)
{
	struct store_writer w;

	open_writer(&w);
	deny(n);
	assert_int_equal(store_writer_commit(&w, &wanted, &error), 0);
	store_writer_close(&w);
}

/* It keeps the lock. */
static void be_a_writer(void)
{
	struct store_writer w;

	for (int i = 0; i < PROGRAMS; i++)
		close(programs[i].denied);
	open_writer(&w);
	deny(5);
	if (store_writer_commit(&w, &wanted, &error))
		_exit(1);
	pause();
}

static void start_writer(void)
{
	writer = fork();
	assert_true(writer >= 0);
	if (writer == 0)
		be_a_writer();
}

static void kill_writer(void)
{
	int status;

	if (writer == 0)
		return;
	kill(writer, SIGKILL);
	assert_int_equal(waitpid(writer, &status, 0), writer);
	writer = 0;
}

/* All programs say so, and nothing else before but what they said of an earlier state. */
static void expect_denied(uint32_t n)
{
	for (int i = 0; i < PROGRAMS; i++) {
		struct pollfd pfd = {programs[i].denied, POLLIN, 0};
		uint32_t said = UINT32_MAX;

		while (said != n) {
			if (poll(&pfd, 1, PATIENCE_MS) != 1)
				fail_msg("program %d: %u EVs are not denied, it said %u", i, n,
					 said);
			assert_int_equal(read(pfd.fd, &said, sizeof(said)), sizeof(said));
		}
	}
}

static void expect_silence(int ms)
{
	struct pollfd pfd[PROGRAMS];

	for (int i = 0; i < PROGRAMS; i++)
		pfd[i] = (struct pollfd){programs[i].denied, POLLIN, 0};
	assert_int_equal(poll(pfd, PROGRAMS, ms), 0);
}

static int setup(void **state)
{
	(void)state;
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	if (!mkdtemp(dir) || chmod(dir, 0755))
		return -1;
	snprintf(file, sizeof(file), "%s/mrc0.state", dir);
	setenv("MRC_NODE_DIR", dir, 1);
	setenv("MRC_LOG", "error", 1);
	setenv("MRC_PORTS", "127.0.0.1", 1);
	unsetenv("MRC_EV_BASE"); /* which all live tests are given: users share none */
	for (int i = 0; i < PROGRAMS; i++)
		programs[i].denied = -1;
	commit(1);
	for (int i = 0; i < PROGRAMS; i++)
		start_program(&programs[i]);
	return 0;
}

static int teardown(void **state)
{
	char command[100];
	int status, bad = 0;

	(void)state;
	kill_writer();
	for (int i = 0; i < PROGRAMS; i++)
		close(programs[i].denied);
	for (int i = 0; i < PROGRAMS; i++)
		bad |= waitpid(programs[i].pid, &status, 0) != programs[i].pid || status;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	unsetenv("MRC_NODE_DIR");
	return system(command) || bad;
}

#define NODE_TEST(name) TEST_WITH(setup, teardown, node_store, name)

/* REQ(ctl.node-state) */
NODE_TEST(is_followed_while_qps_run)
{
	expect_denied(1);
	commit(3);
	expect_denied(3);
	commit(0);
	expect_denied(0);
}

/* It holds the lock until it is killed; then another one goes on, from what it left. */
NODE_TEST(outlives_its_writer)
{
	struct store_writer w;

	start_writer();
	expect_denied(5);
	assert_int_equal(store_writer_open(&w, dir, "mrc0", "x", &found, &lost, &error), EBUSY);
	kill_writer();
	expect_silence(100);
	open_writer(&w);
	assert_string_equal(lost.text, "");
	assert_int_equal(found.n_evs, 5);
	store_writer_close(&w);
	commit(2);
	expect_denied(2);
}

/* What a change did to the EVs counts when it is written, and not before. REQ(ctl.ev-ops) */
NODE_TEST(is_not_changed_while_another_one_writes)
{
	struct mrc_ctl_ev_op_entry entries[EVS_MAX] = {0}; /* no flags: a query writes none */
	struct mrc_ctl_ev_profile_attr attr = {.ev_op = {.op = MRC_CTL_EV_OP_QUERY_EV_ARRAY,
							 .entries = entries,
							 .entry_count = EVS_MAX}};
	const int op = MRC_CTL_EV_PROFILE_EV_OP;
	struct fixture r;

	start_writer();
	expect_denied(5);
	fixture_open(&r);
	assert_int_equal(mrc_ctl_query_ev_profile(r.ctx, 0, &attr, op), 0);
	attr.ev_op.op = MRC_CTL_EV_OP_MODIFY_EV_STATE;
	attr.ev_op.entries = &entries[attr.ev_op.entry_count - 1];
	for (int written = 0; written <= 1; written++) {
		attr.ev_op.entries->state = MRC_CTL_EV_DENIED;
		attr.ev_op.entry_count = 1;
		assert_int_equal(mrc_ctl_modify_ev_profile(r.ctx, 0, &attr, op), written - 1);
		assert_true(written || errno == EAGAIN);
		assert_int_equal(attr.ev_op.entry_count, written);
		assert_u_eq(count_denied(&r), 5 + (uint32_t)written);
		kill_writer();
	}
	fixture_close(&r);
	expect_denied(6);
}

/* REQ(ctl.node-state) */
NODE_TEST(is_refused_or_gone_and_nothing_changes)
{
	expect_denied(1);
	assert_int_equal(truncate(file, 700), 0);
	expect_silence(1500); /* longer than until the next look */
	assert_int_equal(unlink(file), 0);
	expect_silence(100);
	commit(4);
	expect_denied(4);
}

/* REQ(ctl.privilege) */
NODE_TEST(is_nothing_that_programs_can_change)
{
	struct store_writer w;
	pid_t user;
	int status;

	if (geteuid() != 0)
		test_skip("users of their own take root");
	user = fork();
	if (user == 0) {
		become_nobody();
		_exit(store_writer_open(&w, dir, "mrc0", "x", &found, &lost, &error) == EPERM &&
				      open(file, O_WRONLY | O_CLOEXEC) < 0 && unlink(file) < 0
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(user, &status, 0), user);
	assert_int_equal(status, 0);
	expect_denied(1);
}
