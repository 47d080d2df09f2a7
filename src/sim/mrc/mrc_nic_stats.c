/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc_nic_stats.c - the counters of all engines, added up. */
#include "sim/mrc/mrc_nic_state.h"

static void add_stats(struct mt_stats *sum, const struct mt_stats *s)
{
#define ADD(name, text) sum->name += s->name;
	MT_STATS(ADD)
#undef ADD
}

void ms_mrc_stats(const struct ms_mrc *m, struct mt_stats *sum)
{
	*sum = (struct mt_stats){0};
	for (uint32_t i = 0; i < m->set.hosts; i++) {
		struct mt_stats stats;

		if (!m->set.host[i])
			continue;
		mt_engine_stats(((struct ms_mrc_host *)m->set.host[i])->engine, &stats);
		add_stats(sum, &stats);
	}
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

void ms_mrc_count(const struct ms_nic_set *set, uint64_t *sent, uint64_t *taken)
{
	struct mt_stats s;

	ms_mrc_stats((const struct ms_mrc *)set, &s);
	*sent = all_sent(&s);
	*taken = all_taken(&s);
}
