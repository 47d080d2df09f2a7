/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * marshal.c - attributes between verbs' structures and those in which the kernel's connection
 * manager tells them. For librdmacm, which looks for these functions when it is loaded.
 */
#include "libibverbs/libibverbs.h"

#include <infiniband/sa.h>
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>

void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *dst, struct ib_uverbs_ah_attr *src);
void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *dst, struct ib_uverbs_qp_attr *src);
void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *dst, struct ib_user_path_rec *src);
void ibv_copy_path_rec_to_kern(struct ib_user_path_rec *dst, struct ibv_sa_path_rec *src);

void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *dst, struct ib_uverbs_ah_attr *src)
{
	*dst = (struct ibv_ah_attr){
		.grh = {.flow_label = src->grh.flow_label,
			.sgid_index = src->grh.sgid_index,
			.hop_limit = src->grh.hop_limit,
			.traffic_class = src->grh.traffic_class},
		.dlid = src->dlid,
		.sl = src->sl,
		.src_path_bits = src->src_path_bits,
		.static_rate = src->static_rate,
		.is_global = src->is_global,
		.port_num = src->port_num,
	};
	memcpy(dst->grh.dgid.raw, src->grh.dgid, sizeof(dst->grh.dgid.raw));
}

void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *dst, struct ib_uverbs_qp_attr *src)
{
	*dst = (struct ibv_qp_attr){
		.cur_qp_state = src->cur_qp_state,
		.path_mtu = src->path_mtu,
		.path_mig_state = src->path_mig_state,
		.qkey = src->qkey,
		.rq_psn = src->rq_psn,
		.sq_psn = src->sq_psn,
		.dest_qp_num = src->dest_qp_num,
		.qp_access_flags = src->qp_access_flags,
		.cap = {.max_send_wr = src->max_send_wr,
			.max_recv_wr = src->max_recv_wr,
			.max_send_sge = src->max_send_sge,
			.max_recv_sge = src->max_recv_sge,
			.max_inline_data = src->max_inline_data},
		.pkey_index = src->pkey_index,
		.alt_pkey_index = src->alt_pkey_index,
		.en_sqd_async_notify = src->en_sqd_async_notify,
		.sq_draining = src->sq_draining,
		.max_rd_atomic = src->max_rd_atomic,
		.max_dest_rd_atomic = src->max_dest_rd_atomic,
		.min_rnr_timer = src->min_rnr_timer,
		.port_num = src->port_num,
		.timeout = src->timeout,
		.retry_cnt = src->retry_cnt,
		.rnr_retry = src->rnr_retry,
		.alt_port_num = src->alt_port_num,
		.alt_timeout = src->alt_timeout,
		.qp_state = src->qp_state,
	};
	ibv_copy_ah_attr_from_kern(&dst->ah_attr, &src->ah_attr);
	ibv_copy_ah_attr_from_kern(&dst->alt_ah_attr, &src->alt_ah_attr);
}

/* The fields that both records have under the same name, in types that differ here and there. */
/* clang-format off */
#define PATH_FIELDS(X)                                                               \
	X(dlid) X(slid) X(raw_traffic) X(flow_label) X(reversible) X(mtu) X(pkey)    \
	X(hop_limit) X(traffic_class) X(numb_path) X(sl) X(mtu_selector)             \
	X(rate_selector) X(rate) X(packet_life_time_selector) X(packet_life_time)    \
	X(preference)
/* clang-format on */
#define COPY(field) .field = (__typeof__(dst->field))src->field,

void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *dst, struct ib_user_path_rec *src)
{
	*dst = (struct ibv_sa_path_rec){PATH_FIELDS(COPY)};
	memcpy(dst->dgid.raw, src->dgid, sizeof(dst->dgid.raw));
	memcpy(dst->sgid.raw, src->sgid, sizeof(dst->sgid.raw));
}

void ibv_copy_path_rec_to_kern(struct ib_user_path_rec *dst, struct ibv_sa_path_rec *src)
{
	*dst = (struct ib_user_path_rec){PATH_FIELDS(COPY)};
	memcpy(dst->dgid, src->dgid.raw, sizeof(dst->dgid));
	memcpy(dst->sgid, src->sgid.raw, sizeof(dst->sgid));
}
