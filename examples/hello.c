/* SPDX-License-Identifier: BSD-2-Clause */
/* hello.c - the shortest whole MRC program: two processes, connected by a queue pair (QP) each,
 * write a line into each other's memory. Without configuration they use loopback. */
#include <err.h>
#include <mrc/endpoint.h>
#include <mrc/meet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Through fd the two only tell each other where to write, and when they are ready. */
static void say_hello(const char *who, int fd)
{
	enum { LINE = 64, WAIT_MS = 10000 };
	static char lines[2][LINE]; /* what we say, what we hear */
	struct mrc_endpoint_attr attr = {.addr = lines, .length = sizeof(lines)};
	struct ibv_recv_wr receive = {0}, *bad_receive;
	struct mrc_meet_end peer;
	struct mrc_endpoint ep;
	struct ibv_wc wc;

	attr.qp.cap = (struct ibv_qp_cap){.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1};
	if (mrc_endpoint_open(&ep, &attr) || mrc_meet(ep.qp, ep.mr, fd, fd, WAIT_MS, &peer))
		err(1, "%s", ep.failed ? ep.failed : "mrc_meet");
	/* The peer's line uses up a receive, which must be there before the peer sends. */
	if (mrc_post_recv(ep.qp, &receive, &bad_receive) || mrc_meet_sync(fd, fd, WAIT_MS))
		err(1, "mrc_post_recv, mrc_meet_sync");
	snprintf(lines[0], LINE, "hello from %s", who);
	struct ibv_sge line = {(uintptr_t)lines[0], LINE, ep.mr->lkey};
	struct ibv_send_wr *bad, write = {.sg_list = &line,
					  .num_sge = 1,
					  .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
					  .send_flags = IBV_SEND_SIGNALED,
					  .wr.rdma = {peer.address + LINE, peer.rkey}};
	if (mrc_post_send(ep.qp, &write, &bad))
		err(1, "mrc_post_send");
	/* One completion says that our line is there, one that all of theirs is here. */
	for (int done = 0, n; done < 2; done += n)
		if ((n = mrc_poll_cq(ep.cq, 1, &wc)) < 0 || (n && wc.status != IBV_WC_SUCCESS))
			errx(1, "a line got lost");
	printf("%s: got \"%s\"\n", who, lines[1]);
	/* The peer may still be waiting for an acknowledgement from us. */
	if (mrc_meet_sync(fd, fd, WAIT_MS) || mrc_endpoint_close(&ep))
		err(1, "mrc_meet_sync, mrc_endpoint_close");
}

int main(int argc, char **argv)
{
	int fds[2], status;
	pid_t child;

	if (argc > 1)
		errx(2, "%s: takes no arguments; two processes say hello to each other", argv[1]);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) || (child = fork()) < 0)
		err(1, "a second process");
	close(fds[child == 0]);
	say_hello(child ? "Alice" : "Bob", fds[child != 0]);
	return child && (waitpid(child, &status, 0) != child || status);
}
