/* SPDX-License-Identifier: BSD-2-Clause */
/* cq.c - completion queues: create, poll, request notification, destroy. */
#include "verbs/verbs.h"

#include <endian.h>
#include <stdlib.h>

/* Completions are translated in small batches, so that polling needs no memory of its own. */
#define POLL_BATCH 32u
/* The device has one completion vector. */
#define COMP_VECTOR 0

/* Under the context's mutex: programs read how many CQs use a channel. */
static void channel_count(struct ibv_comp_channel *channel, int by)
{
	if (!channel)
		return;
	pthread_mutex_lock(&channel->context->mutex);
	channel->refcnt += by;
	pthread_mutex_unlock(&channel->context->mutex);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	struct mv_cq *cq;
	int err;

	if (!context || cqe < 1 || comp_vector != COMP_VECTOR ||
	    (channel && channel->context != context))
		return mv_null(EINVAL);
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return mv_null(ENOMEM);
	err = mh_cq_create(mv_context(context)->nic, (uint32_t)cqe,
			   channel ? mv_channel(channel)->nic : NULL, &cq->ibv, &cq->nic);
	if (err) {
		free(cq);
		return mv_null(err);
	}
	cq->ibv.context = context;
	cq->ibv.channel = channel;
	cq->ibv.cq_context = cq_context;
	cq->ibv.cqe = (int)mh_cq_size(cq->nic);
	pthread_mutex_init(&cq->ibv.mutex, NULL);
	pthread_cond_init(&cq->ibv.cond, NULL);
	channel_count(channel, 1);
	return &cq->ibv;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	int err;

	if (!cq)
		return EINVAL;
	err = mh_cq_destroy(mv_cq(cq)->nic);
	if (err)
		return err;
	channel_count(cq->channel, -1);
	pthread_cond_destroy(&cq->cond);
	pthread_mutex_destroy(&cq->mutex);
	free(mv_cq(cq));
	return 0;
}

static enum ibv_wc_status wc_status(enum mh_wc_status status)
{
	switch (status) {
	case MH_WC_SUCCESS:
		return IBV_WC_SUCCESS;
	case MH_WC_LOC_PROT_ERR:
		return IBV_WC_LOC_PROT_ERR;
	case MH_WC_WR_FLUSH_ERR:
		return IBV_WC_WR_FLUSH_ERR;
	case MH_WC_REM_INV_REQ_ERR:
		return IBV_WC_REM_INV_REQ_ERR;
	case MH_WC_REM_ACCESS_ERR:
		return IBV_WC_REM_ACCESS_ERR;
	case MH_WC_REM_OP_ERR:
		return IBV_WC_REM_OP_ERR;
	case MH_WC_RETRY_EXC_ERR:
		return IBV_WC_RETRY_EXC_ERR;
	case MH_WC_FATAL_ERR:
		return IBV_WC_FATAL_ERR;
	case MH_WC_LOC_LEN_ERR:
		return IBV_WC_LOC_LEN_ERR;
	case MH_WC_RNR_RETRY_EXC_ERR:
		return IBV_WC_RNR_RETRY_EXC_ERR;
	}
	return IBV_WC_GENERAL_ERR;
}

static enum ibv_wc_opcode wc_opcode(enum mh_wc_opcode opcode)
{
	switch (opcode) {
	case MH_WC_RECV_IMM:
		return IBV_WC_RECV_RDMA_WITH_IMM;
	case MH_WC_RECV:
		return IBV_WC_RECV;
	case MH_WC_SEND:
		return IBV_WC_SEND;
	case MH_WC_WRITE:
	case MH_WC_WRITE_IMM:
		break;
	}
	return IBV_WC_RDMA_WRITE;
}

static void wc_from_nic(const struct mh_wc *nic, struct ibv_wc *wc)
{
	bool imm = (nic->flags & MH_WC_WITH_IMM) != 0;

	*wc = (struct ibv_wc){
		.wr_id = nic->wr_id,
		.status = wc_status(nic->status),
		.opcode = wc_opcode(nic->opcode),
		.byte_len = nic->byte_len,
		.imm_data = imm ? htobe32(nic->imm) : 0,
		.qp_num = nic->qpn,
		.wc_flags = imm ? IBV_WC_WITH_IMM : 0,
	};
}

int mv_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	struct mh_wc batch[POLL_BATCH];
	int done = 0;

	while (done < num_entries) {
		uint32_t want = (uint32_t)(num_entries - done);
		int got;

		if (want > POLL_BATCH)
			want = POLL_BATCH;
		got = mh_cq_poll(mv_cq(cq)->nic, want, batch);
		if (got < 0)
			return done ? done : got;
		for (int i = 0; i < got; i++)
			wc_from_nic(&batch[i], &wc[done++]);
		if ((uint32_t)got < want)
			break;
	}
	return done;
}

int mv_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	mh_cq_req_notify(mv_cq(cq)->nic, solicited_only != 0);
	return 0;
}
