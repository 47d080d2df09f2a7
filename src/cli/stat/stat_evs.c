/* SPDX-License-Identifier: BSD-2-Clause */
/* stat_evs.c - the EVs of a process that are out of use, by name: see stat.h. */
#include "cli/stat/stat.h"

static struct stat_ev *find(struct stat_ev *list, size_t n, const struct mrc_stats_ev *ev)
{
	for (size_t i = 0; i < n && i < STAT_EVS_MAX; i++)
		if (list[i].ev.value == ev->value && list[i].ev.port == ev->port &&
		    list[i].ev.state == ev->state)
			return &list[i];
	return NULL;
}

static void add(struct stat_ev *list, size_t n, const struct mrc_stats_ev *ev,
		const struct mrc_stats_segment *s, const struct cli_fabric *fabric)
{
	struct stat_ev *to = &list[n];

	*to = (struct stat_ev){.ev = *ev, .qps = 1};
	if (!fabric || !cli_fabric_ev(fabric, s->gid, NULL, ev->port, ev->value, to->cable))
		to->cable[0] = '\0';
}

size_t stat_evs_find(const struct mrc_stats_segment *s, const struct cli_fabric *fabric,
		     struct stat_ev out[STAT_EVS_MAX])
{
	size_t n = 0;

	for (uint32_t q = 0; q < MRC_STATS_QPS && s->qp[q].qpn; q++)
		for (uint32_t i = 0; i < s->qp[q].evs; i++) {
			const struct mrc_stats_ev *ev = &s->qp[q].ev[i];
			struct stat_ev *known;

			if (ev->state != MRC_STATS_EV_ASSUMED_BAD &&
			    ev->state != MRC_STATS_EV_DENIED)
				continue;
			known = find(out, n, ev);
			if (known) {
				known->qps++;
				continue;
			}
			if (n < STAT_EVS_MAX)
				add(out, n, ev, s, fabric);
			n++;
		}
	return n;
}
