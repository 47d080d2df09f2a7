/* SPDX-License-Identifier: BSD-2-Clause */
/* connection.c - see connection.h. examples/hello.c does the same in one go. */
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

static int open_device(struct connection *r)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list)
		return print_error(r, "list of devices", errno);
	for (int i = 0; list[i] && !r->device; i++) {
		struct mrc_device_attr attr;
		int supported = 0;

		r->device = ibv_open_device(list[i]);
		if (!r->device)
			continue;
		if (mrc_query_device(r->device, &attr, &supported) || !supported) {
			ibv_close_device(r->device);
			r->device = NULL;
		}
	}
	ibv_free_device_list(list);
	if (r->device)
		return 0;
	fprintf(stderr, "%s: no device that speaks MRC could be opened\n", r->program);
	return -1;
}

static int open_memory(struct connection *r, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	r->bytes = (bytes + page - 1) / page * page;
	r->memory = aligned_alloc(page, r->bytes);
	if (!r->memory)
		return print_error(r, "memory", ENOMEM);
	memset(r->memory, 0, r->bytes);
	r->pd = ibv_alloc_pd(r->device);
	if (!r->pd)
		return print_error(r, "protection domain", errno);
	r->mr = ibv_reg_mr(r->pd, r->memory, r->bytes,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	return r->mr ? 0 : print_error(r, "memory region", errno);
}

static int open_queues(struct connection *r, uint32_t sends, uint32_t receives)
{
	struct mrc_qp_init_attr init = {
		.cap = {.max_send_wr = sends,
			.max_recv_wr = receives,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.pd = r->pd,
	};
	int err;

	r->context = mrc_create_context(r->device, NULL);
	if (!r->context)
		return print_error(r, "MRC context", errno);
	err = mrc_create_comp_channel(r->context, &r->channel);
	if (err)
		return print_error(r, "completion channel", err);
	r->cq = mrc_create_cq(r->context, (int)(sends + receives), NULL, r->channel, 0);
	if (!r->cq)
		return print_error(r, "completion queue", errno);
	init.send_cq = r->cq;
	init.recv_cq = r->cq;
	r->qp = mrc_create_qp(r->context, &init);
	return r->qp ? 0 : print_error(r, "queue pair", errno);
}

int connection_open(struct connection *r, const char *program, size_t bytes, uint32_t sends,
		    uint32_t receives)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
	int err;

	*r = (struct connection){.program = program};
	if (open_device(r) || open_memory(r, bytes) || open_queues(r, sends, receives))
		return -1;
	err = mrc_modify_qp(r->qp, &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS, NULL, 0);
	return err ? print_error(r, "queue pair to INIT", err) : 0;
}

int connection_connect(struct connection *r, int fd)
{
	struct mrc_meet_end peer;
	int err = mrc_meet(r->qp, r->mr, fd, fd, MRC_MEET_FOREVER, &peer);

	if (err)
		return print_error(r, "meet the peer", err);
	r->peer_address = peer.address;
	r->peer_rkey = peer.rkey;
	return 0;
}

int connection_post_write(struct connection *r, size_t bytes)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)r->memory, .length = (uint32_t)bytes, .lkey = r->mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = r->peer_address, .rkey = r->peer_rkey},
	};
	struct ibv_send_wr *bad;
	int err = mrc_post_send(r->qp, &wr, &bad);

	return err ? print_error(r, "post a write", err) : 0;
}

int connection_poll(struct connection *r)
{
	struct ibv_wc wc[POLL_BATCH];
	int n = mrc_poll_cq(r->cq, POLL_BATCH, wc);

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
		int got = mrc_poll_cq(r->cq, n, wc);

		if (got)
			return got < 0 ? print_error(r, "poll", errno) : got;
		got = mrc_req_notify_cq(r->cq, 0);
		if (got)
			return print_error(r, "request for notification", got);
		got = mrc_poll_cq(r->cq, n, wc);
		if (got)
			return got < 0 ? print_error(r, "poll", errno) : got;
		if (mrc_get_cq_event(r->channel, &cq, &context) == 0)
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
	if (r->qp)
		mrc_destroy_qp(r->qp);
	if (r->cq)
		mrc_destroy_cq(r->cq);
	if (r->channel)
		mrc_destroy_comp_channel(r->channel);
	if (r->context)
		mrc_destroy_context(r->context);
	if (r->mr)
		ibv_dereg_mr(r->mr);
	if (r->pd)
		ibv_dealloc_pd(r->pd);
	if (r->device)
		ibv_close_device(r->device);
	free(r->memory);
}
