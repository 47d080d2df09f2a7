/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_qp_ex.c - extended QPs, whose work requests are built by calls: wr_start, for each WR one
 * call that says what it does and one or two that say of which memory, wr_complete.
 *
 * The calls write a chain of ordinary WRs, in memory that the QP has for as many as its send queue;
 * wr_complete posts all of it or, when one of the calls was wrong or there is no room, nothing.
 * What the QP was not made for is refused there, whichever function a program calls.
 */
#include "libibverbs/real_library.h"

#include <stdlib.h>
#include <string.h>

#define OPS_SEND ((uint64_t)IBV_QP_EX_WITH_SEND | (uint64_t)IBV_QP_EX_WITH_SEND_WITH_IMM)
#define OPS_RC_SEND ((uint64_t)IBV_QP_EX_WITH_SEND_WITH_INV)
#define OPS_WRITE \
	((uint64_t)IBV_QP_EX_WITH_RDMA_WRITE | (uint64_t)IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
#define OPS_FETCH                                                                           \
	((uint64_t)IBV_QP_EX_WITH_RDMA_READ | (uint64_t)IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | \
	 (uint64_t)IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | (uint64_t)IBV_QP_EX_WITH_ATOMIC_WRITE)
/* Those of other devices. */
#define OPS_ABSENT ((uint64_t)IBV_QP_EX_WITH_TSO)
/* Of memory windows, and all that an RC QP can have. */
#define OPS_LOCAL ((uint64_t)IBV_QP_EX_WITH_LOCAL_INV | (uint64_t)IBV_QP_EX_WITH_BIND_MW)
#define OPS_RC (OPS_SEND | OPS_RC_SEND | OPS_WRITE | OPS_FETCH | OPS_LOCAL)
#define ATTR_KNOWN (((uint32_t)IBV_QP_INIT_ATTR_SEND_OPS_FLAGS << 1) - 1)
#define ATTR_ABSENT \
	((uint32_t)IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH)

/* Between wr_start and wr_complete of one thread. */
struct mv_batch {
	pthread_mutex_t lock;
	uint64_t ops; /* enum ibv_qp_create_send_ops_flags */
	struct ibv_send_wr *wrs;
	struct ibv_sge *sges; /* max_sge for each */
	uint8_t *bytes;	      /* max_inline for each */
	uint32_t depth, max_sge, max_inline;
	uint32_t n;
	int err; /* of the first call that was wrong */
};

static struct mv_batch *batch_of(struct ibv_qp_ex *ex)
{
	return ((struct mv_qp *)ex)->batch;
}

/* ---- what a WR does ---- */

/* Begins a WR; NULL: the batch has failed already, or does now. */
static struct ibv_send_wr *begin_wr(struct ibv_qp_ex *ex, uint64_t op, enum ibv_wr_opcode opcode)
{
	struct mv_batch *b = batch_of(ex);
	struct ibv_send_wr *wr;

	if (!b->err && !(b->ops & op))
		b->err = EINVAL;
	if (!b->err && b->n == b->depth)
		b->err = ENOMEM;
	if (b->err)
		return NULL;
	wr = &b->wrs[b->n++];
	*wr = (struct ibv_send_wr){
		.wr_id = ex->wr_id, .opcode = opcode, .send_flags = ex->wr_flags};
	return wr;
}

static void begin_remote_wr(struct ibv_qp_ex *ex, uint64_t op, enum ibv_wr_opcode opcode,
			    uint32_t rkey, uint64_t remote_addr, __be32 imm)
{
	struct ibv_send_wr *wr = begin_wr(ex, op, opcode);

	if (!wr)
		return;
	wr->wr.rdma.rkey = rkey;
	wr->wr.rdma.remote_addr = remote_addr;
	wr->imm_data = imm;
}

static void begin_atomic_wr(struct ibv_qp_ex *ex, uint64_t op, enum ibv_wr_opcode opcode,
			    uint32_t rkey, uint64_t remote_addr, uint64_t compare_add,
			    uint64_t swap)
{
	struct ibv_send_wr *wr = begin_wr(ex, op, opcode);

	if (!wr)
		return;
	wr->wr.atomic.rkey = rkey;
	wr->wr.atomic.remote_addr = remote_addr;
	wr->wr.atomic.compare_add = compare_add;
	wr->wr.atomic.swap = swap;
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
			      uint64_t compare, uint64_t swap)
{
	begin_atomic_wr(ex, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_CMP_AND_SWP, rkey,
			remote_addr, compare, swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
				uint64_t add)
{
	begin_atomic_wr(ex, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey,
			remote_addr, add, 0);
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	begin_remote_wr(ex, IBV_QP_EX_WITH_RDMA_READ, IBV_WR_RDMA_READ, rkey, remote_addr, 0);
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	begin_remote_wr(ex, IBV_QP_EX_WITH_RDMA_WRITE, IBV_WR_RDMA_WRITE, rkey, remote_addr, 0);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
			      __be32 imm_data)
{
	begin_remote_wr(ex, IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM, rkey,
			remote_addr, imm_data);
}

static void wr_send(struct ibv_qp_ex *ex)
{
	begin_wr(ex, IBV_QP_EX_WITH_SEND, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm_data)
{
	struct ibv_send_wr *wr = begin_wr(ex, IBV_QP_EX_WITH_SEND_WITH_IMM, IBV_WR_SEND_WITH_IMM);

	if (wr)
		wr->imm_data = imm_data;
}

static void wr_send_inv(struct ibv_qp_ex *ex, uint32_t invalidate_rkey)
{
	struct ibv_send_wr *wr = begin_wr(ex, IBV_QP_EX_WITH_SEND_WITH_INV, IBV_WR_SEND_WITH_INV);

	if (wr)
		wr->invalidate_rkey = invalidate_rkey;
}

static void wr_local_inv(struct ibv_qp_ex *ex, uint32_t invalidate_rkey)
{
	struct ibv_send_wr *wr = begin_wr(ex, IBV_QP_EX_WITH_LOCAL_INV, IBV_WR_LOCAL_INV);

	if (wr)
		wr->invalidate_rkey = invalidate_rkey;
}

static void wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *bind_info)
{
	struct ibv_send_wr *wr = begin_wr(ex, IBV_QP_EX_WITH_BIND_MW, IBV_WR_BIND_MW);

	if (!wr)
		return;
	wr->bind_mw.mw = mw;
	wr->bind_mw.rkey = rkey;
	wr->bind_mw.bind_info = *bind_info;
}

/* ---- what the device has not ---- */

static void fail_batch(struct ibv_qp_ex *ex, int err)
{
	if (!batch_of(ex)->err)
		batch_of(ex)->err = err;
}

static void wr_send_tso(struct ibv_qp_ex *ex, void *hdr, uint16_t hdr_sz, uint16_t mss)
{
	(void)hdr, (void)hdr_sz, (void)mss;
	fail_batch(ex, EOPNOTSUPP);
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *ex, uint32_t remote_srqn)
{
	(void)remote_srqn;
	fail_batch(ex, EOPNOTSUPP);
}

/* ---- of which memory, and to whom ---- */

/* The WR that was begun last; NULL: there is none, or the batch has failed. */
static struct ibv_send_wr *current_wr(struct mv_batch *b)
{
	if (!b->err && b->n == 0)
		b->err = EINVAL;
	return b->err ? NULL : &b->wrs[b->n - 1];
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t num_sge, const struct ibv_sge *sg_list)
{
	struct mv_batch *b = batch_of(ex);
	struct ibv_send_wr *wr = current_wr(b);

	if (wr && num_sge > b->max_sge)
		b->err = EINVAL;
	if (b->err)
		return;
	wr->sg_list = &b->sges[(size_t)(b->n - 1) * b->max_sge];
	wr->num_sge = (int)num_sge;
	if (num_sge)
		memcpy(wr->sg_list, sg_list, num_sge * sizeof(*sg_list));
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};

	wr_set_sge_list(ex, 1, &sge);
}

/* The program may change the bytes as soon as the call returns. */
static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t num_buf,
				    const struct ibv_data_buf *buf_list)
{
	struct mv_batch *b = batch_of(ex);
	struct ibv_send_wr *wr = current_wr(b);
	size_t bytes = 0;
	uint8_t *to;

	if (!wr)
		return;
	to = b->bytes + (size_t)(b->n - 1) * b->max_inline;
	for (size_t i = 0; i < num_buf; i++) {
		if (buf_list[i].length > b->max_inline - bytes) {
			b->err = EINVAL;
			return;
		}
		if (buf_list[i].length)
			memcpy(to + bytes, buf_list[i].addr, buf_list[i].length);
		bytes += buf_list[i].length;
	}
	wr->send_flags |= IBV_SEND_INLINE;
	wr_set_sge(ex, 0, (uintptr_t)to, (uint32_t)bytes);
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct ibv_data_buf buf = {.addr = addr, .length = length};

	wr_set_inline_data_list(ex, 1, &buf);
}

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t remote_qpn,
			   uint32_t remote_qkey)
{
	struct ibv_send_wr *wr = current_wr(batch_of(ex));

	if (!wr)
		return;
	wr->wr.ud.ah = ah;
	wr->wr.ud.remote_qpn = remote_qpn;
	wr->wr.ud.remote_qkey = remote_qkey;
}

/* Its bytes are those of the call. */
static void wr_atomic_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
			    const void *atomic_wr)
{
	begin_remote_wr(ex, IBV_QP_EX_WITH_ATOMIC_WRITE, IBV_WR_ATOMIC_WRITE, rkey, remote_addr, 0);
	if (!batch_of(ex)->err)
		wr_set_inline_data(ex, (void *)(uintptr_t)atomic_wr, sizeof(uint64_t));
}

/* ---- the batch ---- */

static bool is_inherited(const struct ibv_qp_ex *ex)
{
	return mv_is_inherited(ex->qp_base.context);
}

/* A forked child has the batch without the lock. */
static void wr_start(struct ibv_qp_ex *ex)
{
	struct mv_batch *b = batch_of(ex);
	bool inherited = is_inherited(ex);

	if (!inherited)
		pthread_mutex_lock(&b->lock);
	b->n = 0;
	b->err = inherited ? ENODEV : 0;
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct mv_batch *b = batch_of(ex);
	struct mv_qp *qp = (struct mv_qp *)ex;
	struct ibv_send_wr *bad;
	int err = b->err;

	if (is_inherited(ex))
		return ENODEV;
	for (uint32_t i = 0; i + 1 < b->n; i++)
		b->wrs[i].next = &b->wrs[i + 1];
	if (!err && b->n > mh_qp_send_wrs_free(qp->nic))
		err = ENOMEM;
	if (!err && b->n)
		err = mv_post_send(&qp->ibv, b->wrs, &bad);
	pthread_mutex_unlock(&b->lock);
	return err;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	if (!is_inherited(ex))
		pthread_mutex_unlock(&batch_of(ex)->lock);
}

/* ---- life ---- */

static void fill_ops(struct ibv_qp_ex *ex)
{
	ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
	ex->wr_bind_mw = wr_bind_mw;
	ex->wr_local_inv = wr_local_inv;
	ex->wr_rdma_read = wr_rdma_read;
	ex->wr_rdma_write = wr_rdma_write;
	ex->wr_rdma_write_imm = wr_rdma_write_imm;
	ex->wr_send = wr_send;
	ex->wr_send_imm = wr_send_imm;
	ex->wr_send_inv = wr_send_inv;
	ex->wr_send_tso = wr_send_tso;
	ex->wr_set_ud_addr = wr_set_ud_addr;
	ex->wr_set_xrc_srqn = wr_set_xrc_srqn;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	ex->wr_atomic_write = wr_atomic_write;
}

static void batch_free(struct mv_batch *b)
{
	pthread_mutex_destroy(&b->lock);
	free(b->wrs);
	free(b->sges);
	free(b->bytes);
	free(b);
}

void mv_qp_ex_end(struct mv_qp *qp)
{
	if (qp->batch)
		batch_free(qp->batch);
}

static int batch_make(struct mv_qp *qp, uint64_t ops)
{
	struct mv_batch *b = calloc(1, sizeof(*b));

	if (!b)
		return ENOMEM;
	pthread_mutex_init(&b->lock, NULL);
	b->ops = ops;
	b->depth = qp->cap.max_send_wr;
	b->max_sge = qp->cap.max_send_sge;
	b->max_inline = qp->cap.max_inline_data;
	b->wrs = calloc(b->depth, sizeof(*b->wrs));
	b->sges = calloc((size_t)b->depth * b->max_sge, sizeof(*b->sges));
	b->bytes = calloc(b->depth, b->max_inline ? b->max_inline : 1);
	if (!b->wrs || !b->sges || !b->bytes) {
		batch_free(b);
		return ENOMEM;
	}
	qp->batch = b;
	fill_ops(&qp->ex);
	return 0;
}

/* Of the operations those that a QP of this type can have on this device. */
static int ops_check(const struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr)
{
	uint64_t may = attr->qp_type == IBV_QPT_RC ? OPS_RC : OPS_SEND;
	uint64_t ops = attr->send_ops_flags;
	struct ibv_device_attr dev;

	if (ops & ~(OPS_RC | OPS_ABSENT))
		return EINVAL;
	if (ops & ~may)
		return EOPNOTSUPP;
	if (ibv_query_device((struct ibv_context *)(uintptr_t)context, &dev))
		return EINVAL;
	return (ops & OPS_FETCH) && dev.max_qp_rd_atom == 0 ? EOPNOTSUPP : 0;
}

static int init_check(const struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr)
{
	uint32_t mask = attr->comp_mask;

	if (mask & ~ATTR_KNOWN)
		return EINVAL;
	if (mask & ATTR_ABSENT || (mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && attr->create_flags) ||
	    (mask & IBV_QP_INIT_ATTR_MAX_TSO_HEADER && attr->max_tso_header))
		return EOPNOTSUPP;
	if (!(mask & IBV_QP_INIT_ATTR_PD) || !attr->pd || attr->pd->context != context)
		return EINVAL;
	return mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS ? ops_check(context, attr) : 0;
}

struct ibv_qp *mv_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	int err = context && attr ? init_check(context, attr) : EINVAL;
	struct ibv_qp *qp;

	if (err)
		return iv_null(err);
	/* The bytes of an atomic write travel with the call, whatever was asked for. */
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS &&
	    attr->send_ops_flags & IBV_QP_EX_WITH_ATOMIC_WRITE &&
	    attr->cap.max_inline_data < sizeof(uint64_t))
		attr->cap.max_inline_data = sizeof(uint64_t);
	/* It begins as the other, and its capabilities are written back in the same way. */
	qp = ibv_create_qp(attr->pd, (struct ibv_qp_init_attr *)attr);
	if (!qp || !(attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return qp;
	err = batch_make(mv_qp(qp), attr->send_ops_flags);
	if (!err)
		return qp;
	ibv_destroy_qp(qp);
	return iv_null(err);
}

/* Only QPs that were made with a list of operations have the calls that build WRs. */
struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	MV_TO_REAL(mv_real_of(qp), ibv_qp_to_qp_ex, (qp));
	return qp && mv_qp(qp)->batch ? &mv_qp(qp)->ex : NULL;
}
