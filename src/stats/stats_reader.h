/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats_reader.h - the statistics segments (mrc/stats.h) of processes, found in a folder and
 * mapped.
 *
 * A segment stays mapped after its process has removed the file, so its last values are not lost.
 */
#ifndef SOFTMRC_STATS_STATS_READER_H
#define SOFTMRC_STATS_STATS_READER_H

#include <mrc/stats.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Processes beyond this many are not seen: one for each slot of a host. */
#define STATS_PROCESSES_MAX 1024u

/* One process: its segment, and what that showed when last read, and the time before. */
struct stats_process {
	uint32_t pid;
	uint32_t device;  /* of several; 0: the first */
	char command[32]; /* of /proc/PID/comm; "?" where that cannot be read */
	const struct mrc_stats_segment *map;
	struct mrc_stats_segment *now, *before; /* before->updated_ns is 0 at first */
	uint64_t read_ns, read_before_ns;	/* CLOCK_MONOTONIC */
	uint64_t events;			/* taken by stats_reader_events */
	bool gone;				/* its process has ended */
};

struct stats_reader {
	const char *dir;   /* kept by the caller */
	uint32_t only_pid; /* 0: all */
	bool with_ended;   /* processes that have ended too */
	uint32_t n;
	struct stats_process process[STATS_PROCESSES_MAX];
	uint32_t unreadable; /* files that may not be read */
	uint32_t other_version;
};

/* stats_dir returns the folder that a process here and now would use. */
const char *stats_dir(void);

/* stats_reader_open begins to watch a folder; nothing is read yet. */
void stats_reader_open(struct stats_reader *s, const char *dir, uint32_t only_pid);
void stats_reader_close(struct stats_reader *s);

/* stats_reader_find maps segments that are new. 0, or an errno value: the folder cannot be read. */
int stats_reader_find(struct stats_reader *s);

/*
 * stats_reader_read looks for new processes, forgets those that were gone the last time, and copies
 * what every segment shows, all at one moment. Returns as stats_reader_find.
 */
int stats_reader_read(struct stats_reader *s, uint64_t now_ns);

/* stats_event_fn is given one event. */
typedef void (*stats_event_fn)(void *context, const struct mrc_stats_event *event);

/*
 * stats_reader_events calls fn with all events logged since the last call, those of a process in
 * their order, and returns how many were overwritten before they could be read.
 */
uint64_t stats_reader_events(struct stats_reader *s, stats_event_fn fn, void *context);

/* stats_counter_find returns a counter of a segment by its name, or NULL. */
const struct mrc_stats_counter *stats_counter_find(const struct mrc_stats_segment *s,
						   const char *name);
/* stats_counter returns the value of a counter, 0 when there is none of this name. */
uint64_t stats_counter(const struct mrc_stats_segment *s, const char *name);

/* stats_per_second returns the growth of a counter since the last reading, by the second. */
double stats_per_second(const struct stats_process *p, uint64_t now, uint64_t before);

#endif
