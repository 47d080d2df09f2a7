/* SPDX-License-Identifier: BSD-2-Clause */
/* device_life.c - see device_life.h: its steps, one after the other, and its end. */
#include "live/device_life.h"

#include <errno.h>
#include <mrc.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BYTES 9000u /* of a message: several packets, the last one not full */
#define WAIT_MS 20000
#define DEPTH 4
#define PSN 0xfffffeu /* wraps around soon */
#define ACCESS ((unsigned int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))

/* What is at a place of a side's memory. */
enum { SENT, RECEIVED, WRITTEN, API_SENT, API_WRITTEN, PLACES };

struct side {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct ibv_mw *mw;
	union ibv_gid gid;
	struct mrc_qp *mrc_qp; /* both on the first device */
	uint8_t bytes[PLACES][BYTES];
};

struct life {
	struct ibv_device **list;
	struct side side[2];
	struct mrc_context *mrc;
	struct mrc_comp_channel *mrc_channel;
	struct mrc_cq *mrc_cq;
};

static struct life the_life; /* its memory is none of the heap */

/* ---- each step returns whether it worked, with errno ---- */

static uint8_t pattern(uint32_t side, uint32_t place, uint32_t at)
{
	return (uint8_t)(at * 7 + at / 251 + side * 101 + place * 31 + 1);
}

static bool create_objects_of(struct life *l, uint32_t i)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = DEPTH, .max_sge = 1}};
	struct side *s = &l->side[i];

	memset(s->bytes, 0, sizeof(s->bytes));
	for (uint32_t at = 0; at < BYTES; at++) {
		s->bytes[SENT][at] = pattern(i, SENT, at);
		s->bytes[API_SENT][at] = pattern(i, API_SENT, at);
	}
	return (s->pd = ibv_alloc_pd(s->ctx)) &&
	       (s->mr = ibv_reg_mr(s->pd, s->bytes, sizeof(s->bytes), (int)ACCESS)) &&
	       (s->channel = ibv_create_comp_channel(s->ctx)) &&
	       (s->cq = ibv_create_cq(s->ctx, 4 * DEPTH, NULL, s->channel, 0)) &&
	       (s->srq = ibv_create_srq(s->pd, &srq)) &&
	       (s->mw = ibv_alloc_mw(s->pd, IBV_MW_TYPE_1)) &&
	       ibv_query_gid(s->ctx, 1, 0, &s->gid) == 0;
}

static bool open_devices(struct life *l)
{
	int n;

	l->list = ibv_get_device_list(&n);
	if (l->list && n != 2)
		errno = 0;
	return l->list && n == 2 && (l->side[0].ctx = ibv_open_device(l->list[0])) &&
	       (l->side[1].ctx = ibv_open_device(l->list[1]));
}

static bool create_objects(struct life *l)
{
	return create_objects_of(l, 0) && create_objects_of(l, 1);
}

static bool create_qps(struct life *l)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct side *s = &l->side[i];
		struct ibv_ah_attr ah = {.is_global = 1, .port_num = 1};
		struct ibv_qp_init_attr init = {
			.send_cq = s->cq,
			.recv_cq = s->cq,
			.srq = s->srq,
			.cap = {.max_send_wr = DEPTH, .max_send_sge = 1, .max_inline_data = 16},
			.qp_type = IBV_QPT_RC,
			.sq_sig_all = 1};

		ah.grh.dgid = l->side[!i].gid;
		if (!(s->qp = ibv_create_qp(s->pd, &init)) || !(s->ah = ibv_create_ah(s->pd, &ah)))
			return false;
	}
	return true;
}

static bool modified(int err)
{
	if (err)
		errno = err;
	return err == 0;
}

static bool connect_qp(struct life *l, uint32_t i)
{
	struct ibv_qp *qp = l->side[i].qp;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = ACCESS,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = l->side[!i].qp->qp_num,
		.rq_psn = PSN,
		.sq_psn = PSN,
		.min_rnr_timer = 1,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = l->side[!i].gid}},
		.timeout = 17, /* half a second, on a machine that may be busy */
		.retry_cnt = 2,
		.rnr_retry = 7,
	};

	if (!modified(ibv_modify_qp(qp, &attr,
				    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					    IBV_QP_ACCESS_FLAGS)))
		return false;
	attr.qp_state = IBV_QPS_RTR;
	if (!modified(ibv_modify_qp(qp, &attr,
				    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					    IBV_QP_MIN_RNR_TIMER)))
		return false;
	attr.qp_state = IBV_QPS_RTS;
	return modified(ibv_modify_qp(qp, &attr,
				      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					      IBV_QP_MAX_QP_RD_ATOMIC));
}

static bool connect_qps(struct life *l)
{
	return connect_qp(l, 0) && connect_qp(l, 1);
}

static struct ibv_sge place(struct life *l, uint32_t i, uint32_t at)
{
	return (struct ibv_sge){(uintptr_t)l->side[i].bytes[at], BYTES, l->side[i].mr->lkey};
}

static bool post(struct life *l, uint32_t i)
{
	struct side *s = &l->side[i];
	struct ibv_sge to = place(l, i, RECEIVED), from = place(l, i, SENT);
	struct ibv_recv_wr recv = {.sg_list = &to, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr send = {.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
	struct ibv_send_wr write = send;

	write.opcode = IBV_WR_RDMA_WRITE;
	write.wr.rdma.remote_addr = (uintptr_t)l->side[!i].bytes[WRITTEN];
	write.wr.rdma.rkey = l->side[!i].mr->rkey;
	send.next = &write;
	return modified(ibv_post_srq_recv(s->srq, &recv, &bad_recv)) &&
	       modified(ibv_post_send(s->qp, &send, &bad));
}

/* An error completion is a refusal like any other; it has no errno. */
static bool completed(enum ibv_wc_status status)
{
	if (status != IBV_WC_SUCCESS)
		errno = EIO;
	return status == IBV_WC_SUCCESS;
}

static bool nothing_for_long(void)
{
	errno = ETIMEDOUT;
	return false;
}

/* Takes the completions that there are, and what the channel said of them. */
static bool take(struct side *s, uint32_t *done)
{
	struct pollfd p = {s->channel->fd, POLLIN, 0};
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *user;

	while (poll(&p, 1, 0) == 1) {
		if (ibv_get_cq_event(s->channel, &cq, &user) != 0)
			return false;
		ibv_ack_cq_events(cq, 1);
	}
	if (!modified(ibv_req_notify_cq(s->cq, 0)))
		return false;
	while (ibv_poll_cq(s->cq, 1, &wc) == 1) {
		if (!completed(wc.status))
			return false;
		++*done;
	}
	return true;
}

/* Each side has one receive, one send and one write. */
static bool send_and_write(struct life *l)
{
	struct pollfd p[2] = {{l->side[0].channel->fd, POLLIN, 0},
			      {l->side[1].channel->fd, POLLIN, 0}};
	uint32_t done[2] = {0, 0};

	if (!post(l, 0) || !post(l, 1))
		return false;
	for (;;) {
		if (!take(&l->side[0], &done[0]) || !take(&l->side[1], &done[1]))
			return false;
		if (done[0] == 3 && done[1] == 3)
			return true;
		if (poll(p, 2, WAIT_MS) == 0)
			return nothing_for_long();
	}
}

static bool create_api_qps(struct life *l)
{
	struct mrc_qp_init_attr init = {
		.cap = {.max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 1}};

	if (!(l->mrc = mrc_create_context(l->side[0].ctx, NULL)) ||
	    mrc_create_comp_channel(l->mrc, &l->mrc_channel) != 0 ||
	    !(l->mrc_cq = mrc_create_cq(l->mrc, 4 * DEPTH, NULL, l->mrc_channel, 0)))
		return false;
	init.send_cq = init.recv_cq = l->mrc_cq;
	init.pd = l->side[0].pd;
	return (l->side[0].mrc_qp = mrc_create_qp(l->mrc, &init)) &&
	       (l->side[1].mrc_qp = mrc_create_qp(l->mrc, &init));
}

static bool connect_api_qp(struct life *l, uint32_t i)
{
	struct mrc_qp_attr own = {.timeout = 19, .retry = {.linear_cnt = 2}};
	struct mrc_qp *qp = l->side[i].mrc_qp;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};

	if (!modified(mrc_modify_qp(qp, &attr, IBV_QP_STATE, NULL, 0)))
		return false;
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.ah_attr = {.is_global = 1, .grh = {.dgid = l->side[0].gid}},
		.rq_psn = PSN,
		.path_mtu = IBV_MTU_1024,
	};
	mrc_get_qpn(l->side[!i].mrc_qp, &attr.dest_qp_num);
	if (!modified(mrc_modify_qp(qp, &attr,
				    IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					    IBV_QP_PATH_MTU,
				    NULL, 0)))
		return false;
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .sq_psn = PSN};
	return modified(mrc_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN, &own,
				      MRC_QP_TIMEOUT | MRC_QP_RETRY_CNT));
}

/* Within one device; the places are of the first side's region. */
static bool write_by_api(struct life *l)
{
	struct timespec start, now;
	uint32_t done = 0;

	if (!connect_api_qp(l, 0) || !connect_api_qp(l, 1))
		return false;
	for (uint32_t i = 0; i < 2; i++) {
		struct ibv_sge from = place(l, 0, i == 0 ? SENT : API_SENT);
		struct ibv_send_wr wr = {.sg_list = &from,
					 .num_sge = 1,
					 .opcode = IBV_WR_RDMA_WRITE,
					 .send_flags = IBV_SEND_SIGNALED},
				   *bad;

		wr.wr.rdma.remote_addr = (uintptr_t)l->side[0].bytes[API_WRITTEN] + i;
		wr.wr.rdma.rkey = l->side[0].mr->rkey;
		from.length = BYTES - i;
		if (!modified(mrc_post_send(l->side[i].mrc_qp, &wr, &bad)))
			return false;
		clock_gettime(CLOCK_MONOTONIC, &start);
		for (now = start; done == i; clock_gettime(CLOCK_MONOTONIC, &now)) {
			struct ibv_wc wc;

			if (mrc_poll_cq(l->mrc_cq, 1, &wc) == 1) {
				if (!completed(wc.status))
					return false;
				done++;
			} else if (poll(NULL, 0, 1) == 0 &&
				   now.tv_sec > start.tv_sec + WAIT_MS / 1000) {
				return nothing_for_long();
			}
		}
	}
	return true;
}

static bool bytes_are_right(struct life *l)
{
	errno = EBADMSG;
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t at = 0; at < BYTES; at++)
			if (l->side[i].bytes[RECEIVED][at] != pattern(!i, SENT, at) ||
			    l->side[i].bytes[WRITTEN][at] != pattern(!i, SENT, at))
				return false;
	if (l->side[0].bytes[API_WRITTEN][0] != pattern(0, SENT, 0))
		return false;
	for (uint32_t at = 1; at < BYTES; at++)
		if (l->side[0].bytes[API_WRITTEN][at] != pattern(0, API_SENT, at - 1))
			return false;
	return true;
}

static const struct {
	const char *what;
	bool (*run)(struct life *l);
} steps[] = {
	{DEVICE_LIFE_OPENING, open_devices},
	{"creating objects", create_objects},
	{"creating QPs", create_qps},
	{"connecting QPs", connect_qps},
	{"sending and writing", send_and_write},
	{"creating QPs of the API", create_api_qps},
	{"writing by the API", write_by_api},
	{"the bytes", bytes_are_right},
};

/* ---- its end: closing cannot be refused ---- */

#define must(cond) ((cond) ? (void)0 : fail_here(__LINE__, #cond))

_Noreturn static void fail_here(int line, const char *what)
{
	fprintf(stderr, "# device_life.c:%d: %s (errno %d)\n", line, what, errno);
	_exit(1);
}

static void close_side(struct side *s)
{
	must(!s->ah || ibv_destroy_ah(s->ah) == 0);
	must(!s->qp || ibv_destroy_qp(s->qp) == 0);
	must(!s->mw || ibv_dealloc_mw(s->mw) == 0);
	must(!s->srq || ibv_destroy_srq(s->srq) == 0);
	must(!s->cq || ibv_destroy_cq(s->cq) == 0);
	must(!s->channel || ibv_destroy_comp_channel(s->channel) == 0);
	must(!s->mr || ibv_dereg_mr(s->mr) == 0);
	must(!s->pd || ibv_dealloc_pd(s->pd) == 0);
	must(!s->ctx || ibv_close_device(s->ctx) == 0);
}

static void close_life(struct life *l)
{
	for (uint32_t i = 0; i < 2; i++)
		must(!l->side[i].mrc_qp || mrc_destroy_qp(l->side[i].mrc_qp) == 0);
	must(!l->mrc_cq || mrc_destroy_cq(l->mrc_cq) == 0);
	must(!l->mrc_channel || mrc_destroy_comp_channel(l->mrc_channel) == 0);
	must(!l->mrc || mrc_destroy_context(l->mrc) == 0);
	close_side(&l->side[0]);
	close_side(&l->side[1]);
	if (l->list)
		ibv_free_device_list(l->list);
}

const char *device_life_run(void)
{
	struct life *l = &the_life;
	const char *refused = NULL;
	int error = 0;

	memset(l, 0, sizeof(*l));
	for (uint32_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !refused; i++) {
		errno = 0;
		if (!steps[i].run(l)) {
			error = errno;
			refused = steps[i].what;
		}
	}
	close_life(l);
	errno = error;
	return refused;
}
