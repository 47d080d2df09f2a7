/* SPDX-License-Identifier: BSD-2-Clause */
/* net_state.c - the time of a net and the hosts of a rank, for every file of the kernel. */
#include "sim/kernel/worker.h"

uint64_t ms_net_now_ps(const struct ms_net *net)
{
	return net->window * net->window_ps;
}

bool ms_net_host_is_local(const struct ms_net *net, uint32_t host)
{
	uint32_t unit = ms_units_of_host(&net->units, host);

	return host < net->units.t.n_hosts && net->unit[unit].worker / net->threads == net->rank;
}

uint32_t ms_worker_of(const struct ms_net *net, uint32_t host)
{
	return net->unit[ms_units_of_host(&net->units, host)].worker - net->first_worker;
}
