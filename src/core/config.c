/* SPDX-License-Identifier: BSD-2-Clause */
/* config.c - default values of an engine's configuration and of a QP's attributes. */
#include "core/config.h"

void mt_engine_cfg_default(struct mt_engine_cfg *cfg, uint32_t n_ports)
{
	*cfg = (struct mt_engine_cfg){
		.n_ports = n_ports,
		.max_qps = 1024,
		.max_mrs = 1024,
		.max_profiles = 4,
		.control_ring = 256,
		.event_ring = 256,
		.ep_requests = 32,
		.qpn_index_bits = 24,
		.ts_shift = 7,
		.max_buffered = 8192, /* 64 MiB of full packets */
		.max_run = 1,
		.timing =
			{
				/* A few hops of queueing on a 100 Gb/s fabric, whose RTT is about
				   12 us. */
				.reorder_min_ns = 5000,
				.reorder_max_ns = 100000,
				.port_hold_ns = 5000,
				.tail_probe_min_ns = 20000,
				.rto_min_ns = 0,
				.backpressure_ns = 20000,
				.idle_ns = 100000000,
				/* As many as UEC's reference implementation. */
				.sack_bytes = 16384,
				/* A quarter of the PSNs that a SACK can name. */
				.sack_in_order_bytes = 65536,
				/* 100,000 a second: with their answers less than a thousandth of
				   800 Gb/s. */
				.revival_gap_ns = 10000,
				/* No queue holds a packet for a hundredth of this. */
				.ep_quarantine_ns = 100000000,
				/* A NIC knows in microseconds; most of this is for telling the
				   peer. */
				.port_notice_ns = 10000000,
			},
	};
}

/* REQ(wire.bth.pkey) REQ(req.mpr.minimum) REQ(req.wimm.minimum) */
void mt_qp_attr_default(struct rd_qp_attr *attr)
{
#define DEFAULT(bit, type, field, value, least, most) .field = (value),
	*attr = (struct rd_qp_attr){RD_QP_ATTRS(DEFAULT)};
#undef DEFAULT
}
