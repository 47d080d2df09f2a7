/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_fixture.h - a statistics segment as a process with one QP on two planes would write it. */
#ifndef UNIT_STATS_FIXTURE_H
#define UNIT_STATS_FIXTURE_H

#include <mrc/stats.h>
#include <stdio.h>
#include <string.h>

static inline void fixture_counter(struct mrc_stats_segment *s, uint32_t i, const char *name,
				   uint64_t value)
{
	snprintf(s->counter[i].name, sizeof(s->counter[i].name), "%s", name);
	s->counter[i].value = value;
}

static inline void fixture_segment(struct mrc_stats_segment *s, uint32_t pid)
{
	const uint8_t address[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1};
	struct mrc_stats_qp *qp = &s->qp[0];

	memset(s, 0, sizeof(*s));
	memcpy(s->magic, MRC_STATS_MAGIC, sizeof(s->magic));
	s->version = MRC_STATS_VERSION;
	s->pid = pid;
	s->ports = 2;
	s->updated_ns = 1;
	fixture_counter(s, 0, "tx_data_bytes", 1000000);
	fixture_counter(s, 1, "tx_retransmits", 5);
	for (uint32_t i = 0; i < 2; i++) {
		memcpy(s->port[i].address, address, 16);
		s->port[i].address[14] = (uint8_t)i;
		s->port[i].up = i == 0;
		s->port[i].udp_port = 4791;
	}
	*qp = (struct mrc_stats_qp){.qpn = 0x10, .dest_qpn = 0x4010, .state = "RTS"};
	memcpy(qp->dest, address, 16);
	qp->dest[15] = 2;
	qp->psn_next = 500;
	qp->cwnd_bytes = 65536;
	qp->srtt_ns = 80000;
	qp->evs = 4;
	qp->evs_good = 2;
	qp->evs_bad = 1;
	qp->evs_all = 4;
	for (uint32_t i = 0; i < 4; i++) {
		qp->ev[i] =
			(struct mrc_stats_ev){49152 + i / 2, (uint8_t)(i % 2), (uint8_t)(i % 3), 0};
		s->port[i % 2].evs[i % 3]++;
	}
	s->qps.shown = 1;
	s->qps.of_state[MRC_STATS_QP_RTS] = 1;
}

#endif
