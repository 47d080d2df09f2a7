/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_check.c - holds what the core places against what it must: each packet of a message once,
 * whole, and inside the memory region of its flow. One bit for each packet of a flow is enough,
 * since the core segments at the path MTU.
 */
#include <stdarg.h>
#include <stdio.h>

#include "sim/mrc/mrc_nic_state.h"

void ms_nic_report_violation(struct ms_worker_state *worker, const char *format, ...)
{
	va_list ap;

	if (worker->sums.violations++ > 0)
		return;
	va_start(ap, format);
	vsnprintf(worker->violation, sizeof(worker->violation), format, ap);
	va_end(ap);
}

/* Which packet of the flow begins at an offset, and how long it is; false: none does. */
static bool packet_at(const struct ms_conn *c, uint32_t mtu, uint64_t offset, uint64_t *index,
		      uint64_t *len)
{
	uint64_t k, in, left;

	if (offset >= c->region_bytes)
		return false;
	k = offset / c->message_bytes;
	in = offset - k * c->message_bytes;
	if (in % mtu != 0)
		return false;
	if (in >= ms_conn_message_bytes(c, (uint32_t)k))
		return false;
	left = ms_conn_message_bytes(c, (uint32_t)k) - in;
	*index = k * c->per_message + in / mtu;
	*len = left < mtu ? left : mtu;
	return true;
}

/* REQ(sim.check.once) */
bool ms_conn_place(void *ctx, void *mr_user, uint64_t offset, const void *src, uint32_t len)
{
	struct ms_host *h = ctx;
	struct ms_conn *c = mr_user;
	uint64_t index, whole, bit;

	(void)src;
	if (!packet_at(c, h->nics->cfg.path_mtu, offset, &index, &whole) || len != whole) {
		ms_nic_report_violation(h->worker,
					"flow %u: %u bytes placed at %llu, where no packet is",
					c->flow, len, (unsigned long long)offset);
		return true;
	}
	bit = UINT64_C(1) << (index % 64);
	if (c->placed[index / 64] & bit)
		ms_nic_report_violation(h->worker, "flow %u: %u bytes at %llu placed twice",
					c->flow, len, (unsigned long long)offset);
	c->placed[index / 64] |= bit;
	c->placed_bytes += len;
	return true;
}

bool ms_conn_message_is_complete(const struct ms_conn *c, uint32_t k, uint32_t mtu)
{
	uint64_t bytes = ms_conn_message_bytes(c, k);
	uint64_t first = (uint64_t)k * c->per_message;
	uint64_t end = first + (bytes + mtu - 1) / mtu;

	for (uint64_t i = first; i < end; i++)
		if (!(c->placed[i / 64] >> (i % 64) & 1))
			return false;
	return true;
}

static uint64_t all_taken(const struct mt_stats *s)
{
	return s->rx_data_packets + s->rx_duplicates + s->rx_trimmed + s->rx_sacks + s->rx_acks +
	       s->rx_nacks + s->rx_probes + s->rx_ep_requests + s->rx_ep_responses +
	       s->drop_decode + s->drop_icrc + s->drop_endpoint + s->drop_no_qp +
	       s->drop_src_mismatch + s->drop_qp_state + s->drop_p_key + s->drop_old_psn +
	       s->drop_far_psn + s->drop_no_memory + s->drop_malformed + s->drop_bogus_ack +
	       s->drop_ep_response;
}

static uint64_t all_sent(const struct mt_stats *s)
{
	return s->tx_data_packets + s->tx_sacks + s->tx_acks + s->tx_nacks + s->tx_probes +
	       s->tx_ep_requests + s->tx_ep_responses;
}

/* REQ(sim.check.counts) */
void ms_nics_check_end(struct ms_nics *nics)
{
	struct ms_nic_sums s;

	ms_nics_sums(nics, &s);
	if (all_sent(&s.core) != s.sent)
		ms_nic_report_violation(
			&nics->worker[0], "engines count %llu packets sent, NICs %llu",
			(unsigned long long)all_sent(&s.core), (unsigned long long)s.sent);
	if (all_taken(&s.core) != s.received)
		ms_nic_report_violation(
			&nics->worker[0], "engines count %llu packets received, NICs %llu",
			(unsigned long long)all_taken(&s.core), (unsigned long long)s.received);
}
