/* SPDX-License-Identifier: BSD-2-Clause */
/* measure.h - what is measured during a run: steps, counters, recovery times, processor load. */
#ifndef SOFTMRC_DEMO_MEASURE_H
#define SOFTMRC_DEMO_MEASURE_H

#include "stats/stats_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- steps ---- */

/* One training step as rank 0 reported it. */
struct demo_step {
	uint32_t step;
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t comm_ns;	   /* of it, in the all-reduce */
	double loss;		   /* bits per byte */
};

/* The steps that lie wholly in a stretch of time; medians are 0 when there is none. */
struct demo_figure {
	size_t n;
	uint64_t step_ns; /* median */
	uint64_t comm_ns; /* median */
	uint64_t max_ns;
};

/* demo_figures_median sorts values and returns the middle one, the lower of two; 0 when n is 0. */
uint64_t demo_figures_median(uint64_t *values, size_t n);

/* demo_figures_between looks at the steps that began at `from` or later and ended by `to`. */
struct demo_figure demo_figures_between(const struct demo_step *steps, size_t n, uint64_t from_ns,
					uint64_t to_ns);

/*
 * demo_figures_expect returns how long a step should take when its all-reduce takes num / den times
 * as long as in `before`; 0 when den is 0 or before holds no step.
 */
uint64_t demo_figures_expect(const struct demo_figure *before, uint32_t num, uint32_t den);

/* ---- the report that a rank of `train` writes: JSON lines, read as they grow ---- */

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

/* ---- the statistics of the processes of a run, added up ---- */

#define DEMO_PLANES_MAX 8u
#define DEMO_PATHS_MAX 16u

/* The counters that the demo needs, by the names that the segment uses. */
#define DEMO_COUNTERS(X)        \
	X(tx_data_packets)      \
	X(tx_retransmits)       \
	X(timeouts)             \
	X(evs_retired)          \
	X(evs_revived)          \
	X(uplinks_left)         \
	X(uplinks_restored)     \
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

/* Sums over all processes at one moment. */
struct demo_sums {
	struct demo_counters counters;
	uint64_t tx_bytes[DEMO_PLANES_MAX];
	uint64_t overruns;
	struct demo_path_state path[DEMO_PLANES_MAX][DEMO_PATHS_MAX];
};

/*
 * demo_counters_sum adds up what all segments show now; an EV's path is its value modulo `paths`.
 */
void demo_counters_sum(const struct stats_reader *r, uint32_t paths, struct demo_sums *sums);

struct demo_fault; /* demo.h */

/*
 * demo_sums_out returns how many EVs over what the fault hits, and local ports of any plane, were
 * out of use at that moment.
 */
uint64_t demo_sums_out(const struct demo_sums *sums, const struct demo_fault *f);

/* demo_counters_missing returns the name of a counter that no mapped segment has, or NULL. */
const char *demo_counters_missing(const struct stats_reader *r);

/* demo_counters_difference returns later - earlier, counter by counter. */
struct demo_counters demo_counters_difference(const struct demo_counters *later,
					      const struct demo_counters *earlier);

/*
 * ---- detection of a fault, and recovery after it ----
 *
 * Measured from the events that the processes logged (mrc/stats.h) and from the fault's own rule
 * (mrc/fault.h). The stamps are the processes' own, so reading them late costs no accuracy. What
 * they do contain is the time that a process waited for a core; demo_lateness measures how long
 * that was for the demo.
 */

#define DEMO_NEVER UINT64_MAX

/* Of one fault; DEMO_NEVER where it has not happened (yet). */
struct demo_times {
	uint64_t found_ns;	/* from the strike to the first EV retired */
	uint64_t left_ns;	/* from the strike to the last data packet that the fault took */
	uint64_t first_good_ns; /* from the end to the first EV that was GOOD again */
	uint64_t all_good_ns;	/* from the end until all EVs of all hosts were GOOD */
	uint64_t struck, ended; /* CLOCK_MONOTONIC; the caller sets ended; DEMO_NEVER: it lasts */
	uint64_t down;		/* when it struck last, set by the caller; later if it flaps */
	uint64_t latest_good;	/* stamp of the latest EV that became GOOD after the end */
};

/* What all processes together have, in the order in which events are read. */
struct demo_bad_evs {
	uint32_t n;	/* EVs that are ASSUMED_BAD now */
	bool uncertain; /* events were missed: n is no longer known */
};

/* How late the demo itself is woken, which is what a thread of this machine has to expect. */
struct demo_lateness {
	uint64_t sum_ns, max_ns, n;
};

void demo_times_fault_begin(struct demo_times *t, uint64_t now_ns);
/*
 * demo_times_left takes in when the fault last took a data packet (0: never), for faults that take
 * all. To be called again and again while the fault lasts: the longest time counts.
 */
void demo_times_left(struct demo_times *t, uint64_t last_hit_ns);

/* demo_times_event takes in an event; t: the fault that struck last, NULL: none has yet. */
void demo_times_event(struct demo_times *t, struct demo_bad_evs *bad,
		      const struct mrc_stats_event *event);
/* demo_times_fault_end is called when all that processes logged until now has been taken in. */
void demo_times_fault_end(struct demo_times *t, const struct demo_bad_evs *bad);

/* demo_times_text writes a duration, such as "4.2 ms", "120 ms" or "-" for DEMO_NEVER. */
#define DEMO_TIMES_TEXT 24u
const char *demo_times_text(char text[DEMO_TIMES_TEXT], uint64_t ns);

/* demo_lateness_add takes in one sleep that should have taken asked_ns. */
void demo_lateness_add(struct demo_lateness *l, uint64_t asked_ns, uint64_t took_ns);
/* demo_lateness_mean returns the mean, 0 without any. */
uint64_t demo_lateness_mean(const struct demo_lateness *l);

/* ---- processor load, from /proc/stat ---- */

/* Ticks of all processors together since the machine started. */
struct demo_cpu {
	uint64_t idle, all;
};

/* demo_cpu_read returns the ticks so far; zeros where /proc cannot be read. */
struct demo_cpu demo_cpu_read(void);
/* demo_cpu_parse reads the first line of /proc/stat. */
bool demo_cpu_parse(struct demo_cpu *cpu, const char *line);
/* demo_cpu_idle returns the idle share between two readings, 0 .. 1; -1 when nothing passed. */
double demo_cpu_idle(const struct demo_cpu *earlier, const struct demo_cpu *later);

#endif
