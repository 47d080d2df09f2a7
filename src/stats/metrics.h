/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metrics.h - the catalogue: name, type, unit and meaning of all that processes publish, and where
 * in a segment it is. What shows numbers under names takes both from here.
 */
#ifndef SOFTMRC_STATS_METRICS_H
#define SOFTMRC_STATS_METRICS_H

#include <mrc/stats.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stats_metric_type {
	STATS_COUNTER, /* only grows while its process lives */
	STATS_GAUGE,
};

/* What there is one number for. */
enum stats_metric_of {
	STATS_OF_PROCESS,
	STATS_OF_PLANE,	   /* each port of a process */
	STATS_OF_EV_STATE, /* each port and each state of an EV */
	STATS_OF_QP_STATE, /* each state of a QP */
};

#define STATS_EV_STATES 4u
#define STATS_QP_STATES 6u

struct stats_metric {
	const char *name;
	const char *unit; /* NULL: by the name, see stats_metric_unit */
	const char *meaning;
	enum stats_metric_type type;
	enum stats_metric_of of;
	uint64_t per_unit; /* the segment's number is so many to the unit: 10^9 for nanoseconds */
	size_t at;	   /* of the number, for its first plane and state */
	size_t bytes;	   /* 4 or 8; 0: a counter that is found by its name */
};

/* Which of the numbers of a metric; what the metric has none of is ignored. */
struct stats_metric_index {
	uint32_t plane, state;
};

/* stats_metric returns row i of the catalogue, NULL behind the last. */
const struct stats_metric *stats_metric(size_t i);
/* stats_metric_find returns the row of a name, or NULL. */
const struct stats_metric *stats_metric_find(const char *name);

/* stats_metric_unit returns "bytes", "seconds" or, for a number of things, an empty text. */
const char *stats_metric_unit(const struct stats_metric *m);

/*
 * stats_metric_read reads one number of a copied segment, in the segment's own unit. False: the
 * process does not publish it, as one of another release, or without congestion control.
 */
bool stats_metric_read(const struct stats_metric *m, const struct mrc_stats_segment *s,
		       struct stats_metric_index index, uint64_t *value);

/* stats_ev_state_name returns "good", "skip", "bad", "denied", or "?" for another number. */
const char *stats_ev_state_name(uint32_t state);
/* stats_qp_state_name returns "RESET", "INIT", "RTR", ..., or "?". */
const char *stats_qp_state_name(uint32_t state);

/*
 * stats_plane_imbalance says how much more the busiest plane that is up sent than their mean
 * between two readings, or since the start where `before` is NULL, as a ratio from 0; -1: fewer
 * than two planes are up, or nothing was sent. *busiest and *idlest are those planes.
 */
double stats_plane_imbalance(const struct mrc_stats_segment *now,
			     const struct mrc_stats_segment *before, uint32_t *busiest,
			     uint32_t *idlest);

#endif
