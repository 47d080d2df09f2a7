/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats_segment.c - keeps the statistics segment up to date.
 *
 * The file is written through a shared mapping by the progress thread only. Every number is stored
 * whole (relaxed atomics); the magic is stored when the rest is there, and updated_ns last.
 */
#include "host/stats_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <mrc/stats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/counters.h"
#include "host/qp.h"

/* 20 times a second: smooth to the eye, nothing to the CPU. */
#define SEGMENT_PERIOD_NS UINT64_C(50000000)
#define SEGMENT_PATH_MAX 4096u
#define SEGMENT_RETIRED_MAX 65535u

struct mh_segment {
	struct mrc_stats_segment *map;
	uint64_t due_ns;
	pid_t owner; /* a forked child must not remove its parent's file */
	char path[SEGMENT_PATH_MAX];
};

_Static_assert((int)MRC_STATS_EV_DENIED == (int)MT_EV_DENIED &&
		       (int)MRC_STATS_EV_ASSUMED_BAD == (int)MT_EV_ASSUMED_BAD &&
		       (int)MRC_STATS_EV_SKIP == (int)MT_EV_SKIP,
	       "states of EVs");
_Static_assert(MRC_STATS_COUNTERS >= MH_COUNTERS_MAX, "room for all counters");

/* The magic as one word, so that it appears as a whole. */
typedef uint64_t __attribute__((may_alias)) segment_word;

#define STORE(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)

static int segment_fail(struct mio_error *error, const char *call, const char *path)
{
	int code = errno;

	snprintf(error->text, sizeof(error->text), "MRC_STATS_DIR: %s %.150s: %s", call, path,
		 strerror(code));
	return code;
}

static int segment_map(struct mh_segment *s, struct mio_error *error)
{
	int fd;
	void *map;

	/* A file of this name is of a process that had our number and crashed. */
	if (unlink(s->path) < 0 && errno != ENOENT)
		return segment_fail(error, "removing", s->path);
	fd = open(s->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return segment_fail(error, "creating", s->path);
	/* Taking the blocks now turns a full disk into an error here instead of a signal later. */
	errno = posix_fallocate(fd, 0, sizeof(*s->map));
	map = errno ? MAP_FAILED
		    : mmap(NULL, sizeof(*s->map), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		int code = segment_fail(error, "mapping", s->path);

		close(fd);
		unlink(s->path);
		return code;
	}
	close(fd);
	s->map = map;
	return 0;
}

static void segment_counters(struct mh_nic *nic, struct mrc_stats_segment *map)
{
	struct mh_counter counters[MH_COUNTERS_MAX];
	uint32_t n = mh_counters_read(nic, counters);

	for (uint32_t i = 0; i < n; i++)
		STORE(map->counter[i].value, counters[i].value);
}

static void segment_counter_names(struct mh_nic *nic, struct mrc_stats_segment *map)
{
	struct mh_counter counters[MH_COUNTERS_MAX];
	uint32_t n = mh_counters_read(nic, counters);

	for (uint32_t i = 0; i < n; i++)
		snprintf(map->counter[i].name, sizeof(map->counter[i].name), "%s",
			 counters[i].name);
}

static void segment_ports(const struct mh_nic *nic, struct mrc_stats_segment *map)
{
	for (uint32_t i = 0; i < nic->ports.n; i++) {
		const struct mio_status *status = nic->ports.port[i].io->status;
		struct mrc_stats_port *port = &map->port[i];

		STORE(port->tx_packets, status->tx_frames);
		STORE(port->tx_bytes, status->tx_bytes);
		STORE(port->rx_packets, status->rx_frames);
		STORE(port->rx_bytes, status->rx_bytes);
		STORE(port->rx_overruns, status->rx_overruns);
		STORE(port->tx_refused, status->tx_refused);
		STORE(port->up, (uint32_t)nic->ports.port[i].up);
	}
}

static void segment_evs(const struct mh_qp *qp, struct mrc_stats_qp *out, uint32_t evs)
{
	for (uint32_t i = 0; i < evs; i++) {
		struct mrc_stats_ev *ev = &out->ev[i];
		struct mt_ev_info info;

		if (!mt_qp_ev_info(qp->mt, i, &info))
			return;
		STORE(ev->value, info.ev.value);
		STORE(ev->port, info.ev.port);
		STORE(ev->state, (uint8_t)info.state);
		STORE(ev->retired,
		      (uint16_t)(info.retired < SEGMENT_RETIRED_MAX ? info.retired
								    : SEGMENT_RETIRED_MAX));
	}
}

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
	segment_evs(qp, out, evs);
	STORE(out->evs, evs);
	STORE(out->evs_good, info.evs_good);
	STORE(out->qpn, info.qpn);
}

static void segment_qps(struct mh_nic *nic, struct mrc_stats_segment *map)
{
	uint32_t n = 0;

	for (struct mb_link *l = nic->qps.next; l != &nic->qps && n < MRC_STATS_QPS; l = l->next)
		segment_qp(mb_container_of(l, struct mh_qp, link), &map->qp[n++]);
	for (; n < MRC_STATS_QPS; n++)
		STORE(map->qp[n].qpn, 0);
}

static void segment_store(struct mh_nic *nic, struct mrc_stats_segment *map, uint64_t now_ns)
{
	segment_counters(nic, map);
	segment_ports(nic, map);
	segment_qps(nic, map);
	__atomic_store_n(&map->updated_ns, now_ns, __ATOMIC_RELEASE);
}

int mh_segment_create(struct mh_nic *nic, const char *dir, struct mio_error *error)
{
	struct mh_segment *s = calloc(1, sizeof(*s));
	uint64_t now = mh_now_ns();
	segment_word magic;
	int err;

	if (!s) {
		snprintf(error->text, sizeof(error->text), "no memory for statistics");
		return ENOMEM;
	}
	s->owner = getpid();
	if (snprintf(s->path, sizeof(s->path), "%s/%ld.mrcstats", dir, (long)s->owner) >=
	    (int)sizeof(s->path)) {
		errno = ENAMETOOLONG;
		err = segment_fail(error, "creating", dir);
	} else {
		err = segment_map(s, error);
	}
	if (err) {
		free(s);
		return err;
	}
	s->map->version = MRC_STATS_VERSION;
	s->map->pid = (uint32_t)s->owner;
	s->map->started_ns = now;
	s->map->ports = nic->ports.n;
	memcpy(s->map->gid, nic->attr.gid.b, sizeof(s->map->gid));
	segment_counter_names(nic, s->map);
	segment_store(nic, s->map, now);
	memcpy(&magic, MRC_STATS_MAGIC, sizeof(magic));
	__atomic_store_n((segment_word *)(void *)s->map->magic, magic, __ATOMIC_RELEASE);
	s->due_ns = now + SEGMENT_PERIOD_NS;
	nic->segment = s;
	return 0;
}

void mh_segment_destroy(struct mh_segment *segment)
{
	if (!segment)
		return;
	munmap(segment->map, sizeof(*segment->map));
	if (segment->owner == getpid())
		unlink(segment->path);
	free(segment);
}

uint64_t mh_segment_due(const struct mh_segment *segment)
{
	return segment ? segment->due_ns : UINT64_MAX;
}

void mh_segment_refresh(struct mh_nic *nic, uint64_t now_ns)
{
	struct mh_segment *s = nic->segment;

	if (!s || now_ns < s->due_ns)
		return;
	segment_store(nic, s->map, now_ns);
	s->due_ns = now_ns + SEGMENT_PERIOD_NS;
}
