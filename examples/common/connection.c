/* SPDX-License-Identifier: BSD-2-Clause */
/* connection.c - see connection.h. */
#include "common/connection.h"

#include <mrc/meet.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLL_BATCH 16

static int print_error(const struct connection *r, const char *what, int err)
{
	fprintf(stderr, "%s: %s: %s\n", r->program, what, strerror(err));
	return -1;
}

int connection_open(struct connection *r, const char *program, size_t bytes, uint32_t sends,
		    uint32_t receives)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
	struct mrc_endpoint_attr attr = {
		.qp.cap = {.max_send_wr = sends,
			   .max_recv_wr = receives,
			   .max_send_sge = 1,
			   .max_recv_sge = 1},
		.with_channel = 1,
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int err;

	*r = (struct connection){.program = program, .bytes = (bytes + page - 1) / page * page};
	r->memory = aligned_alloc(page, r->bytes);
	if (!r->memory)
		return print_error(r, "memory", ENOMEM);
	memset(r->memory, 0, r->bytes);
	attr.addr = r->memory;
	attr.length = r->bytes;
	err = mrc_endpoint_open(&r->ep, &attr);
	if (err)
		return print_error(r, r->ep.failed, err);
	err = mrc_modify_qp(r->ep.qp, &init, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS, NULL, 0);
	return err ? print_error(r, "queue pair to INIT", err) : 0;
}

int connection_connect(struct connection *r, int fd)
{
	struct mrc_meet_end peer;
	int err = mrc_meet(r->ep.qp, r->ep.mr, fd, fd, MRC_MEET_FOREVER, &peer);

	if (err)
		return print_error(r, "meet the peer", err);
	r->peer_address = peer.address;
	r->peer_rkey = peer.rkey;
	return 0;
}

int connection_post_write(struct connection *r, size_t bytes)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)r->memory, .length = (uint32_t)bytes, .lkey = r->ep.mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = r->peer_address, .rkey = r->peer_rkey},
	};
	struct ibv_send_wr *bad;
	int err = mrc_post_send(r->ep.qp, &wr, &bad);

	return err ? print_error(r, "post a write", err) : 0;
}

int connection_poll(struct connection *r)
{
	struct ibv_wc wc[POLL_BATCH];
	int n = mrc_poll_cq(r->ep.cq, POLL_BATCH, wc);

	for (int i = 0; i < n; i++)
		if (connection_check_wc(r, &wc[i]))
			return -1;
	return n < 0 ? print_error(r, "poll", errno) : n;
}

/* A completion that came in before the request causes no event, hence the second look. */
int connection_wait(struct connection *r, struct ibv_wc *wc, int n)
{
	for (;;) {
		struct mrc_cq *cq;
		void *context;
		int got = mrc_poll_cq(r->ep.cq, n, wc);

		if (got)
			return got < 0 ? print_error(r, "poll", errno) : got;
		got = mrc_req_notify_cq(r->ep.cq, 0);
		if (got)
			return print_error(r, "request for notification", got);
		got = mrc_poll_cq(r->ep.cq, n, wc);
		if (got)
			return got < 0 ? print_error(r, "poll", errno) : got;
		if (mrc_get_cq_event(r->ep.channel, &cq, &context) == 0)
			mrc_ack_cq_events(cq, 1);
		else if (errno != EINTR)
			return print_error(r, "completion event", errno);
	}
}

int connection_check_wc(const struct connection *r, const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS)
		return 0;
	fprintf(stderr, "%s: a work request failed: %s\n", r->program,
		ibv_wc_status_str(wc->status));
	return -1;
}

void connection_close(struct connection *r)
{
	(void)mrc_endpoint_close(&r->ep);
	free(r->memory);
}
