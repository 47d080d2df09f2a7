/* SPDX-License-Identifier: BSD-2-Clause */
/* The defaults: valid as they stand, and what they promise. */
#include "support/test.h"

#include "core/engine.h"
#include "support/node.h"

TEST(mt_engine_cfg_default, valid_for_each_number_of_ports)
{
	struct mt_engine_cfg cfg;

	for (uint32_t ports = 1; ports <= MT_PORTS_MAX; ports++) {
		memset(&cfg, 0xFF, sizeof(cfg));
		mt_engine_cfg_default(&cfg, ports);
		assert_u_eq(cfg.n_ports, ports);
		assert_true(mt_engine_size(&cfg) > 0);
	}
	assert_u_eq(cfg.ts_shift, 7); /* 128 ns, as the wire has it */
	assert_u_eq(cfg.timing.sack_bytes, 16384);
	assert_u_eq(cfg.timing.sack_in_order_bytes, 65536);
	assert_u_eq(cfg.timing.revival_gap_ns, 10000);
	assert_u_eq(cfg.timing.port_hold_ns, 5000);
	mt_engine_cfg_default(&cfg, MT_PORTS_MAX + 1);
	assert_u_eq(mt_engine_size(&cfg), 0);
}

/* What an adapter gets that states nothing; documents name some of these. */
TEST(mt_engine_cfg_default, times_and_sizes)
{
	const uint64_t us = 1000, ms = 1000 * us;
	struct mt_engine_cfg cfg;

	mt_engine_cfg_default(&cfg, 2);
	assert_u_eq(cfg.max_mrs, 1024);
	assert_u_eq(cfg.max_buffered, 8192); /* half of them may be of one QP */
	assert_u_eq(cfg.timing.reorder_max_ns, 100 * us);
	assert_u_eq(cfg.timing.rto_min_ns, 0); /* the timeout is that of the QP */
	assert_u_eq(cfg.timing.backpressure_ns, 20 * us);
	assert_u_eq(cfg.timing.idle_ns, 100 * ms);
	assert_u_eq(cfg.timing.ep_quarantine_ns, 100 * ms);
	assert_u_eq(cfg.timing.port_notice_ns, 10 * ms);
	assert_u_eq(cfg.timing.no_port_ns, 0);
}

TEST(mt_qp_attr_default, what_a_qp_has_after_reset)
{
	static struct node n;
	struct rd_qp_attr want = {.dest_qpn = 5}, got, reset = {.state = RD_QPS_RESET};
	struct node_opts o;

	mt_qp_attr_default(&want);
	node_opts_default(&o);
	node_open(&n, &o, 0);
	node_connect(&n);
	assert_i_eq(node_modify(&n, n.qp, &reset, RD_QP_STATE), MT_OK);
	mt_qp_query(n.qp, &got);
	assert_u_eq(got.state, RD_QPS_RESET);
	assert_u_eq(got.dest_qpn, 0);
	node_check_attr_eq(&got, &want);
	node_close(&n);
}

/* REQ(req.mpr.minimum) REQ(req.wimm.minimum) */
TEST(mt_qp_attr_default, at_least_what_every_endpoint_supports)
{
	struct rd_qp_attr a;

	mt_qp_attr_default(&a);
	assert_true(a.mpr >= 8 && a.mpr_dest >= 8);
	assert_true(a.max_wimm >= 32 && a.max_wimm_dest >= 32);
	assert_u_eq(a.path_mtu, 4096);
	assert_u_eq(a.p_key, 0xFFFF);
	assert_true(a.trim_nack_dest);
}
