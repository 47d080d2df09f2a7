/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_verbs_marshal.c - what librdmacm has copied for it, whole: src/libibverbs/marshal.c. */
#include "support/test.h"

#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>

void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *dst, struct ib_uverbs_ah_attr *src);
void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *dst, struct ib_uverbs_qp_attr *src);
void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *dst, struct ib_user_path_rec *src);
void ibv_copy_path_rec_to_kern(struct ib_user_path_rec *dst, struct ibv_sa_path_rec *src);

#define SAME(field) assert_u_eq((uint64_t)dst->field, (uint64_t)(__typeof__(dst->field))src->field)

static void expect_address(const struct ibv_ah_attr *dst, const struct ib_uverbs_ah_attr *src)
{
	assert_bytes_eq(dst->grh.dgid.raw, src->grh.dgid, 16);
	SAME(grh.flow_label), SAME(grh.sgid_index), SAME(grh.hop_limit), SAME(grh.traffic_class);
	SAME(dlid), SAME(sl), SAME(src_path_bits), SAME(static_rate), SAME(is_global);
	SAME(port_num);
}

TEST(ibv_copy_qp_attr_from_kern, and_its_addresses)
{
	struct ib_uverbs_qp_attr from, *src = &from;
	struct ibv_qp_attr to, *dst = &to;

	test_rand_bytes(src, sizeof(*src));
	memset(dst, 0xff, sizeof(*dst));
	ibv_copy_qp_attr_from_kern(dst, src);
	expect_address(&dst->ah_attr, &src->ah_attr);
	expect_address(&dst->alt_ah_attr, &src->alt_ah_attr);
	SAME(qp_state), SAME(cur_qp_state), SAME(path_mtu), SAME(path_mig_state), SAME(qkey);
	SAME(rq_psn), SAME(sq_psn), SAME(dest_qp_num), SAME(qp_access_flags), SAME(pkey_index);
	SAME(alt_pkey_index), SAME(en_sqd_async_notify), SAME(sq_draining), SAME(max_rd_atomic);
	SAME(max_dest_rd_atomic), SAME(min_rnr_timer), SAME(port_num), SAME(timeout);
	SAME(retry_cnt), SAME(rnr_retry), SAME(alt_port_num), SAME(alt_timeout);
	assert_u_eq(dst->cap.max_send_wr, src->max_send_wr);
	assert_u_eq(dst->cap.max_recv_wr, src->max_recv_wr);
	assert_u_eq(dst->cap.max_send_sge, src->max_send_sge);
	assert_u_eq(dst->cap.max_recv_sge, src->max_recv_sge);
	assert_u_eq(dst->cap.max_inline_data, src->max_inline_data);
}

static void expect_path(const struct ibv_sa_path_rec *dst, const struct ib_user_path_rec *src)
{
	assert_bytes_eq(dst->dgid.raw, src->dgid, 16);
	assert_bytes_eq(dst->sgid.raw, src->sgid, 16);
	SAME(dlid), SAME(slid), SAME(raw_traffic), SAME(flow_label), SAME(reversible), SAME(mtu);
	SAME(pkey), SAME(hop_limit), SAME(traffic_class), SAME(numb_path), SAME(sl);
	SAME(mtu_selector), SAME(rate_selector), SAME(rate), SAME(packet_life_time_selector);
	SAME(packet_life_time), SAME(preference);
}

TEST(ibv_copy_path_rec_from_kern, and_back)
{
	struct ib_user_path_rec src, back;
	struct ibv_sa_path_rec dst;

	test_rand_bytes(&src, sizeof(src));
	memset(&dst, 0xff, sizeof(dst));
	memset(&back, 0xff, sizeof(back));
	ibv_copy_path_rec_from_kern(&dst, &src);
	expect_path(&dst, &src);
	ibv_copy_path_rec_to_kern(&back, &dst);
	expect_path(&dst, &back);
}
