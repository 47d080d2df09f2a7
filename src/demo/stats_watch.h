/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats_watch.h - looks into the statistics segments (mrc/stats.h) of the processes of a run and
 * adds them up: counters, bytes per plane, and which entropy values are good on which plane and
 * path.
 *
 * A segment stays mapped after its process has removed the file, so the last values are not lost.
 */
#ifndef SOFTMRC_DEMO_STATS_WATCH_H
#define SOFTMRC_DEMO_STATS_WATCH_H

#include <mrc/stats.h>
#include <stdbool.h>
#include <stdint.h>

#define DEMO_PROCESSES_MAX 32u
#define DEMO_PLANES_MAX 8u
#define DEMO_PATHS_MAX 16u

/* The counters that the demo needs, by the names that the segment uses. */
#define DEMO_COUNTERS(X)        \
	X(tx_data_packets)      \
	X(tx_retransmits)       \
	X(timeouts)             \
	X(evs_retired)          \
	X(evs_revived)          \
	X(peer_ports_abandoned) \
	X(drop_icrc)

struct demo_counters {
#define DEMO_COUNTER_FIELD(name) uint64_t name;
	DEMO_COUNTERS(DEMO_COUNTER_FIELD)
#undef DEMO_COUNTER_FIELD
};

/* How many queue pairs hold the EVs of a path in which state. */
struct demo_path_state {
	uint32_t good, skip, bad;
};

struct demo_watch {
	char dir[256];
	uint32_t n;
	const struct mrc_stats_segment *segment[DEMO_PROCESSES_MAX];
	char name[DEMO_PROCESSES_MAX][64];   /* of the file, so that it is mapped once */
	uint64_t events[DEMO_PROCESSES_MAX]; /* taken so far */
};

/* Sums over all processes at one moment. */
struct demo_sums {
	struct demo_counters counters;
	uint64_t tx_bytes[DEMO_PLANES_MAX];
	uint64_t overruns;
	struct demo_path_state path[DEMO_PLANES_MAX][DEMO_PATHS_MAX];
};

/* demo_watch_open begins to watch a directory; demo_watch_close unmaps everything. */
void demo_watch_open(struct demo_watch *w, const char *dir);
void demo_watch_close(struct demo_watch *w);

/* demo_watch_find maps the segments that are new; returns how many are mapped. */
uint32_t demo_watch_find(struct demo_watch *w);

/* demo_watch_sum reads all mapped segments; an EV's path is its value modulo `paths`. */
void demo_watch_sum(const struct demo_watch *w, uint32_t paths, struct demo_sums *sums);

/* demo_watch_event_fn is told of one event. */
typedef void (*demo_watch_event_fn)(void *arg, const struct mrc_stats_event *event);

/*
 * demo_watch_events tells of all events logged since the last call, those of a process in their
 * order, and returns how many were overwritten before they could be read.
 */
uint64_t demo_watch_events(struct demo_watch *w, demo_watch_event_fn fn, void *arg);

/* demo_watch_missing returns the name of a counter that no mapped segment has, or NULL. */
const char *demo_watch_missing(const struct demo_watch *w);

/* demo_watch_differences returns later - earlier, counter by counter. */
struct demo_counters demo_watch_differences(const struct demo_counters *later,
					    const struct demo_counters *earlier);

#endif
