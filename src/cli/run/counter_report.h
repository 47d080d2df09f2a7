/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counter_report.h - what softmrc counted while a program ran, it and all that it started: said
 * when it has ended.
 *
 * Its processes keep their statistics (mrc/stats.h) in a folder of this run alone, which goes when
 * they have been read.
 */
#ifndef SOFTMRC_CLI_RUN_COUNTER_REPORT_H
#define SOFTMRC_CLI_RUN_COUNTER_REPORT_H

#include <mrc/stats.h>
#include <stddef.h>
#include <stdio.h>

#define RUN_REPORT_DIR_MAX 64u

struct run_report {
	char dir[RUN_REPORT_DIR_MAX];
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	uint32_t processes;	   /* that opened the device */
	uint32_t unreadable;	   /* files that were not whole */
	uint32_t ports;
	struct mrc_stats_counter counter[MRC_STATS_COUNTERS]; /* sums */
	struct {
		uint64_t tx_bytes, rx_bytes;
	} port[MRC_STATS_PORTS];       /* sums */
	struct mrc_stats_event *event; /* of EVs, in the order of time */
	size_t events, room;
};

/* run_report_open makes the folder and the environment that leads there. 0, or an errno value. */
int run_report_open(struct run_report *r);

/* run_report_add adds what a process showed. 0, or ENOMEM. */
int run_report_add(struct run_report *r, const struct mrc_stats_segment *s);
/* run_report_read adds all processes, and brings their events in order. 0, or an errno value. */
int run_report_read(struct run_report *r);

/* run_report_show writes it for eyes. */
void run_report_show(const struct run_report *r, const char *program, FILE *to);
/* run_report_json writes it for programs. 0, or an errno value. */
int run_report_json(const struct run_report *r, const char *path);

/* run_report_close removes the folder, and frees what was read. */
void run_report_close(struct run_report *r);

#endif
