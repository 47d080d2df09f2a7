/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * train_report.h - what `train` tells: text or JSON on stdout, JSON lines in the --report file.
 *
 * Lines of the report, each an object on a line of its own, written at once:
 *
 *	{"begin": {"rank", "ranks", "steps", "params", "files", "bytes", "bigram_bits", "transport",
 *	           "tcp_paths", "tcp_feels_loss"}}
 *	{"step", "t_start_ns", "t_end_ns", "comm_ns", "loss"}
 *	{"end": {"loss", "sha256"}}
 *
 * tcp_paths is an array: the path of each plane on which the connection to the next rank stays;
 * tcp_feels_loss: whether a fault table can make it lose a share of its segments.
 * Times are CLOCK_MONOTONIC; losses are bits per byte, with the digits that tell two floats apart.
 */
#ifndef EXAMPLES_TRAIN_REPORT_H
#define EXAMPLES_TRAIN_REPORT_H

#include "train_args.h"
#include "train_text.h"

#include <stdio.h>

struct train_step {
	uint32_t step;
	uint64_t t_start_ns, t_end_ns;
	uint64_t comm_ns; /* of it, spent in the all-reduce */
	float loss;	  /* bits per byte over the step's positions, before its update */
};

struct train_report {
	const struct train_args *args;
	FILE *file; /* NULL: none asked for */
	bool loud;  /* rank 0 speaks on stdout, the others only say their digest */
};

/* train_report_open creates the file of --report; 0, or -1 after a message on stderr. */
int train_report_open(struct train_report *r, const struct train_args *args);
void train_report_begin(struct train_report *r, const struct train_text *text, double bigram_bits,
			const struct ring *ring);
void train_report_step(struct train_report *r, const struct train_step *s);
void train_report_end(struct train_report *r, float loss, double bigram_bits, const char *sha256);
/* train_report_close returns 0, or -1 after a message: the report or stdout could not be
 * written. */
int train_report_close(struct train_report *r);

#endif
