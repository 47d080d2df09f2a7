/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_evs_fixture.h - what the device of nic_fixture.h sends, by EV: the source port of a frame is
 * its EV. Set MRC_RUN to 1 before fixture_setup.
 */
#ifndef UNIT_NIC_EVS_FIXTURE_H
#define UNIT_NIC_EVS_FIXTURE_H

#include "unit/nic_fixture.h"

/* How many frames of one more message came from each EV of each plane, and how many in all. */
struct seen {
	uint32_t on[FIXTURE_PLANES][FIXTURE_EVS];
	uint32_t all;
};

static inline void drain(struct nic_fixture *fixture)
{
	struct mio_rx frame;

	for (uint32_t i = 0; i < FIXTURE_PLANES; i++)
		while (mio_port_rx(fixture->peer[i], 0, &frame, 1) == 1)
			;
}

static inline struct seen send_some(struct nic_fixture *fixture)
{
	struct rd_sge sge = {.addr = (uintptr_t)fixture->buffer,
			     .length = FIXTURE_BUFFER / 4,
			     .lkey = mh_mr_lkey(fixture->mr)};
	struct rd_send_wr wr = {
		.opcode = RD_WR_WRITE, .sge = &sge, .n_sge = 1, .remote_addr = 0, .rkey = 1};
	struct seen seen = {0};
	struct mio_rx frame;
	uint32_t posted;

	drain(fixture);
	for (uint32_t i = 0; i < 4; i++)
		assert_i_eq(mh_qp_post_send(fixture->qp, &wr, 1, &posted), 0);
	while (seen.all < 4 * FIXTURE_BUFFER / 4 / 4096) {
		uint32_t plane = fixture_receive(fixture, &frame);

		assert_true(plane < FIXTURE_PLANES);
		assert_true(frame.src.udp_port - FIXTURE_EV_BASE < FIXTURE_EVS);
		seen.on[plane][frame.src.udp_port - FIXTURE_EV_BASE]++;
		seen.all++;
	}
	return seen;
}

#endif
