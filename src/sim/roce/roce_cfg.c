/* SPDX-License-Identifier: BSD-2-Clause */
/* roce_cfg.c - the configuration of RoCE: defaults from a topology, checks, and the memory. */
#include <stdio.h>

#include "base/bits.h"
#include "sim/roce/roce_state.h"

/* On Ethernet: preamble and gap 20, header and checksum 18; IPv6 40, UDP 8, ICRC 4. */
#define FRAME_BYTES 90u
/* DCQCN, SIGCOMM 2015. */
#define PUBLISHED_BPS UINT64_C(40000000000)
#define KMIN_BYTES 5000u
#define KMAX_BYTES 200000u
#define PMAX_PPM 10000u

static uint64_t port_bps(const struct mf_topology *t)
{
	return t->cfg.links[MF_HOST_T0].bit_s;
}

void ms_roce_defaults(struct ms_roce_cfg *cfg, const struct mf_topology *topology)
{
	*cfg = (struct ms_roce_cfg){
		.topology = *topology,
		.threads = 1,
		.seed = 1,
		.path_mtu = 4096,
		.frame_bytes = FRAME_BYTES,
		.qps = 1,
		.ack_every = 16,
		.depth = 8,
		.timeout = 14,
		.retry_cnt = 7,
		.congestion_control = 1,
	};
	ms_dcqcn_defaults(&cfg->dcqcn, port_bps(topology));
}

static uint32_t in_proportion(const struct mf_topology *t, enum ms_port_kind k, uint32_t published)
{
	enum mf_link_kind link = k <= MS_PORT_T0_DOWN	? MF_HOST_T0
				 : k <= MS_PORT_T1_DOWN ? MF_T0_T1
							: MF_T1_T2;
	uint64_t scaled = published * t->cfg.links[link].bit_s / PUBLISHED_BPS;

	return scaled < 2 ? 2 : (uint32_t)scaled;
}

void ms_roce_queues(const struct mf_topology *t, struct ms_queue_cfg queue[MS_PORT_KINDS])
{
	ms_queue_defaults(t, false, queue);
	for (uint32_t k = MS_PORT_T0_DOWN; k < MS_PORT_KINDS; k++) {
		if (queue[k].data_limit_bytes == 0) /* no such port here */
			continue;
		queue[k].ecn_min_bytes = in_proportion(t, (enum ms_port_kind)k, KMIN_BYTES);
		queue[k].ecn_max_bytes = in_proportion(t, (enum ms_port_kind)k, KMAX_BYTES);
		queue[k].ecn_ppm = PMAX_PPM;
	}
}

void ms_roce_pfc(const struct mf_topology *t, struct ms_pfc_cfg *pfc)
{
	ms_pfc_defaults(t, pfc);
	pfc->on = true;
	for (uint32_t k = MS_PORT_HOST_UP; k < MS_PORT_KINDS; k++) {
		uint32_t kmax = in_proportion(t, (enum ms_port_kind)k, KMAX_BYTES);

		pfc->xoff_bytes = kmax > pfc->xoff_bytes ? kmax : pfc->xoff_bytes;
	}
}

bool ms_roce_check(const struct ms_roce_cfg *c, char *why)
{
	if (c->path_mtu < 256 || c->path_mtu > 4096 || !mb_is_pow2(c->path_mtu))
		return ms_refuse(why, "roce.path_mtu = %u: 256, 512, 1024, 2048 or 4096",
				 c->path_mtu);
	if (c->frame_bytes > 1024)
		return ms_refuse(why, "roce.frame_bytes = %u: 0 to 1024", c->frame_bytes);
	if (c->qps == 0 || c->qps > MS_ROCE_QPS_MAX)
		return ms_refuse(why, "roce.qps = %u: 1 to %u", c->qps, MS_ROCE_QPS_MAX);
	if (c->ack_every == 0 || c->ack_every > UINT16_MAX)
		return ms_refuse(why, "roce.ack_every = %u: 1 to 65535 packets", c->ack_every);
	if (c->depth == 0 || c->depth > 1024)
		return ms_refuse(why, "roce.depth = %u: 1 to 1024 messages", c->depth);
	if (c->timeout > MS_ROCE_TIMEOUT_MAX)
		return ms_refuse(why, "roce.timeout = %u: 0 to %u", c->timeout,
				 MS_ROCE_TIMEOUT_MAX);
	if (c->retry_cnt > MS_ROCE_RETRY_MAX)
		return ms_refuse(why, "roce.retry_cnt = %u: 0 to %u", c->retry_cnt,
				 MS_ROCE_RETRY_MAX);
	if (!ms_dcqcn_valid(&c->dcqcn))
		return ms_refuse(
			why,
			"dcqcn: a value is out of its range: rates 1 to the port's %llu bit/s, "
			"times above 0, g_shift 1 to 16",
			(unsigned long long)c->dcqcn.line_bps);
	return true;
}

/* ---- memory ---- */

uint64_t ms_roce_memory(const struct ms_roce_cfg *cfg, const struct ms_workload_cfg *workload,
			uint32_t n, uint64_t hosts)
{
	uint64_t all = cfg->topology.n_hosts, flows = 0, each;
	bool is_used = false;

	for (uint32_t i = 0; i < n; i++)
		if (workload[i].transport == MS_ROCE) {
			is_used = true;
			flows += ms_workload_count(&workload[i]);
		}
	if (!is_used)
		return 0;
	each = 2 * mb_align64(sizeof(struct ms_rconn)) +
	       cfg->qps * (sizeof(struct ms_rqp) + sizeof(struct ms_rrx)) + 4 * sizeof(void *) +
	       (size_t)2 * cfg->depth * (cfg->qps * sizeof(uint64_t) + sizeof(uint32_t));
	return hosts * (sizeof(struct ms_rhost) + 128) + (flows / all + 1) * hosts * each +
	       (uint64_t)cfg->threads * ((uint64_t)1 << 21);
}
