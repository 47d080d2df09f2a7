/* SPDX-License-Identifier: BSD-2-Clause */
/* What the network did: see perf.h. */
#include "cli/perf/perf.h"

#include "ui/terminal.h"

#include <poll.h>
#include <string.h>

/* Statistics are written every 50 ms; this late they are not written any more. */
#define FRESH_TRIES 40u
#define FRESH_GAP_MS 10

static void add_evs(const struct mrc_stats_qp *qp, struct perf_health *h)
{
	for (uint32_t i = 0; i < qp->evs; i++) {
		h->evs_good += qp->ev[i].state == MRC_STATS_EV_GOOD;
		h->evs_skip += qp->ev[i].state == MRC_STATS_EV_SKIP;
		h->evs_bad += qp->ev[i].state == MRC_STATS_EV_ASSUMED_BAD;
		h->evs_denied += qp->ev[i].state == MRC_STATS_EV_DENIED;
	}
}

void perf_health_of(const struct mrc_stats_segment *s, struct perf_health *h)
{
	*h = (struct perf_health){
		.known = true,
		.retransmits = stats_counter(s, "tx_retransmits"),
		.lost = stats_counter(s, "lost_inferred") + stats_counter(s, "lost_timeout"),
		.trimmed = stats_counter(s, "rx_trimmed") + stats_counter(s, "rx_nacks"),
		.timeouts = stats_counter(s, "timeouts"),
		.planes = s->ports,
	};
	for (uint32_t i = 0; i < s->ports; i++) {
		h->sent[i] = s->port[i].tx_bytes;
		h->received[i] = s->port[i].rx_bytes;
		h->drops += s->port[i].rx_overruns;
		h->up[i] = s->port[i].up != 0;
		memcpy(h->address[i], s->port[i].address, sizeof(h->address[i]));
		memcpy(h->interface[i], s->port[i].interface, sizeof(h->interface[i]));
	}
	for (uint32_t q = 0; q < MRC_STATS_QPS; q++)
		if (s->qp[q].qpn)
			add_evs(&s->qp[q], h);
}

struct perf_health perf_health_since(const struct perf_health *later,
				     const struct perf_health *earlier)
{
	struct perf_health d = *later;

	d.retransmits -= earlier->retransmits;
	d.lost -= earlier->lost;
	d.trimmed -= earlier->trimmed;
	d.timeouts -= earlier->timeouts;
	d.drops -= earlier->drops;
	for (uint32_t i = 0; i < d.planes; i++) {
		d.sent[i] -= earlier->sent[i];
		d.received[i] -= earlier->received[i];
	}
	return d;
}

void perf_health_read(struct stats_reader *stats, struct perf_health *h)
{
	uint64_t begin = ui_clock_ns();

	*h = (struct perf_health){0};
	for (uint32_t i = 0; i < FRESH_TRIES; i++) {
		if (stats_reader_read(stats, ui_clock_ns()) || !stats->n)
			return;
		if (stats->process[0].now->updated_ns > begin)
			break;
		if (poll(NULL, 0, FRESH_GAP_MS) < 0)
			break;
	}
	perf_health_of(stats->process[0].now, h);
}
