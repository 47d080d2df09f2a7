/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mixed.h - hosts that speak RoCE, or RoCE and MRC side by side: which of the two a packet is for,
 * and one wake-up for both.
 */
#ifndef SOFTMRC_SIM_RUN_MIXED_HOSTS_H
#define SOFTMRC_SIM_RUN_MIXED_HOSTS_H

#include "sim/mrc/mrc_nic.h"
#include "sim/roce/roce_nic.h"

struct ms_mixed {
	struct ms_hosts mrc, roce;
	struct ms_nics *nics;
	struct ms_roce *r;
	const struct ms_workload *workload;
	uint32_t hosts;
	void *owner;
};

/* ms_mixed_init puts both together; *m must outlive the net that hosts are given to. */
void ms_mixed_init(struct ms_mixed *m, struct ms_nics *nics, struct ms_roce *r,
		   const struct ms_workload *workload, uint32_t hosts, void *owner);
/* ms_mixed_hosts fills in what a net calls; ctx is *m. */
void ms_mixed_hosts(struct ms_mixed *m, struct ms_hosts *hosts);
/* ms_mixed_start wakes, through the net, the hosts of this rank at which flows begin. */
void ms_mixed_start(struct ms_mixed *m, struct ms_net *net);

#endif
