/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qp_sums.c - sums over all QPs of a NIC, for the statistics (mrc/stats.h).
 *
 * A NIC may have 16,000 QPs with hundreds of EVs each. To look at all of them at each refresh would
 * hold nic->lock for tens of milliseconds, so that a refresh looks at some, and the sums are stored
 * when a round is through. QPs are visited by their index, which does not move when others come and
 * go.
 */
#include "host/stats/stats.h"

#include <string.h>

/* EVs, or QPs without any, a refresh: 20 times a second some 50 us, a thousandth of the time. */
#define SUMS_STEP 4096u

#define STORE(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)

_Static_assert(MT_PORTS_MAX <= MRC_STATS_PORTS, "room for the EVs of every port");

static void add_evs(struct mh_qp_sums *sums, const struct mh_qp *qp)
{
	struct mt_ev_info info;

	for (uint32_t i = 0; mt_qp_ev_info(qp->mt, i, &info); i++)
		sums->evs[info.ev.port][info.state]++;
}

static bool is_stalled(const struct mh_qp *qp, const struct mt_qp_info *info)
{
	return info->lost_pending > 0 ||
	       (info->psn_next != info->psn_una && info->psn_una == qp->psn_una_sampled);
}

/* Only a QP in RESET uses no profile: from INIT on it has named its own. */
void mh_qp_add_profiles(const struct mh_qp *qp, uint32_t *ev, uint32_t *cc)
{
	struct rd_qp_attr attr;

	mt_qp_query(qp->mt, &attr);
	if (attr.state == RD_QPS_RESET)
		return;
	*ev |= UINT32_C(1) << attr.ev_profile;
	*cc |= UINT32_C(1) << attr.cc_profile;
}

/* Returns what of a step it took. */
static uint32_t add_qp(struct mh_qp_sums *sums, struct mh_qp *qp)
{
	struct mt_qp_info info;

	mt_qp_info(qp->mt, &info);
	sums->of_state[info.state]++;
	sums->inflight_bytes += info.inflight_bytes > 0 ? (uint64_t)info.inflight_bytes : 0;
	sums->lost_pending += info.lost_pending;
	sums->stalled += info.state == RD_QPS_RTS && is_stalled(qp, &info);
	qp->psn_una_sampled = info.psn_una;
	if (info.srtt_ns) {
		sums->with_rtt++;
		sums->srtt_ns += info.srtt_ns;
		if (info.srtt_ns > sums->srtt_max_ns)
			sums->srtt_max_ns = info.srtt_ns;
	}
	add_evs(sums, qp);
	mh_qp_add_profiles(qp, &sums->ev_profiles, &sums->cc_profiles);
	return 1 + info.evs;
}

static void store_ports(const struct mh_qp_sums *sums, struct mrc_stats_segment *map,
			uint64_t round_ns)
{
	for (uint32_t i = 0; i < map->ports; i++) {
		struct mrc_stats_port *port = &map->port[i];
		const uint32_t *evs = sums->evs[i];
		uint64_t out = evs[MRC_STATS_EV_ASSUMED_BAD] + evs[MRC_STATS_EV_DENIED];

		for (uint32_t state = 0; state < 4; state++)
			STORE(port->evs[state], evs[state]);
		STORE(port->ev_outage_ns, port->ev_outage_ns + out * round_ns);
	}
}

/* The first round has no time before it that could be said to have been like this. */
static void store_round(const struct mh_qp_sums *sums, struct mrc_stats_segment *map,
			uint64_t now_ns)
{
	uint64_t round_ns = map->qps.at_ns ? now_ns - map->qps.at_ns : 0;
	struct mrc_stats_qps *to = &map->qps;

	for (uint32_t i = 0; i < MRC_STATS_QP_STATES; i++)
		STORE(to->of_state[i], sums->of_state[i]);
	STORE(to->inflight_bytes, sums->inflight_bytes);
	STORE(to->lost_pending, sums->lost_pending);
	STORE(to->srtt_mean_ns, sums->with_rtt ? sums->srtt_ns / sums->with_rtt : 0);
	STORE(to->srtt_max_ns, sums->srtt_max_ns);
	STORE(to->stalled_ns, to->stalled_ns + sums->stalled * round_ns);
	STORE(to->ev_profiles, sums->ev_profiles);
	STORE(to->cc_profiles, sums->cc_profiles);
	store_ports(sums, map, round_ns);
	STORE(to->rounds, to->rounds + 1);
	STORE(to->at_ns, now_ns);
}

/* shard_to_look_at returns the shard that the round has come to; NULL: it is through all. */
static struct mh_nic *shard_to_look_at(const struct mh_nic *first, struct mh_qp_sums *sums)
{
	for (; sums->shard < first->n_shards; sums->shard++, sums->index = sums->seen = 0) {
		struct mh_nic *nic = first->shard[sums->shard];

		if (sums->seen < nic->n_qps && sums->index <= MH_QPN_INDEX_MASK)
			return nic;
	}
	return NULL;
}

void mh_qp_sums_step(struct mh_nic *first, struct mh_qp_sums *sums, struct mrc_stats_segment *map,
		     uint64_t now_ns)
{
	const struct mh_nic *nic;
	uint32_t took = 0;

	while ((nic = shard_to_look_at(first, sums)) && took < SUMS_STEP) {
		struct mh_qp *qp = nic->qp_by_index[sums->index++];

		if (!qp)
			continue;
		sums->seen++;
		if (qp->mt)
			took += add_qp(sums, qp);
	}
	if (nic)
		return;
	store_round(sums, map, now_ns);
	memset(sums, 0, sizeof(*sums));
}
