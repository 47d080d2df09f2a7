/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hello - the shortest whole MRC program.
 *
 * It forks into two processes. Each opens the device, makes a connection (a queue pair, QP) to the
 * other, and writes one line straight into the other's memory with an RDMA WRITE with immediate.
 * The immediate is a number that arrives once the whole line is there.
 *
 * It needs nothing to run: with no configuration the device uses loopback.
 */
#include <mrc.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE 64

/* What the two ends must know of each other. How they tell is their own affair: here a socket. */
struct end {
	union ibv_gid gid; /* the address of the device, on all its planes */
	uint32_t qpn;	   /* the number of the QP */
	uint32_t psn;	   /* the number of the first packet */
	uint32_t rkey;	   /* the key to the memory */
	uint64_t address;  /* where the line shall go */
};

static const char *who;

/* Ends the process with a message unless a call went well. */
static void require(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "hello: %s: %s: %s\n", who, what, strerror(errno));
	exit(1);
}

static struct ibv_context *open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *device;
	struct mrc_device_attr attr;
	int supported = 0;

	require(list && list[0], "list of devices");
	device = ibv_open_device(list[0]);
	require(device != NULL, "open the device");
	ibv_free_device_list(list);
	require(mrc_query_device(device, &attr, &supported) == 0, "query the device");
	errno = EOPNOTSUPP;
	require(supported, "MRC on this device");
	return device;
}

/* RESET to INIT to RTR (ready to receive) to RTS (ready to send). */
static void connect_qp(struct mrc_qp *qp, const struct end *mine, const struct end *theirs)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = {.is_global = 1, .grh = {.dgid = theirs->gid}},
		.dest_qp_num = theirs->qpn,
		.rq_psn = theirs->psn,
		.path_mtu = IBV_MTU_256, /* the one that every device has; ours is a short line */
	};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .sq_psn = mine->psn};

	require(mrc_modify_qp(qp, &init, IBV_QP_STATE, NULL, 0) == 0, "QP to INIT");
	require(mrc_modify_qp(qp, &rtr,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				      IBV_QP_PATH_MTU,
			      NULL, 0) == 0,
		"QP to RTR");
	require(mrc_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN, NULL, 0) == 0, "QP to RTS");
}

static void exchange_bytes(int fd, const void *mine, void *theirs, size_t size)
{
	require(write(fd, mine, size) == (ssize_t)size, "tell the peer");
	errno = ECONNRESET; /* what it is when the peer has gone and recv says 0 */
	require(recv(fd, theirs, size, MSG_WAITALL) == (ssize_t)size, "hear from the peer");
}

static void post_line(struct mrc_qp *qp, const struct ibv_mr *mr, const char *line,
		      const struct end *theirs)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)line, .length = (uint32_t)strlen(line) + 1, .lkey = mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl((uint32_t)getpid()),
		.wr.rdma = {.remote_addr = theirs->address, .rkey = theirs->rkey},
	};
	struct ibv_send_wr *bad;

	require(mrc_post_send(qp, &wr, &bad) == 0, "post the line");
}

/* One completion says that our line is in the peer's memory, one that theirs is in ours. */
static void wait_for_both(struct mrc_cq *cq, const char *inbox)
{
	for (int done = 0; done < 2;) {
		struct ibv_wc wc;
		int n = mrc_poll_cq(cq, 1, &wc);

		require(n >= 0, "poll");
		if (n == 0)
			continue;
		errno = EIO;
		require(wc.status == IBV_WC_SUCCESS, ibv_wc_status_str(wc.status));
		if (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM)
			printf("%s: got \"%s\" from process %u\n", who, inbox, ntohl(wc.imm_data));
		done++;
	}
}

/* Everything that a connection needs, in the order in which it is made. */
struct side {
	char memory[2][LINE]; /* what we say, what we hear */
	struct ibv_context *device;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct mrc_context *context;
	struct mrc_cq *cq;
	struct mrc_qp *qp;
};

static void open_side(struct side *s)
{
	struct mrc_qp_init_attr attr = {
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1},
	};

	s->device = open_device();
	s->pd = ibv_alloc_pd(s->device);
	require(s->pd != NULL, "protection domain");
	s->mr = ibv_reg_mr(s->pd, s->memory, sizeof(s->memory),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	require(s->mr != NULL, "memory region");
	s->context = mrc_create_context(s->device, NULL);
	require(s->context != NULL, "MRC context");
	s->cq = mrc_create_cq(s->context, 2, NULL, NULL, 0);
	require(s->cq != NULL, "completion queue");
	attr.send_cq = s->cq;
	attr.recv_cq = s->cq;
	attr.pd = s->pd;
	s->qp = mrc_create_qp(s->context, &attr);
	require(s->qp != NULL, "queue pair");
}

static void close_side(struct side *s)
{
	require(mrc_destroy_qp(s->qp) == 0, "destroy the QP");
	require(mrc_destroy_cq(s->cq) == 0, "destroy the CQ");
	require(mrc_destroy_context(s->context) == 0, "destroy the context");
	require(ibv_dereg_mr(s->mr) == 0, "release the memory region");
	require(ibv_dealloc_pd(s->pd) == 0, "release the protection domain");
	require(ibv_close_device(s->device) == 0, "close the device");
}

static void run_peer(int fd)
{
	static struct side s;
	struct ibv_recv_wr receive = {0}, *bad;
	struct end mine = {.psn = 1000}, theirs;
	char ready = 0;

	open_side(&s);
	mine.rkey = s.mr->rkey;
	mine.address = (uintptr_t)s.memory[1];
	require(mrc_get_qpn(s.qp, &mine.qpn) == 0, "QP number");
	require(ibv_query_gid(s.device, 1, 0, &mine.gid) == 0, "GID");
	exchange_bytes(fd, &mine, &theirs, sizeof(mine));
	connect_qp(s.qp, &mine, &theirs);

	/* An immediate uses up a receive, which must be there before the peer sends. */
	require(mrc_post_recv(s.qp, &receive, &bad) == 0, "post a receive");
	exchange_bytes(fd, &ready, &ready, 1);

	snprintf(s.memory[0], LINE, "hello from %s", who);
	post_line(s.qp, s.mr, s.memory[0], &theirs);
	wait_for_both(s.cq, s.memory[1]);

	/* The peer may still be waiting for an acknowledgement from us: leave together. */
	exchange_bytes(fd, &ready, &ready, 1);
	close_side(&s);
}

int main(int argc, char **argv)
{
	int fds[2], status = 0;
	pid_t child;

	who = "main";
	if (argc > 1) {
		fprintf(strcmp(argv[1], "--help") ? stderr : stdout,
			"hello: takes no arguments; two processes say hello to each other\n");
		return strcmp(argv[1], "--help") ? 2 : 0;
	}
	require(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0, "socketpair");
	child = fork();
	require(child >= 0, "fork");
	who = child ? "Alice" : "Bob";
	close(fds[child ? 1 : 0]);
	run_peer(fds[child ? 0 : 1]);
	if (!child)
		return 0;
	require(waitpid(child, &status, 0) == child, "wait for Bob");
	return status == 0 ? 0 : 1;
}
