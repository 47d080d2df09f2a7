/* SPDX-License-Identifier: BSD-2-Clause */
/* nic_counters.c - gathers the counters of engine, host and ports. */
#include "host/stats/stats.h"

/* Sums over ports. */
#define PORT_COUNTS(X)                                                                   \
	X(tx_frames, "frames sent, control included")                                    \
	X(tx_bytes, "UDP payload bytes sent")                                            \
	X(tx_refused, "frames that the system would not take")                           \
	X(tx_backlogged, "frames that waited because a socket was full")                 \
	X(rx_frames, "frames received")                                                  \
	X(rx_bytes, "UDP payload bytes received")                                        \
	X(rx_overruns, "frames dropped by the system because a receive buffer was full") \
	X(rx_oversize, "frames longer than any packet of MRC")

struct port_counts {
#define PORT_COUNTS_FIELD(name, text) uint64_t name;
	PORT_COUNTS(PORT_COUNTS_FIELD)
#undef PORT_COUNTS_FIELD
};

_Static_assert((sizeof(struct mt_stats) + sizeof(struct mh_nic_counts) + sizeof(struct mu_counts) +
		sizeof(struct port_counts)) /
			       sizeof(uint64_t) <=
		       MH_COUNTERS_MAX,
	       "the list has room for all");

static void counters_sum_ports(const struct mh_ports *ports, struct port_counts *sum)
{
	*sum = (struct port_counts){0};
	for (uint32_t i = 0; i < ports->n; i++) {
		const struct mio_status *status = ports->port[i].io->status;

#define PORT_COUNTS_ADD(name, text) sum->name += status->name;
		PORT_COUNTS(PORT_COUNTS_ADD)
#undef PORT_COUNTS_ADD
	}
}

uint32_t mh_counters_read(const struct mh_nic *nic, struct mh_counter counters[MH_COUNTERS_MAX])
{
	struct port_counts ports;
	struct mt_stats engine;
	const struct mu_counts *ud = mu_counts(nic->ud);
	uint32_t n = 0;

	mt_engine_stats(nic->engine, &engine);
	counters_sum_ports(&nic->ports, &ports);
#define FROM_ENGINE(name, text) counters[n++] = (struct mh_counter){#name, text, engine.name};
	MT_STATS(FROM_ENGINE)
#undef FROM_ENGINE
#define FROM_HOST(name, text) counters[n++] = (struct mh_counter){#name, text, nic->counts.name};
	MH_NIC_COUNTS(FROM_HOST)
#undef FROM_HOST
#define FROM_UD(name, text) counters[n++] = (struct mh_counter){#name, text, ud->name};
	MU_COUNTS(FROM_UD)
#undef FROM_UD
#define FROM_PORTS(name, text) counters[n++] = (struct mh_counter){"port_" #name, text, ports.name};
	PORT_COUNTS(FROM_PORTS)
#undef FROM_PORTS
	return n;
}
