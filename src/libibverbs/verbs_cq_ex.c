/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_cq_ex.c - extended completion queues: made with the fields that a program wants to read of
 * a completion, and read one by one while a poll is open.
 *
 * Every field that a CQ may be asked for is there for each of them, so the functions that read them
 * are set on all. A completion is taken from the NIC whole; a poll holds it until the next one.
 */
#include "libibverbs/libibverbs.h"

#include <endian.h>
#include <time.h>

/* The device knows no VLANs, flow tags and tags of messages. */
#define WC_FLAGS_KNOWN                                                                     \
	((uint64_t)IBV_WC_STANDARD_FLAGS | (uint64_t)IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | \
	 (uint64_t)IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
#define MASK_KNOWN ((uint32_t)IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD)
#define NS_PER_S 1000000000

static struct mv_cq *cq_of_ex(struct ibv_cq_ex *ex)
{
	return (struct mv_cq *)ex;
}

/* ---- polling ---- */

/* ENOENT: there is none. Another number: the CQ has overrun. */
static int poll_one(struct mv_cq *cq)
{
	int got = mh_cq_poll(cq->nic, 1, &cq->now);

	if (got <= 0)
		return got < 0 ? -got : ENOENT;
	iv_wc_from_nic(&cq->now, &cq->wc);
	cq->ex.wr_id = cq->wc.wr_id;
	cq->ex.status = cq->wc.status;
	return 0;
}

static int next_poll(struct ibv_cq_ex *ex)
{
	return poll_one(cq_of_ex(ex));
}

/* From a poll that was begun to its end the completion is that of one thread. */
static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct mv_cq *cq = cq_of_ex(ex);
	int err;

	if (attr && attr->comp_mask)
		return EINVAL;
	if (!cq->single_threaded)
		pthread_mutex_lock(&cq->polling);
	err = poll_one(cq);
	if (err && !cq->single_threaded)
		pthread_mutex_unlock(&cq->polling);
	return err;
}

static void end_poll(struct ibv_cq_ex *ex)
{
	if (!cq_of_ex(ex)->single_threaded)
		pthread_mutex_unlock(&cq_of_ex(ex)->polling);
}

/* ---- fields ---- */

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ex)
{
	return cq_of_ex(ex)->wc.opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *ex)
{
	return cq_of_ex(ex)->wc.vendor_err;
}

static uint32_t read_byte_len(struct ibv_cq_ex *ex)
{
	return cq_of_ex(ex)->wc.byte_len;
}

static __be32 read_imm_data(struct ibv_cq_ex *ex)
{
	return cq_of_ex(ex)->wc.imm_data;
}

static uint32_t read_qp_num(struct ibv_cq_ex *ex)
{
	return cq_of_ex(ex)->wc.qp_num;
}

static uint32_t read_src_qp(struct ibv_cq_ex *ex)
{
	return cq_of_ex(ex)->wc.src_qp;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *ex)
{
	return cq_of_ex(ex)->wc.wc_flags;
}

static uint32_t read_slid(struct ibv_cq_ex *ex)
{
	return cq_of_ex(ex)->wc.slid;
}

static uint8_t read_sl(struct ibv_cq_ex *ex)
{
	return cq_of_ex(ex)->wc.sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *ex)
{
	return cq_of_ex(ex)->wc.dlid_path_bits;
}

/* In ticks of the device's clock, which are ns; ibv_query_rt_values_ex reads the same clock. */
static uint64_t read_completion_ts(struct ibv_cq_ex *ex)
{
	return cq_of_ex(ex)->now.done_ns;
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *ex)
{
	uint64_t age_ns = clock_ns(CLOCK_MONOTONIC) - cq_of_ex(ex)->now.done_ns;

	return clock_ns(CLOCK_REALTIME) - age_ns;
}

/* ---- life ---- */

static void fill_ops(struct ibv_cq_ex *ex)
{
	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_byte_len = read_byte_len;
	ex->read_imm_data = read_imm_data;
	ex->read_qp_num = read_qp_num;
	ex->read_src_qp = read_src_qp;
	ex->read_wc_flags = read_wc_flags;
	ex->read_slid = read_slid;
	ex->read_sl = read_sl;
	ex->read_dlid_path_bits = read_dlid_path_bits;
	ex->read_completion_ts = read_completion_ts;
	ex->read_completion_wallclock_ns = read_completion_wallclock_ns;
}

static int init_check(const struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr)
{
	if (!context || !attr || attr->comp_mask & ~MASK_KNOWN || attr->cqe > INT32_MAX ||
	    attr->comp_vector > INT32_MAX)
		return EINVAL;
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) &&
	    (!attr->parent_domain || attr->parent_domain->context != context))
		return EINVAL;
	if (attr->wc_flags & ~WC_FLAGS_KNOWN)
		return EOPNOTSUPP;
	/* A CQ that overruns fails its QPs; it cannot be told not to. */
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
	    attr->flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
		return EOPNOTSUPP;
	return 0;
}

struct ibv_cq_ex *mv_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	int err = init_check(context, attr);
	struct ibv_cq *ibv;
	struct mv_cq *cq;

	if (err)
		return mv_null(err);
	ibv = ibv_create_cq(context, (int)attr->cqe, attr->cq_context, attr->channel,
			    (int)attr->comp_vector);
	if (!ibv)
		return NULL;
	cq = mv_cq(ibv);
	cq->single_threaded = (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
			      (attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	fill_ops(&cq->ex);
	return &cq->ex;
}
