/* SPDX-License-Identifier: BSD-2-Clause */
/* The catalogue of what processes publish: see metrics.h. */
#include "stats/metrics.h"

#include "core/stats.h"
#include "stats/host_counters.h"
#include "stats/stats_reader.h"
#include "ud/ud_counts.h"

#include <string.h>

/* Counters of the process; which of them count bytes, their names say. */
#define METRIC_COUNTER(name, text) {#name, NULL, text, STATS_COUNTER, STATS_OF_PROCESS, 1, 0, 0},
#define METRIC_PORT_SUM(name, text) \
	{"port_" #name, NULL, text, STATS_COUNTER, STATS_OF_PROCESS, 1, 0, 0},

#define METRIC_AT(name, unit, text, type, of, per_unit, type_of, member)                          \
	{                                                                                         \
		name, unit, text, type, of, per_unit, offsetof(struct mrc_stats_segment, member), \
			sizeof(type_of)                                                           \
	}

#define NS_PER_S UINT64_C(1000000000)

static const struct stats_metric metrics[] = {
	MT_STATS(METRIC_COUNTER) STATS_NIC_COUNTS(METRIC_COUNTER) MU_COUNTS(METRIC_COUNTER)
		STATS_PORT_COUNTS(METRIC_PORT_SUM)
			METRIC_AT("qps", "", "QPs by their state", STATS_GAUGE, STATS_OF_QP_STATE,
				  1, uint32_t, qps.of_state),
	METRIC_AT("qps_shown", "", "QPs of which the segment has details, the oldest ones",
		  STATS_GAUGE, STATS_OF_PROCESS, 1, uint32_t, qps.shown),
	METRIC_AT("qp_stalled_seconds", "seconds",
		  "time that QPs stood still, summed over them and sampled: a packet is lost and "
		  "not sent again yet, or nothing was acknowledged from one sample to the next",
		  STATS_COUNTER, STATS_OF_PROCESS, NS_PER_S, uint64_t, qps.stalled_ns),
	METRIC_AT("qp_inflight_bytes", "bytes", "bytes in flight of all QPs", STATS_GAUGE,
		  STATS_OF_PROCESS, 1, uint64_t, qps.inflight_bytes),
	METRIC_AT("qp_lost_packets", "", "packets known lost and not sent again yet, of all QPs",
		  STATS_GAUGE, STATS_OF_PROCESS, 1, uint64_t, qps.lost_pending),
	METRIC_AT("qp_srtt_mean_seconds", "seconds",
		  "smoothed RTT, the mean over QPs that have one", STATS_GAUGE, STATS_OF_PROCESS,
		  NS_PER_S, uint64_t, qps.srtt_mean_ns),
	METRIC_AT("qp_srtt_max_seconds", "seconds", "smoothed RTT, the longest of all QPs",
		  STATS_GAUGE, STATS_OF_PROCESS, NS_PER_S, uint64_t, qps.srtt_max_ns),
	METRIC_AT("plane_up", "", "1 where the port of this plane can be used", STATS_GAUGE,
		  STATS_OF_PLANE, 1, uint32_t, port[0].up),
	METRIC_AT("plane_tx_packets", "", "frames sent on this plane, control included",
		  STATS_COUNTER, STATS_OF_PLANE, 1, uint64_t, port[0].tx_packets),
	METRIC_AT("plane_tx_bytes", "bytes", "UDP payload bytes sent on this plane", STATS_COUNTER,
		  STATS_OF_PLANE, 1, uint64_t, port[0].tx_bytes),
	METRIC_AT("plane_rx_packets", "", "frames received on this plane", STATS_COUNTER,
		  STATS_OF_PLANE, 1, uint64_t, port[0].rx_packets),
	METRIC_AT("plane_rx_bytes", "bytes", "UDP payload bytes received on this plane",
		  STATS_COUNTER, STATS_OF_PLANE, 1, uint64_t, port[0].rx_bytes),
	METRIC_AT("plane_rx_overruns", "",
		  "frames that the system dropped because this plane's receive buffer was full",
		  STATS_COUNTER, STATS_OF_PLANE, 1, uint64_t, port[0].rx_overruns),
	METRIC_AT("plane_tx_refused", "", "frames that the system would not take on this plane",
		  STATS_COUNTER, STATS_OF_PLANE, 1, uint64_t, port[0].tx_refused),
	METRIC_AT("plane_evs", "", "EVs on this plane by their state, summed over QPs", STATS_GAUGE,
		  STATS_OF_EV_STATE, 1, uint32_t, port[0].evs),
	METRIC_AT("plane_evs_retired", "", "EVs on this plane that became bad", STATS_COUNTER,
		  STATS_OF_PLANE, 1, uint64_t, port[0].evs_retired),
	METRIC_AT("plane_evs_revived", "", "EVs on this plane that became good by probes",
		  STATS_COUNTER, STATS_OF_PLANE, 1, uint64_t, port[0].evs_revived),
	METRIC_AT("plane_ev_outage_seconds", "seconds",
		  "time that EVs on this plane were bad or denied, summed over QPs and EVs",
		  STATS_COUNTER, STATS_OF_PLANE, NS_PER_S, uint64_t, port[0].ev_outage_ns),
};

#define METRICS (sizeof(metrics) / sizeof(metrics[0]))

const struct stats_metric *stats_metric(size_t i)
{
	return i < METRICS ? &metrics[i] : NULL;
}

const struct stats_metric *stats_metric_find(const char *name)
{
	for (size_t i = 0; i < METRICS; i++)
		if (strcmp(metrics[i].name, name) == 0)
			return &metrics[i];
	return NULL;
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t len = strlen(name), end = strlen(suffix);

	return len >= end && strcmp(name + len - end, suffix) == 0;
}

const char *stats_metric_unit(const struct stats_metric *m)
{
	if (m->unit)
		return m->unit;
	return has_suffix(m->name, "_bytes") ? "bytes" : "";
}

bool stats_metric_read(const struct stats_metric *m, const struct mrc_stats_segment *s,
		       struct stats_metric_index index, uint64_t *value)
{
	bool of_plane = m->of == STATS_OF_PLANE || m->of == STATS_OF_EV_STATE;
	bool of_state = m->of == STATS_OF_QP_STATE || m->of == STATS_OF_EV_STATE;
	size_t at = m->at + (of_plane ? index.plane * sizeof(s->port[0]) : 0) +
		    (of_state ? index.state * m->bytes : 0);
	const struct mrc_stats_counter *counter;
	uint32_t narrow;

	if (m->bytes == 0) {
		counter = stats_counter_find(s, m->name);
		if (counter)
			*value = counter->value;
		return counter;
	}
	if (m->bytes == sizeof(narrow)) {
		memcpy(&narrow, (const char *)s + at, sizeof(narrow));
		*value = narrow;
	} else {
		memcpy(value, (const char *)s + at, sizeof(*value));
	}
	return true;
}

const char *stats_ev_state_name(uint32_t state)
{
	static const char *const name[STATS_EV_STATES] = {"good", "skip", "bad", "denied"};

	return state < STATS_EV_STATES ? name[state] : "?";
}

const char *stats_qp_state_name(uint32_t state)
{
	static const char *const name[STATS_QP_STATES] = {"RESET", "INIT", "RTR",
							  "RTS",   "SQD",  "ERR"};

	return state < STATS_QP_STATES ? name[state] : "?";
}

double stats_plane_imbalance(const struct mrc_stats_segment *now,
			     const struct mrc_stats_segment *before, uint32_t *busiest,
			     uint32_t *idlest)
{
	uint64_t most = 0, least = UINT64_MAX;
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < now->ports; i++) {
		uint64_t sent = now->port[i].tx_bytes, was = before ? before->port[i].tx_bytes : 0;

		if (!now->port[i].up || sent < was)
			continue;
		sent -= was;
		n++;
		sum += (double)sent;
		if (sent > most || n == 1) {
			most = sent;
			*busiest = i;
		}
		if (sent < least) {
			least = sent;
			*idlest = i;
		}
	}
	return n < 2 || sum <= 0 ? -1 : (double)most * n / sum - 1;
}
