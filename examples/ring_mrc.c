/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The neighbour link on MRC: one queue pair to the next rank, one from the previous one. A message
 * is one RDMA WRITE with immediate, straight into the place where the next rank wants it; its
 * number is the immediate, and the receive that the immediate uses up tells the next rank that all
 * its bytes are there. The device spreads the packets over every plane and path and resends what
 * is lost; none of that is seen here.
 *
 * Receives are posted for two all-reduces ahead. The previous rank can be at most one ahead (it
 * needs this rank's sums to finish), so an immediate never finds the queue empty.
 */
#include "ring_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mrc/endpoint.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Looks at the queue this often before it sleeps: with more ranks than cores, spinning is theft. */
#define POLLS_BEFORE_SLEEP 1
#define POLL_BATCH 16
#define LIVENESS_MS 500
/* More than the receives that are posted: 2 all-reduces x 2 x 31 hops x 16 slices. */
#define ARRIVED_MAX 4096u
#define FIRST_PSN_MASK 0xffffffu

enum work { WORK_SEND = 1, WORK_RECEIVE = 2 };

struct mrc_link {
	struct ring_link link;
	struct ring_link_cfg cfg;
	struct mrc_endpoint ep; /* whose QP is to the next rank */
	struct mrc_qp *prev_qp; /* and completes in the same CQ */
	int channel_fd;
	uint64_t next_address; /* of the next rank's memory */
	uint32_t next_rkey;
	uint32_t sent, received;	    /* message numbers to come */
	uint32_t unacknowledged;	    /* messages sent whose completion is still due */
	uint32_t arrived;		    /* messages whole and not yet taken by receive */
	uint32_t arrived_size[ARRIVED_MAX]; /* by message number modulo the size */
};

/* What the two ends of a queue pair must know of each other. */
struct endpoint {
	union ibv_gid gid;
	uint64_t address;
	uint32_t rkey;
	uint32_t qpn, psn;
	uint32_t mtu; /* enum ibv_mtu, the largest this side can take */
};

static struct mrc_link *from_link(struct ring_link *link)
{
	return (struct mrc_link *)(void *)link;
}

static int print_error(const char *what, int error)
{
	fprintf(stderr, "ring: %s: %s\n", what, strerror(error));
	return -1;
}

/* One QP sends to the next rank, the other receives from the previous one. */
static int open_queue_pairs(struct mrc_link *l)
{
	struct mrc_endpoint_attr attr = {
		.addr = l->cfg.memory,
		.length = l->cfg.bytes,
		.qp = {.cap = {.max_send_wr = l->cfg.messages_max,
			       .max_recv_wr = 1,
			       .max_send_sge = 1,
			       .max_recv_sge = 1},
		       .sq_sig_all = 1},
		.cqe = (int)(l->cfg.messages_max * 4),
		.with_channel = 1,
	};
	struct mrc_qp_init_attr prev = attr.qp;
	int rc = mrc_endpoint_open(&l->ep, &attr);

	if (rc)
		return print_error(l->ep.failed, rc);
	if (mrc_get_comp_channel_fd(l->ep.channel, &l->channel_fd) ||
	    fcntl(l->channel_fd, F_SETFL, O_NONBLOCK))
		return print_error("completion channel's descriptor", errno);
	prev.cap.max_send_wr = 1;
	prev.cap.max_recv_wr = 2 * l->cfg.messages_max;
	prev.pd = l->ep.pd;
	prev.send_cq = prev.recv_cq = l->ep.cq;
	l->prev_qp = mrc_create_qp(l->ep.context, &prev);
	return l->prev_qp ? 0 : print_error("queue pair", errno);
}

static int to_init(struct mrc_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
	int rc = mrc_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS,
			       NULL, 0);

	return rc ? print_error("queue pair to INIT", rc) : 0;
}

/* Never gives up: a job rides out a fault of any length, and a dead rank is noticed elsewhere. */
static int to_rts(struct mrc_qp *qp, const struct endpoint *mine, const struct endpoint *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = mine->mtu < peer->mtu ? mine->mtu : peer->mtu,
		.dest_qp_num = peer->qpn,
		.rq_psn = peer->psn,
		.ah_attr = {.is_global = 1, .grh = {.dgid = peer->gid}, .port_num = 1},
	};
	struct mrc_qp_attr mrc = {.retry = {.linear_cnt = 7, .exp_cnt = 25}};
	int rc = mrc_modify_qp(qp, &attr,
			       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				       IBV_QP_RQ_PSN,
			       NULL, 0);

	if (rc)
		return print_error("queue pair to RTR", rc);
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .sq_psn = mine->psn};
	rc = mrc_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN, &mrc, MRC_QP_RETRY_CNT);
	return rc ? print_error("queue pair to RTS", rc) : 0;
}

static int describe_endpoint(struct mrc_link *l, struct mrc_qp *qp, struct endpoint *e)
{
	struct ibv_port_attr port;
	int rc = ibv_query_port(l->ep.device, 1, &port);

	if (rc)
		return print_error("port of the device", rc);
	e->mtu = port.active_mtu;
	if (ibv_query_gid(l->ep.device, 1, 0, &e->gid))
		return print_error("GID of the device", errno);
	if (mrc_get_qpn(qp, &e->qpn))
		return print_error("QP number", errno);
	e->psn = (e->qpn * 2654435761u) & FIRST_PSN_MASK;
	e->address = (uintptr_t)l->cfg.memory;
	e->rkey = l->ep.mr->rkey;
	return 0;
}

static int connect_queue_pairs(struct mrc_link *l)
{
	struct endpoint my_next, my_prev, their_next, their_prev;

	if (to_init(l->ep.qp) || to_init(l->prev_qp))
		return -1;
	if (describe_endpoint(l, l->ep.qp, &my_next) || describe_endpoint(l, l->prev_qp, &my_prev))
		return -1;
	if (ring_meet_swap(l->cfg.meet, &my_next, &my_prev, &their_next, &their_prev,
			   sizeof(my_next)))
		return -1;
	l->next_address = their_next.address;
	l->next_rkey = their_next.rkey;
	if (to_rts(l->ep.qp, &my_next, &their_next) || to_rts(l->prev_qp, &my_prev, &their_prev))
		return -1;
	return 0;
}

static int post_receive(struct mrc_link *l)
{
	struct ibv_recv_wr wr = {.wr_id = WORK_RECEIVE}, *bad;

	return mrc_post_recv(l->prev_qp, &wr, &bad) ? print_error("post a receive", errno) : 0;
}

static int post_all_receives(struct mrc_link *l)
{
	for (unsigned i = 0; i < 2 * l->cfg.messages_max; i++)
		if (post_receive(l))
			return -1;
	return 0;
}

static int take_receive(struct mrc_link *l, const struct ibv_wc *wc)
{
	uint32_t number = l->received + l->arrived;

	if (wc->opcode != IBV_WC_RECV_RDMA_WITH_IMM || ntohl(wc->imm_data) != number) {
		fprintf(stderr, "ring: message %u from rank %u, where %u was due\n",
			ntohl(wc->imm_data), ring_meet_prev(l->cfg.meet), number);
		return -1;
	}
	l->arrived_size[number % ARRIVED_MAX] = wc->byte_len;
	l->arrived++;
	return post_receive(l);
}

static int take_completion(struct mrc_link *l, const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS) {
		fprintf(stderr, "ring: a message %s rank %u failed: %s\n",
			wc->wr_id == WORK_SEND ? "to" : "from",
			wc->wr_id == WORK_SEND ? ring_meet_next(l->cfg.meet)
					       : ring_meet_prev(l->cfg.meet),
			ibv_wc_status_str(wc->status));
		return -1;
	}
	if (wc->wr_id == WORK_RECEIVE)
		return take_receive(l, wc);
	l->unacknowledged--;
	return 0;
}

/* Takes what is there; *n says how many completions that was. */
static int drain_completions(struct mrc_link *l, unsigned *n)
{
	struct ibv_wc wc[POLL_BATCH];
	int got;

	*n = 0;
	do {
		got = mrc_poll_cq(l->ep.cq, POLL_BATCH, wc);
		if (got < 0)
			return print_error("poll the completion queue", errno);
		for (int i = 0; i < got; i++)
			if (take_completion(l, &wc[i]))
				return -1;
		*n += (unsigned)got;
	} while (got == POLL_BATCH);
	return 0;
}

static int take_event(struct mrc_link *l)
{
	struct mrc_cq *cq;
	void *context;

	if (mrc_get_cq_event(l->ep.channel, &cq, &context) == 0)
		mrc_ack_cq_events(cq, 1);
	else if (errno != EAGAIN && errno != EINTR)
		return print_error("completion event", errno);
	return 0;
}

/* Asks for an event, looks once more (one may have come in before the request), then sleeps. */
static int sleep_for_work(struct mrc_link *l)
{
	struct pollfd p = {.fd = l->channel_fd, .events = POLLIN};
	unsigned n;
	int rc = mrc_req_notify_cq(l->ep.cq, 0);

	if (rc)
		return print_error("request for notification", rc);
	if (drain_completions(l, &n))
		return -1;
	if (n)
		return 0;
	rc = poll(&p, 1, LIVENESS_MS);
	if (rc < 0 && errno != EINTR)
		return print_error("wait for completions", errno);
	if (rc == 0 && ring_meet_broken(l->cfg.meet))
		return -1;
	return rc > 0 ? take_event(l) : 0;
}

/* One round of waiting: returns after at least one look at the queue. */
static int make_progress(struct mrc_link *l)
{
	unsigned n = 0;

	for (unsigned i = 0; i < POLLS_BEFORE_SLEEP; i++) {
		if (drain_completions(l, &n))
			return -1;
		if (n)
			return 0;
	}
	return sleep_for_work(l);
}

static int mrc_send(struct ring_link *link, size_t from, size_t to, size_t bytes)
{
	struct mrc_link *l = from_link(link);
	struct ibv_sge sge = {.addr = (uintptr_t)l->cfg.memory + from,
			      .length = (uint32_t)bytes,
			      .lkey = l->ep.mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = WORK_SEND,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = htonl(l->sent),
		.wr.rdma = {.remote_addr = l->next_address + to, .rkey = l->next_rkey},
	};
	struct ibv_send_wr *bad;
	int rc = mrc_post_send(l->ep.qp, &wr, &bad);

	if (rc)
		return print_error("post a write", rc);
	l->sent++;
	l->unacknowledged++;
	return 0;
}

static int mrc_receive(struct ring_link *link, size_t to, size_t bytes)
{
	struct mrc_link *l = from_link(link);
	uint32_t size;

	(void)to; /* the sender has said where */
	while (!l->arrived)
		if (make_progress(l))
			return -1;
	size = l->arrived_size[l->received % ARRIVED_MAX];
	if (size != bytes) {
		fprintf(stderr, "ring: message %u from rank %u has %u bytes instead of %zu\n",
			l->received, ring_meet_prev(l->cfg.meet), size, bytes);
		return -1;
	}
	l->received++;
	l->arrived--;
	return 0;
}

static int mrc_flush(struct ring_link *link)
{
	struct mrc_link *l = from_link(link);

	while (l->unacknowledged)
		if (make_progress(l))
			return -1;
	return 0;
}

static void mrc_close(struct ring_link *link)
{
	struct mrc_link *l = from_link(link);

	if (l->prev_qp)
		mrc_destroy_qp(l->prev_qp);
	(void)mrc_endpoint_close(&l->ep);
	free(l);
}

struct ring_link *ring_mrc_open(const struct ring_link_cfg *cfg)
{
	static const struct ring_link_ops ops = {
		.send = mrc_send,
		.receive = mrc_receive,
		.flush = mrc_flush,
		.close = mrc_close,
	};
	struct mrc_link *l = calloc(1, sizeof(*l));

	if (!l) {
		fprintf(stderr, "ring: out of memory\n");
		return NULL;
	}
	l->link.ops = &ops;
	l->cfg = *cfg;
	if (open_queue_pairs(l) || connect_queue_pairs(l) || post_all_receives(l)) {
		mrc_close(&l->link);
		return NULL;
	}
	snprintf(l->link.text, sizeof(l->link.text), "MRC on %s, one queue pair a neighbour",
		 ibv_get_device_name(l->ep.device->device));
	return &l->link;
}
