/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_counters.c - gathers the counters of engine, UD engine, host and ports.
 *
 * Each is counted where it happens, without atomics, under nic->lock; reading takes that lock, too.
 * The tables that declare the counters are also what names them here, so that none can be
 * forgotten.
 */
#include "host/stats/stats.h"

#include "stats/host_counters.h"

/* Sums over ports. */
enum port_count {
#define PORT_COUNT_ID(name, text) PORT_COUNT_##name,
	STATS_PORT_COUNTS(PORT_COUNT_ID)
#undef PORT_COUNT_ID
		PORT_COUNTS_ALL,
};

_Static_assert((sizeof(struct mt_stats) + sizeof(struct mh_nic_counts) + sizeof(struct mu_counts)) /
				       sizeof(uint64_t) +
			       PORT_COUNTS_ALL <=
		       MH_COUNTERS_MAX,
	       "the list has room for all");

static uint32_t read_shard(const struct mh_nic *nic, struct mh_counter counters[MH_COUNTERS_MAX])
{
	const struct mh_ports *ports = &nic->ports;
	struct mt_stats engine;
	const struct mu_counts *ud = mu_counts(nic->ud);
	uint32_t n = 0;

	mt_engine_stats(nic->engine, &engine);
#define FROM_ENGINE(name, text) counters[n++] = (struct mh_counter){#name, text, engine.name};
	MT_STATS(FROM_ENGINE)
#undef FROM_ENGINE
#define FROM_HOST(name, text) counters[n++] = (struct mh_counter){#name, text, nic->counts.name};
	STATS_NIC_COUNTS(FROM_HOST)
#undef FROM_HOST
#define FROM_UD(name, text) counters[n++] = (struct mh_counter){#name, text, ud->name};
	MU_COUNTS(FROM_UD)
#undef FROM_UD
#define FROM_PORTS(name, text)                                        \
	counters[n] = (struct mh_counter){"port_" #name, text, 0};    \
	for (uint32_t i = 0; i < ports->n; i++)                       \
		counters[n].value += ports->port[i].io->status->name; \
	n++;
	STATS_PORT_COUNTS(FROM_PORTS)
#undef FROM_PORTS
	return n;
}

/*
 * Readers of the statistics find counters by name, so new ones may be put anywhere in the tables.
 */
uint32_t mh_counters_read(const struct mh_nic *first, struct mh_counter counters[MH_COUNTERS_MAX])
{
	uint32_t n = read_shard(first, counters);
	struct mh_counter more[MH_COUNTERS_MAX];

	for (uint32_t i = 1; i < first->n_shards; i++) {
		read_shard(first->shard[i], more);
		for (uint32_t k = 0; k < n; k++)
			counters[k].value += more[k].value;
	}
	return n;
}
