/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats_copy.c - copies a segment out of its file: see stats_copy.h.
 *
 * pread(2) of what its writer has mapped copies word by word: numbers come whole, as from a
 * mapping.
 */
#include "stats/stats_copy.h"

#include "base/printable.h"
#include "stats/stats_reader.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_BYTES offsetof(struct mrc_stats_segment, qp)

static bool read_all(int fd, void *to, size_t size, size_t at)
{
	ssize_t n;

	do {
		n = pread(fd, to, size, (off_t)at);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)size;
}

static bool is_whole(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof(struct mrc_stats_segment);
}

/* The magic is stored last: without it the process is still at work on the rest. */
static enum stats_kind kind_of_head(const struct mrc_stats_segment *s)
{
	if (memcmp(s->magic, MRC_STATS_MAGIC, sizeof(s->magic)) != 0)
		return STATS_NONE;
	return s->version == MRC_STATS_VERSION ? STATS_SEGMENT : STATS_OTHER_VERSION;
}

enum stats_kind stats_kind_of(int fd)
{
	struct mrc_stats_segment head;
	enum stats_kind kind = STATS_NONE;

	if (read_all(fd, &head, offsetof(struct mrc_stats_segment, started_ns), 0))
		kind = kind_of_head(&head);
	return kind == STATS_SEGMENT && !is_whole(fd) ? STATS_NONE : kind;
}

static void check_head(struct mrc_stats_segment *s)
{
	if (s->ports > MRC_STATS_PORTS)
		s->ports = MRC_STATS_PORTS;
	if (s->qps.shown > MRC_STATS_QPS)
		s->qps.shown = MRC_STATS_QPS;
	mb_printable(s->node.store, sizeof(s->node.store));
	mb_printable(s->node.refused, sizeof(s->node.refused));
	mb_printable(s->node.writer, sizeof(s->node.writer));
	for (uint32_t i = 0; i < MRC_STATS_COUNTERS; i++)
		mb_printable(s->counter[i].name, sizeof(s->counter[i].name));
	for (uint32_t i = 0; i < MRC_STATS_PORTS; i++)
		mb_printable(s->port[i].interface, sizeof(s->port[i].interface));
}

static void check_qp(struct mrc_stats_qp *qp)
{
	mb_printable(qp->state, sizeof(qp->state));
	if (qp->evs > MRC_STATS_EVS)
		qp->evs = MRC_STATS_EVS;
}

bool stats_copy(int fd, struct mrc_stats_segment *to)
{
	uint32_t n = 0;

	if (!is_whole(fd) || !read_all(fd, to, HEAD_BYTES, 0) || kind_of_head(to) != STATS_SEGMENT)
		return false;
	check_head(to);
	for (; n < MRC_STATS_QPS; n++) {
		if (!read_all(fd, &to->qp[n], sizeof(to->qp[n]),
			      offsetof(struct mrc_stats_segment, qp[n])))
			return false;
		if (!to->qp[n].qpn)
			break;
		check_qp(&to->qp[n]);
	}
	for (; n < MRC_STATS_QPS; n++)
		to->qp[n].qpn = 0;
	return true;
}

bool stats_copy_qps(int fd, struct mrc_stats_qps *to)
{
	return read_all(fd, to, sizeof(*to), offsetof(struct mrc_stats_segment, qps));
}

int stats_segment_load(int fd, struct mrc_stats_segment *segment)
{
	if (!read_all(fd, segment, sizeof(*segment), 0) || kind_of_head(segment) != STATS_SEGMENT)
		return EINVAL;
	check_head(segment);
	for (uint32_t i = 0; i < MRC_STATS_QPS; i++)
		check_qp(&segment->qp[i]);
	return 0;
}

/* ---- events ---- */

/* Numbers `first` to end - 1, at most a ring of them, into a ring of our own. */
static bool read_ring(int fd, uint64_t first, uint64_t end, struct mrc_stats_event *ring)
{
	while (first < end) {
		uint64_t from = first % MRC_STATS_EVENTS, n = MRC_STATS_EVENTS - from;

		n = n < end - first ? n : end - first;
		if (!read_all(fd, &ring[from], n * sizeof(ring[0]),
			      offsetof(struct mrc_stats_segment, event) + from * sizeof(ring[0])))
			return false;
		first += n;
	}
	return true;
}

static bool read_count(int fd, uint64_t *events)
{
	return read_all(fd, events, sizeof(*events), offsetof(struct mrc_stats_segment, events));
}

/*
 * Those of one process. The count is read again behind the events: what the writer may have been at
 * work on meanwhile is missed. A count that goes back is no count, and one that leaps is not waited
 * for.
 */
static uint64_t take_events(struct stats_process *p, stats_event_fn fn, void *context)
{
	static _Thread_local struct mrc_stats_event ring[MRC_STATS_EVENTS];
	uint64_t end, later, first, begin = p->events;

	if (!read_count(p->fd, &end) || end <= begin)
		return 0;
	first = end - begin > MRC_STATS_EVENTS ? end - MRC_STATS_EVENTS : begin;
	if (!read_ring(p->fd, first, end, ring) || !read_count(p->fd, &later) ||
	    !read_all(p->fd, p->gid, sizeof(p->gid), offsetof(struct mrc_stats_segment, gid)))
		return 0;
	p->events = end;
	if (later < end)
		return end - begin;
	if (later - first >= MRC_STATS_EVENTS)
		first = later - MRC_STATS_EVENTS + 1;
	for (uint64_t i = first; i < end; i++)
		fn(context, p, &ring[i % MRC_STATS_EVENTS]);
	return first < end ? first - begin : end - begin;
}

uint64_t stats_reader_events(struct stats_reader *s, stats_event_fn fn, void *context)
{
	uint64_t missed = 0;

	for (uint32_t i = 0; i < s->n; i++)
		missed += take_events(&s->process[i], fn, context);
	return missed;
}
