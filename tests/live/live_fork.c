/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_fork.c - a process that forks and execs in the middle of traffic: the child hears that it
 * has no device, can open one of its own, and the parent notices nothing.
 */
#include "live/live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"
#include "unit/loopback.h"

#define BYTES (1u << 20)
#define ROUNDS 20u

/* fork_child uses all that it inherited. */
static void fork_child(struct live_side *s)
{
	struct mh_qp_init init = {.pd = s->pd, .send_cq = s->cq, .recv_cq = s->cq};
	struct rd_recv_wr recv = {.wr_id = 1};
	struct mh_async_event event;
	struct mh_channel *channel;
	struct mh_plane_attr plane;
	struct rd_qp_attr attr;
	struct mh_pd *pd;
	struct mh_cq *cq;
	struct mh_mr *mr;
	struct mh_wc wc;
	uint32_t posted = 7;

	live_check(mh_cq_poll(s->cq, 1, &wc) == -ENODEV);
	live_check(mh_qp_post_send(s->qp, NULL, 0, &posted) == ENODEV && posted == 0);
	live_check(mh_qp_post_recv(s->qp, &recv, 1, NULL) == ENODEV);
	live_check(mh_qp_query(s->qp, &attr) == ENODEV);
	live_check(attr.state == RD_QPS_ERR);
	live_check(mh_qp_modify(s->qp, &attr, RD_QP_STATE) == ENODEV);
	live_check(mh_qp_create(&init, &s->qp) == ENODEV);
	live_check(mh_mr_reg(s->pd, s->buffer, 64, 0, 0, &mr) == ENODEV);
	live_check(mh_cq_create(s->dev, 1, NULL, NULL, &cq) == ENODEV);
	live_check(mh_channel_create(s->dev, &channel) == ENODEV);
	live_check(mh_channel_get(s->channel, &cq) == ENODEV);
	live_check(mh_channel_fd(s->channel) == -ENODEV);
	live_check(mh_device_is_inherited(s->dev));
	live_check(mh_async_get(s->dev, &event) == ENODEV);
	live_check(mh_pd_create(s->dev, NULL, &pd) == ENODEV);
	live_check(mh_device_query_plane(s->dev, 0, &plane) == ENODEV);
	live_check(!mh_device_is_up(s->dev));
	live_check(mh_device_find(s) == NULL && mh_pd_find(NULL) == NULL);
	live_check(mh_cq_req_notify(s->cq, false) == ENODEV);
	live_check(mh_qp_destroy(s->qp) == ENODEV && mh_mr_dereg(s->mr) == ENODEV);
	live_check(mh_cq_destroy(s->cq) == ENODEV && mh_pd_destroy(s->pd) == ENODEV);
	live_check(mh_channel_destroy(s->channel) == ENODEV && mh_device_close(s->dev) == ENODEV);
}

/* fork_again opens a device of the child's own. */
static void fork_again(struct live_side *s)
{
	struct mh_plane_attr plane;
	struct mh_device *dev;
	struct mh_pd *pd;

#ifdef __SANITIZE_THREAD__
	(void)s, (void)plane, (void)dev, (void)pd;
	return; /* ThreadSanitizer allows no new threads after a fork */
#endif
	live_check(mh_device_open(0, s, &dev) == 0);
	live_check(mh_device_is_up(dev) && mh_device_query_plane(dev, 0, &plane) == 0);
	live_check(mh_pd_create(dev, NULL, &pd) == 0 && mh_pd_destroy(pd) == 0);
	live_check(mh_device_close(dev) == 0);
}

static void fork_use_both(struct live_side *s)
{
	fork_child(s);
	fork_again(s);
}

static pid_t fork_start(void (*body)(struct live_side *), struct live_side *s)
{
	pid_t pid = fork();

	live_check(pid >= 0);
	if (pid == 0) {
		body(s);
		_exit(0);
	}
	return pid;
}

static void fork_end(pid_t pid)
{
	int status;

	live_check(waitpid(pid, &status, 0) == pid);
	live_check(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* fork_traffic writes while `children` of this process run. */
static void fork_traffic(struct live_side *s, void (*body)(struct live_side *))
{
	pid_t child = 0;
	struct mh_wc wc;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		for (uint32_t k = 0; k < 4; k++)
			live_write(s, k, k * (BYTES / 4), BYTES / 4, RD_SEND_SIGNALED, 0);
		if (i == ROUNDS / 2)
			child = fork_start(body, s);
		for (uint32_t k = 0; k < 4; k++) {
			live_wait(s, &wc, 1);
			live_expect(&wc, k, RD_WC_SUCCESS);
		}
	}
	fork_end(child);
}

static void fork_initiator(struct live_side *s)
{
	live_fill(s->buffer, BYTES, 11);
	fork_traffic(s, fork_use_both);
	live_barrier(s);
	live_barrier(s);
}

/*
 * fork_target forks too: it is passive, so all its work is the thread's. Not while that thread is
 * only starting: AddressSanitizer's allocator may then be locked in the child for ever.
 */
static void fork_target(struct live_side *s)
{
	live_check(live_wait_counter(s, "rx_data_packets", 1, 60000));
	fork_end(fork_start(fork_use_both, s));
	live_barrier(s);
	live_check(live_compare(s->buffer, BYTES, 11));
	live_barrier(s);
}

TEST(live_fork, child_has_no_device_and_parent_notices_nothing)
{
	struct live_setup setup = {.bytes = BYTES};

	live_run(&setup, fork_initiator, fork_target);
}

/* A child that outlives its parent's NIC keeps neither its slot nor its sockets. */
TEST(live_fork, child_keeps_no_slot)
{
	struct mh_plane_attr before, after;
	struct mh_device *dev;
	pid_t child;
	char byte;
	int ran[2];

	setenv("MRC_CONFIG", "/dev/null", 1);
	loopback_env(1); /* addresses of this process alone: nobody else takes its slot */
	assert_i_eq(mh_device_open(0, NULL, &dev), 0);
	assert_i_eq(mh_device_query_plane(dev, 0, &before), 0);
	assert_i_eq(pipe(ran), 0);
	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		alarm(100);
		_exit(write(ran[1], "", 1) == 1 ? pause() : 1);
	}
	/* The child gives things up when it first runs, which may be later than we go on. */
	assert_i_eq(read(ran[0], &byte, 1), 1);
	assert_i_eq(mh_device_close(dev), 0);
	assert_i_eq(mh_device_open(0, NULL, &dev), 0);
	assert_i_eq(mh_device_query_plane(dev, 0, &after), 0);
	kill(child, SIGKILL);
	assert_i_eq(waitpid(child, NULL, 0), child);
	assert_u_eq(after.udp_port, before.udp_port);
	assert_i_eq(mh_device_close(dev), 0);
	close(ran[0]);
	close(ran[1]);
}

/* exec_is_ours tells the library's descriptors from those that the test was started with. */
static bool exec_is_ours(int fd)
{
	int domain = AF_UNSPEC;
	socklen_t len = sizeof(domain);
	char path[40], to[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0)
		return domain == AF_INET || domain == AF_NETLINK;
	return readlink(path, to, sizeof(to) - 1) > 0 && strstr(to, "eventfd");
}

/* Whatever the library opened is closed on exec: a program that is started inherits nothing. */
static void exec_check(struct live_side *s)
{
	DIR *dir = opendir("/proc/self/fd");
	uint32_t ours = 0;

	live_check(dir != NULL);
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] == '.' || !exec_is_ours(fd))
			continue;
		live_check(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		ours++;
	}
	closedir(dir);
	live_check(ours > LIVE_PLANES * (LIVE_EVS + 1));
	live_barrier(s);
}

TEST(live_fork, descriptors_close_on_exec)
{
	struct live_setup setup = {.bytes = 4096};

	live_run(&setup, exec_check, exec_check);
}
