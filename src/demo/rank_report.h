/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_report.h - follows the report that a rank of `train` writes: JSON lines, read as they grow.
 */
#ifndef SOFTMRC_DEMO_RANK_REPORT_H
#define SOFTMRC_DEMO_RANK_REPORT_H

#include "demo/step_stats.h"

#include <stdbool.h>
#include <stdio.h>

#define DEMO_REPORT_PLANES 32u

struct demo_report {
	char path[256];
	FILE *file; /* NULL: not there yet */
	char line[1024];
	size_t line_len;
	struct demo_step *steps; /* owned */
	size_t n, capacity;
	bool begun, ended, broken; /* broken: a line that is not understood */
	uint32_t files;
	uint64_t bytes; /* of the text */
	double bigram_bits;
	char transport[160];
	uint32_t tcp_paths;		       /* planes in tcp_path; 0: not TCP */
	uint32_t tcp_path[DEMO_REPORT_PLANES]; /* of the connection to the next rank */
	bool tcp_feels_loss;		       /* a share of its segments can be made to vanish */
	double final_loss;
	char sha256[65];
};

void demo_report_open(struct demo_report *r, const char *path);
void demo_report_close(struct demo_report *r);

/* demo_report_read takes in what was written since. */
void demo_report_read(struct demo_report *r);
/* demo_report_line takes in one line; false: it is not understood. */
bool demo_report_line(struct demo_report *r, const char *line);

#endif
