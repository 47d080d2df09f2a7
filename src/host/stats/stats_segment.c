/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats_segment.c - keeps the statistics segment up to date.
 *
 * The file is written through a shared mapping under the locks of all shards only, by the progress
 * thread of the first, but for events, which the thread that takes them from an engine logs at
 * once, under a lock of their own. Every number is
 * stored whole (relaxed atomics); the magic is stored when the rest is there, and updated_ns last.
 */
#include "host/stats/stats.h"

#include <errno.h>
#include <mrc/stats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "host/state/shards.h"
#include "stats/stats_files.h"

/* What readers of the files count devices by. */
_Static_assert(MH_DEVICES_MAX == STATS_DEVICES_MAX, "as many files as devices");

/* 20 times a second: smooth to the eye, nothing to the CPU. */
#define SEGMENT_PERIOD_NS UINT64_C(50000000)
#define SEGMENT_RETIRED_MAX 65535u

struct mh_segment {
	struct mh_stats_file file;
	struct mrc_stats_segment *map;
	struct mh_qp_sums sums;
	uint64_t due_ns;
	pthread_mutex_t events; /* the ring of events and what is counted of them */
};

_Static_assert((int)MRC_STATS_EV_DENIED == (int)MT_EV_DENIED &&
		       (int)MRC_STATS_EV_ASSUMED_BAD == (int)MT_EV_ASSUMED_BAD &&
		       (int)MRC_STATS_EV_SKIP == (int)MT_EV_SKIP,
	       "states of EVs");
_Static_assert((int)MRC_STATS_EV_BY_LOSS == (int)MT_EV_BY_LOSS &&
		       (int)MRC_STATS_EV_BY_MARK == (int)MT_EV_BY_MARK &&
		       (int)MRC_STATS_EV_BY_PROBE == (int)MT_EV_BY_PROBE &&
		       (int)MRC_STATS_EV_BY_FLOOR == (int)MT_EV_BY_FLOOR &&
		       (int)MRC_STATS_EV_BY_OPERATOR == (int)MT_EV_BY_OPERATOR &&
		       (int)MRC_STATS_EV_BY_PORT == (int)MT_EV_BY_PORT &&
		       (int)MRC_STATS_EV_BY_LATE == (int)MT_EV_BY_LATE &&
		       (int)MRC_STATS_EV_BY_HINT == (int)MT_EV_BY_HINT &&
		       (int)MT_EV_CAUSES == (int)MRC_STATS_EV_BY_HINT + 1,
	       "causes of their changes");
_Static_assert((int)MRC_STATS_QP_RTS == (int)RD_QPS_RTS &&
		       (int)MRC_STATS_QP_ERR == (int)RD_QPS_ERR &&
		       (int)MRC_STATS_QP_STATES == (int)RD_QPS_COUNT,
	       "states of QPs");
_Static_assert(MRC_STATS_COUNTERS >= MH_COUNTERS_MAX, "room for all counters");

/* The magic as one word, so that it appears as a whole. */
typedef uint64_t __attribute__((may_alias)) segment_word;
static const union {
	char text[8];
	segment_word word;
} segment_magic = {.text = MRC_STATS_MAGIC};

#define STORE(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)

/* Names are written once: a reader takes those that it sees with the magic to be whole. */
static void segment_counters(struct mh_nic *nic, struct mrc_stats_segment *map, bool names)
{
	struct mh_counter counters[MH_COUNTERS_MAX];
	uint32_t n = mh_counters_read(nic, counters);

	for (uint32_t i = 0; i < n; i++) {
		STORE(map->counter[i].value, counters[i].value);
		if (names)
			snprintf(map->counter[i].name, sizeof(map->counter[i].name), "%s",
				 counters[i].name);
	}
}

/*
 * A reader sees each number whole but not all of them of one instant: it shows rates, and a
 * consistent snapshot would need a lock that a reader could hold.
 */
static void segment_ports(const struct mh_nic *first, struct mrc_stats_segment *map)
{
	for (uint32_t i = 0; i < first->ports.n; i++) {
		struct mrc_stats_port *port = &map->port[i];
		struct mio_status sum = {0};
		bool up = true;

		for (uint32_t k = 0; k < first->n_shards; k++) {
			const struct mio_status *status = first->shard[k]->ports.port[i].io->status;

			sum.tx_frames += status->tx_frames;
			sum.tx_bytes += status->tx_bytes;
			sum.rx_frames += status->rx_frames;
			sum.rx_bytes += status->rx_bytes;
			sum.rx_overruns += status->rx_overruns;
			sum.tx_refused += status->tx_refused;
			up &= first->shard[k]->ports.port[i].up;
		}
		STORE(port->tx_packets, sum.tx_frames);
		STORE(port->tx_bytes, sum.tx_bytes);
		STORE(port->rx_packets, sum.rx_frames);
		STORE(port->rx_bytes, sum.rx_bytes);
		STORE(port->rx_overruns, sum.rx_overruns);
		STORE(port->tx_refused, sum.tx_refused);
		STORE(port->up, (uint32_t)up);
	}
}

/*
 * A count that wrapped would look like one that stands still: `retired` stays at its largest
 * number.
 */
static void segment_evs(const struct mh_qp *qp, struct mrc_stats_qp *out)
{
	struct mrc_stats_ev *ev = out->ev;
	struct mt_ev_info info;

	for (uint32_t i = 0; mt_qp_ev_info(qp->mt, i, &info); i++, ev++) {
		if (i == MRC_STATS_EVS)
			return;
		STORE(ev->value, info.ev.value);
		STORE(ev->port, info.ev.port);
		STORE(ev->state, (uint8_t)info.state);
		STORE(ev->retired,
		      (uint16_t)(info.retired < SEGMENT_RETIRED_MAX ? info.retired
								    : SEGMENT_RETIRED_MAX));
	}
}

/*
 * qpn goes last: 0 means that the entry is not in use, so a reader of a fresh entry finds the rest
 * there.
 */
static void segment_qp(const struct mh_qp *qp, struct mrc_stats_qp *out)
{
	struct mt_qp_info info;
	uint32_t evs;

	mt_qp_info(qp->mt, &info);
	evs = info.evs < MRC_STATS_EVS ? info.evs : MRC_STATS_EVS;
	STORE(out->dest_qpn, info.dest_qpn);
	memcpy(out->dest, info.dest.b, sizeof(out->dest));
	snprintf(out->state, sizeof(out->state), "%s", mt_qp_state_name(info.state));
	STORE(out->psn_next, info.psn_next);
	STORE(out->psn_una, info.psn_una);
	STORE(out->cwnd_bytes, info.cwnd_bytes);
	STORE(out->inflight_bytes, info.inflight_bytes);
	STORE(out->srtt_ns, info.srtt_ns);
	segment_evs(qp, out);
	STORE(out->evs, evs);
	STORE(out->evs_good, info.evs_good);
	STORE(out->evs_bad, info.evs_bad);
	STORE(out->evs_all, info.evs);
	STORE(out->rtt_min_ns, info.rtt_min_ns);
	STORE(out->reorder_window_ns, info.reorder_window_ns);
	STORE(out->psn_expected, info.psn_expected);
	STORE(out->lost_pending, info.lost_pending);
	STORE(out->qpn, info.qpn);
}

/*
 * As many QPs as the file has room for, shard by shard in the order in which they were made; UD QPs
 * have no such state. The others are in the sums.
 */
static uint32_t segment_qps_of(const struct mh_nic *nic, struct mrc_stats_segment *map, uint32_t n)
{
	for (struct mb_link *l = nic->qps.next; l != &nic->qps && n < MRC_STATS_QPS; l = l->next) {
		const struct mh_qp *qp = mb_container_of(l, struct mh_qp, link);

		if (qp->mt)
			segment_qp(qp, &map->qp[n++]);
	}
	return n;
}

static void segment_qps(const struct mh_nic *first, struct mrc_stats_segment *map)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < first->n_shards; i++)
		n = segment_qps_of(first->shard[i], map, n);
	STORE(map->qps.shown, n);
	for (; n < MRC_STATS_QPS; n++)
		STORE(map->qp[n].qpn, 0);
}

static void segment_update(struct mh_nic *nic, struct mh_segment *segment, uint64_t now_ns)
{
	struct mrc_stats_segment *map = segment->map;

	segment_counters(nic, map, false);
	segment_ports(nic, map);
	segment_qps(nic, map);
	mh_qp_sums_step(nic, &segment->sums, map, now_ns);
	__atomic_store_n(&map->updated_ns, now_ns, __ATOMIC_RELEASE);
}

static uint32_t segment_carrier(const struct mh_env *env)
{
	switch (env->driver) {
	case MH_DRIVER_UDP:
		return mh_env_is_srv6(env) ? MRC_STATS_CARRIER_SRV6_UDP : MRC_STATS_CARRIER_UDP;
	case MH_DRIVER_AF_PACKET:
		return MRC_STATS_CARRIER_AF_PACKET;
	case MH_DRIVER_RAW41:
		return mh_env_is_srv6(env) ? MRC_STATS_CARRIER_SRV6_RAW41 : MRC_STATS_CARRIER_RAW41;
	}
	mb_unreachable();
}

/* What stays as it is while the process lives. */
static void segment_write_header(struct mh_nic *nic, struct mrc_stats_segment *map, uint64_t now_ns)
{
	map->version = MRC_STATS_VERSION;
	map->pid = (uint32_t)getpid();
	map->started_ns = now_ns;
	map->ports = nic->ports.n;
	map->carrier = segment_carrier(&nic->env);
	memcpy(map->gid, nic->attr.gid.b, sizeof(map->gid));
	segment_counters(nic, map, true);
	for (uint32_t i = 0; i < nic->ports.n; i++) {
		struct mrc_stats_port *port = &map->port[i];

		memcpy(port->address, nic->ports.map.local[i], sizeof(port->address));
		port->udp_port = mh_ports_udp_of_slot(&nic->ports, nic->ports.slot);
		port->slot = (uint16_t)nic->ports.slot;
		port->pace_bps = nic->env.pace_bps;
		snprintf(port->interface, sizeof(port->interface), "%s", nic->env.port[i].ifname);
	}
}

/* The magic goes last, with release: a reader that opens the file earlier finds none and waits. */
static int segment_open(struct mh_nic *nic, const char *dir, bool own, struct mio_error *error)
{
	struct mh_stats_file_cfg cfg = {nic->env.device, nic->env.stats_group};
	struct mh_segment *s = calloc(1, sizeof(*s));
	uint64_t now = mh_now_ns();
	int err;

	if (!s) {
		snprintf(error->text, sizeof(error->text), "no memory for statistics");
		return ENOMEM;
	}
	err = own ? mh_stats_file_open_own(&s->file, dir, &cfg, error)
		  : mh_stats_file_open(&s->file, dir, &cfg, error);
	if (err) {
		free(s);
		return err;
	}
	pthread_mutex_init(&s->events, NULL);
	s->file.keep = nic->env.stats_keep;
	s->map = s->file.map;
	segment_write_header(nic, s->map, now);
	segment_update(nic, s, now);
	__atomic_store_n((segment_word *)(void *)s->map->magic, segment_magic.word,
			 __ATOMIC_RELEASE);
	s->due_ns = now + SEGMENT_PERIOD_NS;
	nic->segment = s;
	return 0;
}

int mh_segment_create(struct mh_nic *nic, struct mio_error *error)
{
	struct mio_error refused;
	char dir[STATS_DIR_MAX];

	if (nic->env.stats_dir[0])
		return segment_open(nic, nic->env.stats_dir, false, error);
	/* It was not asked for, so it is no error that there is no place for it. */
	if (segment_open(nic, stats_dir_default(dir), true, &refused) == EPERM)
		mh_process_log_once(mh_process(), MRC_LOG_WARNING, refused.text);
	return 0;
}

void mh_segment_finish(struct mh_nic *nic)
{
	if (nic->segment)
		segment_update(nic, nic->segment, mh_now_ns());
}

void mh_segment_destroy(struct mh_segment *segment)
{
	if (!segment)
		return;
	mh_stats_file_close(&segment->file);
	pthread_mutex_destroy(&segment->events);
	free(segment);
}

void mh_segment_close_inherited(struct mh_segment *segment)
{
	if (segment)
		mh_stats_file_close(&segment->file);
}

uint64_t mh_segment_deadline(const struct mh_segment *segment)
{
	return segment ? segment->due_ns : UINT64_MAX;
}

void mh_segment_refresh(struct mh_nic *nic, uint64_t now_ns)
{
	struct mh_segment *s = nic->segment;

	if (!s || now_ns < s->due_ns)
		return;
	mh_shards_lock_others(nic);
	segment_update(nic, s, now_ns);
	mh_shards_unlock_others(nic);
	s->due_ns = now_ns + SEGMENT_PERIOD_NS;
}

void mh_segment_node(struct mh_segment *segment, const struct mrc_stats_node *node)
{
	if (segment)
		segment->map->node = *node;
}

static uint8_t segment_event_kind(const struct mt_event *event)
{
	if (event->type == MT_EVENT_EV)
		return MRC_STATS_EVENT_EV;
	return event->port_of_peer ? MRC_STATS_EVENT_PEER_PORT : MRC_STATS_EVENT_PORT;
}

/* By plane, which the engine's own counters do not tell apart. */
static void segment_count_ev(struct mrc_stats_segment *map, const struct mt_event *event)
{
	struct mrc_stats_port *port;

	if (event->type != MT_EVENT_EV)
		return;
	port = &map->port[event->ev.port];
	if (event->ev_state == MT_EV_ASSUMED_BAD)
		STORE(port->evs_retired, port->evs_retired + 1);
	else if (event->ev_state == MT_EV_GOOD && event->ev_cause == MT_EV_BY_PROBE)
		STORE(port->evs_revived, port->evs_revived + 1);
}

void mh_segment_event(struct mh_segment *segment, const struct mt_event *event, uint64_t now_ns)
{
	struct mrc_stats_event *to;
	uint64_t n;

	if (!segment)
		return;
	/*
	 * A ring that readers follow by its count; one that falls behind by a whole ring sees that
	 * it missed some.
	 */
	pthread_mutex_lock(&segment->events);
	segment_count_ev(segment->map, event);
	n = segment->map->events;
	to = &segment->map->event[n % MRC_STATS_EVENTS];
	STORE(to->at_ns, now_ns);
	STORE(to->ev, event->ev.value);
	STORE(to->kind, segment_event_kind(event));
	STORE(to->port, event->ev.port);
	STORE(to->state, event->type == MT_EVENT_EV ? event->ev_state : (uint8_t)event->port_up);
	STORE(to->cause, event->ev_cause);
	STORE(to->ev_profile, event->ev_profile);
	STORE(to->ev_index, event->ev_index);
	memcpy(to->peer, event->peer.b, sizeof(to->peer));
	__atomic_store_n(&segment->map->events, n + 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&segment->events);
}
