/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hello - the shortest whole MRC program.
 *
 * It forks into two processes. Each opens the device, connects a queue pair (QP) to the other's,
 * and writes one line straight into the other's memory with an RDMA WRITE with immediate: a number
 * that arrives once the whole line is there. With no configuration the device uses loopback.
 */
#include <mrc.h>
#include <mrc/meet.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 10000

struct side {
	char line[2][64];  /* what we say, what we hear */
	struct ibv_mr *mr; /* of both lines */
	struct mrc_context *context;
	struct mrc_cq *cq;
	struct mrc_qp *qp;
};

static void require(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static void open_side(struct side *s)
{
	struct mrc_qp_init_attr attr = {
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1}};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *device;

	require(list && list[0], "hello: list of devices");
	device = ibv_open_device(list[0]);
	require(device != NULL, "hello: open the device");
	ibv_free_device_list(list);
	attr.pd = ibv_alloc_pd(device);
	require(attr.pd != NULL, "hello: protection domain");
	s->mr = ibv_reg_mr(attr.pd, s->line, sizeof(s->line),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	require(s->mr != NULL, "hello: memory region");
	s->context = mrc_create_context(device, NULL);
	require(s->context != NULL, "hello: MRC context");
	s->cq = attr.send_cq = attr.recv_cq = mrc_create_cq(s->context, 2, NULL, NULL, 0);
	require(s->cq != NULL, "hello: completion queue");
	s->qp = mrc_create_qp(s->context, &attr);
	require(s->qp != NULL, "hello: queue pair");
}

/* Writes line 0 over the peer's line 1. One completion says that it is there, one that theirs is
 * here. */
static void exchange_lines(struct side *s, const char *who, const struct mrc_meet_end *peer)
{
	struct ibv_sge sge = {(uintptr_t)s->line[0], sizeof(s->line[0]), s->mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl((uint32_t)getpid()),
		.wr.rdma = {.remote_addr = peer->address + sizeof(s->line[0]), .rkey = peer->rkey},
	};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	snprintf(s->line[0], sizeof(s->line[0]), "hello from %s", who);
	require(mrc_post_send(s->qp, &wr, &bad) == 0, "hello: post the line");
	for (int done = 0, n; done < 2; done += n) {
		n = mrc_poll_cq(s->cq, 1, &wc);
		require(n >= 0, "hello: poll");
		require(n == 0 || wc.status == IBV_WC_SUCCESS, "hello: a line got lost");
		if (n && wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM)
			printf("%s: got \"%s\" from process %u\n", who, s->line[1],
			       ntohl(wc.imm_data));
	}
}

static void close_side(const struct side *s)
{
	struct ibv_context *device = s->mr->context;
	struct ibv_pd *pd = s->mr->pd;

	require(mrc_destroy_qp(s->qp) == 0 && mrc_destroy_cq(s->cq) == 0 &&
			mrc_destroy_context(s->context) == 0,
		"hello: destroy the QP, its CQ and context");
	require(ibv_dereg_mr(s->mr) == 0 && ibv_dealloc_pd(pd) == 0 &&
			ibv_close_device(device) == 0,
		"hello: close the device");
}

static void run_side(const char *who, int fd)
{
	static struct side s;
	struct ibv_recv_wr receive = {0}, *bad;
	struct mrc_meet_end peer;

	open_side(&s);
	require(mrc_meet(s.qp, s.mr, fd, fd, WAIT_MS, &peer) == 0, "hello: meet the peer");
	/* An immediate uses up a receive, which must be there before the peer sends. */
	require(mrc_post_recv(s.qp, &receive, &bad) == 0, "hello: post a receive");
	require(mrc_meet_sync(fd, fd, WAIT_MS) == 0, "hello: begin together");
	exchange_lines(&s, who, &peer);
	/* The peer may still be waiting for an acknowledgement from us. */
	require(mrc_meet_sync(fd, fd, WAIT_MS) == 0, "hello: leave together");
	close_side(&s);
}

int main(int argc, char **argv)
{
	int fds[2], status = 0;
	pid_t child;

	if (argc > 1) {
		fprintf(strcmp(argv[1], "--help") ? stderr : stdout,
			"hello: takes no arguments; two processes say hello to each other\n");
		return strcmp(argv[1], "--help") ? 2 : 0;
	}
	require(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0, "hello: socketpair");
	child = fork();
	require(child >= 0, "hello: fork");
	close(fds[child ? 1 : 0]);
	run_side(child ? "Alice" : "Bob", fds[child ? 0 : 1]);
	if (!child)
		return 0;
	require(waitpid(child, &status, 0) == child, "hello: wait for Bob");
	return status == 0 ? 0 : 1;
}
