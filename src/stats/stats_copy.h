/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_copy.h - private to this module: a segment of another process, copied and checked. */
#ifndef SOFTMRC_STATS_STATS_COPY_H
#define SOFTMRC_STATS_STATS_COPY_H

#include <mrc/stats.h>
#include <stdbool.h>

enum stats_kind {
	STATS_NONE, /* no segment, or not ready, or cut off */
	STATS_OTHER_VERSION,
	STATS_SEGMENT,
};

/* stats_kind_of says what a file is, by its head and its size. */
enum stats_kind stats_kind_of(int fd);

/*
 * stats_copy copies a segment but for its events; of QPs those in use. Counts are cut to their
 * bounds, and texts are made printable. False: it is no segment any more.
 */
bool stats_copy(int fd, struct mrc_stats_segment *to);
/* stats_copy_qps copies the sums over QPs alone. False: they cannot be read. */
bool stats_copy_qps(int fd, struct mrc_stats_qps *to);

#endif
