/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read_goal.h - schedules in GOAL, the language of LogGOPSim and ATLAHS: for each rank what it
 * sends, receives and calculates, and in which order.
 *
 *	num_ranks 2
 *	rank 0 {
 *	l1: calc 1000 cpu 0
 *	l2: send 4096b to 1 tag 7 cpu 0 nic 0
 *	l2 requires l1
 *	}
 *	rank 1 {
 *	l1: recv 4096b from 0 tag 7
 *	}
 *
 * Comments are // to the end of the line, and between slash-star and star-slash. A calc takes so
 * many ns. `requires` waits for the end, `irequires` for the start (trace_graph.h). `nic` numbers
 * the connection between two ranks. The binary form that txt2bin makes of it is read too. Files are
 * read piece by piece, whatever their size; of the binary one a rank at a time.
 */
#ifndef SOFTMRC_SIM_IMPORT_READ_GOAL_H
#define SOFTMRC_SIM_IMPORT_READ_GOAL_H

#include "sim/import/trace_graph.h"

/*
 * ms_goal_read reads a schedule, in text or binary as its first bytes say. Returns its graph,
 * sealed, the caller's. NULL: *error names rank and line (binary: the number of the operation, from
 * 1) and what is wrong there. Blocks on the file.
 */
struct ms_graph *ms_goal_read(const char *path, const struct ms_trace_place *place,
			      struct ms_file_error *error);

/* ms_goal_is_binary says whether a file begins as binary schedules do; the file is at its begin. */
bool ms_goal_is_binary(const uint8_t first[8]);
/* ms_goal_text and ms_goal_binary add what a file says to a trace; false: the error is said. */
bool ms_goal_text(struct ms_trace *t, void *file, const struct ms_trace_place *place,
		  const char *path, struct ms_file_error *error);
bool ms_goal_binary(struct ms_trace *t, void *file, const struct ms_trace_place *place,
		    const char *path, struct ms_file_error *error);

#endif
