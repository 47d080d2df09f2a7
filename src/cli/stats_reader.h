/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats_reader.h - the statistics segments (mrc/stats.h) of the processes of this machine: found,
 * copied whole at one moment, forgotten when their process is gone.
 */
#ifndef SOFTMRC_CLI_STATS_READER_H
#define SOFTMRC_CLI_STATS_READER_H

#include <mrc/stats.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Processes beyond this many are not seen: one for each slot of a host. */
#define CLI_STATS_PROCESSES 1024u

/* One process: what its segment showed when last read, and the time before. */
struct cli_stats_process {
	uint32_t pid;
	uint32_t device;  /* of several; 0: the first */
	char command[32]; /* of /proc/PID/comm; "?" where that cannot be read */
	const struct mrc_stats_segment *map;
	struct mrc_stats_segment *now, *before; /* before->updated_ns is 0 at first */
	uint64_t read_ns, read_before_ns;	/* CLOCK_MONOTONIC */
	bool gone;				/* its process has ended */
};

struct cli_stats {
	const char *dir;
	uint32_t only_pid; /* 0: all */
	uint32_t n;
	struct cli_stats_process process[CLI_STATS_PROCESSES];
	uint32_t unreadable; /* files that may not be read */
	uint32_t other_version;
};

/* cli_stats_dir returns the folder that a process here and now would use. */
const char *cli_stats_dir(void);

/* cli_stats_open begins to watch a folder; nothing is read yet. */
void cli_stats_open(struct cli_stats *s, const char *dir, uint32_t only_pid);
void cli_stats_close(struct cli_stats *s);

/*
 * cli_stats_read looks for new processes, forgets those that were gone the last time, and copies
 * what every segment shows. Returns 0, or an errno value when the folder cannot be read.
 */
int cli_stats_read(struct cli_stats *s, uint64_t now_ns);

/* cli_stats_counter returns a counter of a segment by its name, 0 when there is none. */
uint64_t cli_stats_counter(const struct mrc_stats_segment *s, const char *name);

/* cli_stats_per_second returns the growth of a counter since the last reading, by the second. */
double cli_stats_per_second(const struct cli_stats_process *p, uint64_t now, uint64_t before);

#endif
