/* SPDX-License-Identifier: BSD-2-Clause */
/* study.h - what the studies share: a run, its result, and how it is shown. */
#ifndef SOFTMRC_STUDY_STUDY_H
#define SOFTMRC_STUDY_STUDY_H

#include "base/named_text.h"
#include "sim/import/input.h"
#include "sim/mrc/mrc_nic.h"
#include "sim/run/sim_run.h"
#include "sim/run/step_model.h"
#include "sim/scenario/scenario.h"
#include "ui/text.h"
#include "ui/verb.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Scenarios by name: a file, or one of those that are built in. */
/*
 * sim_source_read reads the scenario of a name; with a slash or a dot in it the name is a file.
 * NULL: *error says what is wrong. ms_scenario_destroy frees it.
 */
struct ms_scenario *sim_source_read(const char *name, const struct ms_changes *changes,
				    struct ms_file_error *error);

/* The changes of a scenario that flags ask for: those of --set, then flags that stand for a key. */
#define SIM_KEY_FLAGS_MAX 3u

struct sim_changes {
	const char *text[UI_FLAG_TEXTS_MAX + SIM_KEY_FLAGS_MAX];
	char made[SIM_KEY_FLAGS_MAX][48];
	uint32_t n, n_made;
};

/* sim_changes_of begins with those of --set, which must outlive *c. */
void sim_changes_of(struct sim_changes *c, const struct ui_flag_texts *set);
/*
 * sim_changes_add adds that of a flag, if it was given: the number is not 0. `unit` follows it. At
 * most SIM_KEY_FLAGS_MAX may be added (asserted).
 */
void sim_changes_add(struct sim_changes *c, const char *key, uint64_t number, const char *unit);

/* sim_source_read_more is the same of the scenario's text with some more behind it. */
struct ms_scenario *sim_source_read_more(const char *name, const char *more,
					 const struct ms_changes *changes,
					 struct ms_file_error *error);

/*
 * What went on during a run, for curves over time: what each part of the workload placed, marks,
 * cuts, drops, retransmissions, EVs in trouble, and what named links carried.
 *
 * How long a run takes is not known beforehand, so samples are taken often at first; whenever
 * there is no room for more, every other one is given up and time between them doubles.
 */
#define SIM_HISTORY_SAMPLES 512u
#define SIM_HISTORY_LINKS 16u
/* Between two samples, at first. */
#define SIM_HISTORY_FIRST_NS 500u
/* Of more flows than these only the sum over all is kept. */
#define SIM_HISTORY_FLOWS_MAX 8192u

struct sim_sample {
	uint64_t at_ns;
	uint64_t placed_bytes[MS_PARTS_MAX];
	uint64_t marks, trims, drops, retransmits, evs_bad;
	uint64_t link_bytes[SIM_HISTORY_LINKS];
};

struct sim_history {
	const struct ms_scenario *scenario;
	uint64_t every_ns, next_ns;
	uint32_t n, n_parts, n_links;
	bool whole; /* one curve for all parts: there are too many flows */
	uint32_t link[SIM_HISTORY_LINKS];
	struct sim_sample sample[SIM_HISTORY_SAMPLES];
};

/* sim_history_begin begins a history with a sample at time 0; the first of the links that the
 * scenario names for its series are in it. */
void sim_history_begin(struct sim_history *h, const struct ms_scenario *s);
/* sim_history_sample takes a sample when one is due; at edges of the run. */
void sim_history_sample(struct sim_history *h, struct ms_run *run, uint64_t now_ps);
/* sim_history_end takes the last sample; the run is over. */
void sim_history_end(struct sim_history *h, struct ms_run *run);
/*
 * sim_history_json returns the curves: `time_us`, where each interval ends, and for each interval
 * `gbps` (an array for each part), `total_gbps` (their sum), `links` (Gb/s by name), `marks`,
 * `trims`, `drops`, `retransmits`; `evs_bad` at its end.
 */
json_t *sim_history_json(const struct sim_history *h);

/* The files that a run writes while it goes on, and at its end. */
struct sim_outputs {
	const struct ms_scenario *scenario;
	FILE *flows, *series, *evs, *capture_file;
	struct ms_capture *capture;
	uint32_t *link; /* of the series */
	uint32_t n_links;
	struct sim_history *history; /* NULL: none is kept */
};

/*
 * sim_outputs_open opens the files of a scenario and puts what they need into its configuration
 * (edge, tap; ctx is the outputs). With `account` a history is kept, unless there are ranks. false:
 * *error says which file cannot be written, or which link is not there.
 */
bool sim_outputs_open(struct sim_outputs *o, struct ms_scenario *s, bool account,
		      struct ms_file_error *error);
/* sim_outputs_start taps the captured links of a run that was made. */
void sim_outputs_start(struct sim_outputs *o, struct ms_run *run);
/* sim_outputs_step writes what was captured up to now; between steps of the run. */
bool sim_outputs_step(struct sim_outputs *o, struct ms_file_error *error);
/*
 * sim_outputs_close writes what is to be written in the end (run NULL: nothing) and closes all;
 * false: a file could not be written whole.
 */
bool sim_outputs_close(struct sim_outputs *o, struct ms_run *run, struct ms_file_error *error);

/*
 * How far a run is: one line that is written over on a terminal, lines now and then elsewhere.
 * Goes to stderr, so that results can be piped.
 */
struct sim_progress {
	bool quiet, terminal;
	uint64_t bytes; /* of all flows */
	uint64_t began_ns, shown_ns, looked_ns;
	uint64_t hops_before, hops_ns;
	double done; /* share of the bytes that were placed */
};

/* What there is to show. */
struct sim_progress_now {
	uint64_t now_ps, hops;
	uint32_t flows, flows_done;
	double done, elapsed_s, hops_per_s;
};

/* sim_progress_begin starts the clock; quiet: nothing is ever shown. */
void sim_progress_begin(struct sim_progress *p, const struct ms_run *run, bool quiet);
/* sim_progress_show looks whether it is time to show something, and does. Cheap when it is not. */
void sim_progress_show(struct sim_progress *p, struct ms_run *run);
/* sim_progress_end takes the line away and returns the seconds since the beginning. */
double sim_progress_end(struct sim_progress *p);
/* sim_progress_line writes the line. */
void sim_progress_line(const struct sim_progress_now *n, struct ui_text *out);

/*
 * What came out of a run: as JSON, from which everything else is taken (what is compared, what is
 * expected, the summary on the screen).
 */
struct sim_outcome {
	const struct ms_scenario *scenario;
	struct ms_run *run;
	enum ms_run_state state;
	bool interrupted;
	double wall_s, cpu_s; /* of the run alone, without reading and setting up */
	bool account;	      /* the result has curves, distributions and parameters too */
	const struct sim_history *history; /* NULL: no curves */
};

/*
 * sim_result_json makes the result of a run that is over, or was interrupted. With ranks all call
 * it. NULL: another rank cannot be reached.
 */
json_t *sim_result_json(const struct sim_outcome *o);

/* sim_result_is_good says whether a result is that of a run that went to its end and was right. */
bool sim_result_is_good(const json_t *result);

/*
 * sim_result_figure finds a number by its path, as in "fct_us.p100" or "parts.1.flows"; false:
 * there is no such number.
 */
bool sim_result_figure(const json_t *result, const char *path, double *value);

/* sim_result_text appends the summary. */
void sim_result_text(const json_t *result, struct ui_text *out);

/* sim_number_at returns the number at a path, 0 where there is none. */
double sim_number_at(const json_t *result, const char *path);
/* sim_text_at returns a text of an object, "" where there is none. */
const char *sim_text_at(const json_t *object, const char *name);
/*
 * sim_text_json makes a JSON string of bytes that came from outside, a file's name say: bytes that
 * are no UTF-8 become '?', as JSON has no other way to keep them. NULL: there is no memory.
 */
json_t *sim_text_json(const char *bytes);
/* sim_time_cell writes a time with its unit. */
void sim_time_cell(struct ui_table *t, size_t row, size_t column, double ns);
/*
 * sim_write_result shows a result and writes it as JSON to a file; with json "" it writes JSON
 * alone, to stdout, and with NULL none. A result that is NULL had no memory. Returns an exit
 * status; in `who`'s name stderr says why.
 */
int sim_write_result(const char *who, const json_t *result, const char *json,
		     void (*show)(const json_t *result, struct ui_text *out));
/* sim_number_or_null returns a number as JSON; null where it is not finite. */
json_t *sim_number_or_null(double value);

/*
 * What a result says of its run in addition to figures, so that it can be looked at without the
 * scenario: parameters, faults, and how completion times are distributed.
 */
/* sim_details_parameters returns every key that the run took a value from, "mrc.evs" and so on. */
json_t *sim_details_parameters(const struct ms_scenario *s);
/* sim_details_faults returns what was to go wrong: kind, target, at_us, for_us (none: to the
 * end). */
json_t *sim_details_faults(const struct ms_scenario *s);
/*
 * sim_details_cdf returns of n times, sorted, the values at about a hundred shares: `share`, `us`.
 */
json_t *sim_details_cdf(const uint64_t *sorted_ns, uint32_t n);

/* What came of training jobs, as JSON and for eyes. */
/* sim_job_json makes the result of job i of a scenario; NULL: no memory. */
json_t *sim_job_json(const struct ms_scenario *s, uint32_t i, struct ms_run *run);
/* sim_jobs_text appends a table of the jobs of a result, where it has any. */
void sim_jobs_text(const json_t *result, struct ui_text *out);

/* One run of one scenario, from reading it to its result. */
struct sim_run_how {
	bool quiet;
	uint64_t memory; /* what it may take; 0: all that is available */
	bool account;	 /* the result has curves, distributions and parameters too */
};

/*
 * sim_run_scenario runs a scenario with its outputs and hands over its result; says on stderr what
 * went wrong. Returns an exit status: of a good run, a failed one, one without room, or one that a
 * signal broke off. *result is NULL where there is none.
 */
int sim_run_scenario(struct ms_scenario *s, const struct sim_run_how *how, json_t **result);

/* Does a run fit into this machine? */
/*
 * sim_memory_available returns what a process may still take: memory that the kernel calls
 * available, or less where a control group or a limit of the process says so. UINT64_MAX: not
 * known.
 */
uint64_t sim_memory_available(void);

/* Is a result what its scenario says it must be? */

/* Results by name: read from a file, or made by running a scenario. */
/*
 * sim_short_name returns the name of path[at] without its folder and ending, and with its place,
 * from 1, where another of the n paths has the same.
 */
const char *sim_short_name(const char *const *path, size_t n, size_t at, char out[64]);

/* Results side by side, as tables for eyes and as JSON for programs. */
#define SIM_COMPARE_MAX 6u

struct sim_compared {
	const char *name[SIM_COMPARE_MAX];
	json_t *result[SIM_COMPARE_MAX];
	size_t n; /* at least 2 */
};

/*
 * sim_compare_text appends what differs in what was run, then times, packets, and each part of the
 * workload, with each result's ratio to the first; with `core` the engines' counters too.
 */
void sim_compare_text(const struct sim_compared *c, bool core, struct ui_text *out);
/* sim_compare_json returns of each figure its values and, of two results, a, b and ratio. */
json_t *sim_compare_json(const struct sim_compared *c);

/*
 * Results as one HTML file that needs nothing else: its data, its style, and the scripts of page/,
 * which make SVG of them, all stand in it.
 *
 * The data is an object:
 * 	title, command (strings)
 * 	text	[[label, text], ...] (may be absent)
 * 	runs	[{name, result}, ...]; a member of a family of runs has family and x too
 * 	claims	[{text, holds, value, min, max, note}, ...] (may be absent)
 * 	charts	[{kind, title, figure, runs: [names], x, y, log}, ...]; absent: what is worth a look
 * 	sweep	true: the names of runs are the points of a sweep
 * or, instead of runs,
 * 	demo	a result of mrc demo
 * 	lab	a result of mrc lab run
 */
/* sim_page_make appends the page; false: there is no memory for its data. */
bool sim_page_make(const json_t *data, struct ui_text *out);
/* sim_page_write makes the page and writes it to a file; false: *error says what went wrong. */
bool sim_page_write(const json_t *data, const char *path, struct ms_file_error *error);

/*
 * Packet runs of a job, with faults, for the long horizon: how long each step takes without a
 * fault and with one, and what is to be made of it.
 */
/* What there is of one scenario: its text, and what was measured. */
struct sim_packets {
	const char *name;
	const struct ms_changes *changes;
	const struct ms_scenario *scenario;
	bool quiet;
	struct ms_job_result *plain, *with;	   /* steps without faults, and of the last run */
	struct ms_effect effect[MS_STEPS_CLASSES]; /* of each rate; of 1 where not measured */
	/* The model against packet runs, with one fault of each measured rate. */
	uint32_t checked;		   /* runs */
	uint64_t checked_ns, predicted_ns; /* of all of them */
	struct ms_file_error error;
};

enum sim_packets_end {
	SIM_PACKETS_GOOD,
	SIM_PACKETS_WRONG,  /* error says what */
	SIM_PACKETS_CAUGHT, /* by a signal */
};

/*
 * sim_packets_measure runs the first job of a scenario: without faults, and with each that a rate
 * is to be measured of; then once more with each, of another rank and cable and at another moment,
 * to hold the model against. sim_packets_fini frees what it has taken, whatever it returned.
 */
enum sim_packets_end sim_packets_measure(struct sim_packets *p);
void sim_packets_fini(struct sim_packets *p);

/* A command that needs such packet runs, with the options that all of them have. */
struct sim_packets_options {
	const char *name, *json;
	struct ui_flag_texts set;
	uint64_t seed;
	bool quiet;
};

struct sim_packets_verb {
	const char *who; /* for messages */
	/* Whether the scenario can be asked for this; false: p->error says why not. */
	bool (*check)(struct sim_packets *p);
	/* Goes on with what was measured; returns the exit status. */
	int (*go_through)(void *context, const struct sim_packets *p);
};

/*
 * sim_packets_run reads and checks the scenario, measures its packet runs, catching signals, and
 * goes on with them. Prints what is wrong to stderr. Returns the exit status.
 */
int sim_packets_run(const struct sim_packets_verb *verb, const struct sim_packets_options *o,
		    void *context);

/* sim_packets_error returns how far the model was from packets: a share of the time that faults
 * left, signed; 0 without a check. */
double sim_packets_error(const struct sim_packets *p);

/* The long horizon of a job: trials of the step-level model, and what came of them. */
/* One size of the job under one way of getting round faults, over all trials. */
struct sim_goodput_point {
	uint32_t gpus;
	uint64_t outage_ns; /* 0: as measured in packets */
	uint32_t trials;
	double goodput, goodput_error; /* mean, and its standard error */
	double daly;		       /* closed form of checkpoints and restarts alone */
	double mtbi_formula_h;
	double checkpoint_every_s;
	struct ms_steps_result sum;
};

/* sim_goodput_point goes through the trials of a point; false: a signal, *p has those that are
 * done; or no memory, then p->trials is 0. */
bool sim_goodput_point(const struct sim_packets *packets, uint32_t gpus, uint64_t outage_ns,
		       struct sim_goodput_point *p);
/* sim_goodput_json makes the result. */
json_t *sim_goodput_json(const struct sim_packets *packets, const struct sim_goodput_point *p,
			 size_t n, bool partial);
/* sim_goodput_text appends it for eyes. */
void sim_goodput_text(const json_t *result, struct ui_text *out);

/* The points of a sweep: every combination of the values of some keys. */
#define SIM_GRID_AXES 6u
#define SIM_GRID_VALUES 64u
#define SIM_GRID_POINTS 4096u
#define SIM_GRID_NAME 256u
#define SIM_GRID_WHY 320u

struct sim_axis {
	char key[128];
	char text[1024]; /* the values, ended by zeros */
	const char *value[SIM_GRID_VALUES];
	size_t n;
};

struct sim_grid {
	struct sim_axis axis[SIM_GRID_AXES];
	size_t n_axes;
	size_t points;
};

/* sim_grid_add takes "mrc.evs=1,4,16". false: why says what is wrong. */
bool sim_grid_add(struct sim_grid *g, const char *vary, char why[SIM_GRID_WHY]);
/* sim_grid_value returns the value of an axis at a point; the last axis changes fastest. */
const char *sim_grid_value(const struct sim_grid *g, size_t point, size_t axis);
/* sim_grid_name writes the name of a point, fit for a file: "mrc.evs=4,seed=2". */
char *sim_grid_name(const struct sim_grid *g, size_t point, char out[SIM_GRID_NAME]);

#endif
