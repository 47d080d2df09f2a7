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
	if (mv_is_inherited(cq->ibv.context))
		return ENODEV;
	if (!cq->single_threaded)
		pthread_mutex_lock(&cq->polling);
	err = poll_one(cq);
	if (err && !cq->single_threaded)
		pthread_mutex_unlock(&cq->polling);
	return err;
}

/* A poll that was begun before a fork goes on in both processes; the child's lock is let be. */
static void end_poll(struct ibv_cq_ex *ex)
{
	if (!cq_of_ex(ex)->single_threaded && !mv_is_inherited(ex->context))
		pthread_mutex_unlock(&cq_of_ex(ex)->polling);
}

/* ---- fields ---- */

/* Those that struct ibv_wc has under the same name. */
#define WC_FIELDS(X)                  \
	X(enum ibv_wc_opcode, opcode) \
	X(uint32_t, vendor_err)       \
	X(uint32_t, byte_len)         \
	X(__be32, imm_data)           \
	X(uint32_t, qp_num)           \
	X(uint32_t, src_qp)           \
	X(unsigned int, wc_flags)     \
	X(uint32_t, slid)             \
	X(uint8_t, sl)                \
	X(uint8_t, dlid_path_bits)
#define READ_FIELD(type, field)                        \
	static type read_##field(struct ibv_cq_ex *ex) \
	{                                              \
		return cq_of_ex(ex)->wc.field;         \
	}
WC_FIELDS(READ_FIELD)

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
#define SET_READER(type, field) ex->read_##field = read_##field;
	WC_FIELDS(SET_READER)
#undef SET_READER
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
	/* A CQ that overruns fails its QPs; that cannot be switched off. */
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
		return iv_null(err);
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
