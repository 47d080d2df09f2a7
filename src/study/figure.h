/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * figure.h - a figure: runs that belong together, what must hold of them, and the curves to look
 * at. The figures of the MRC paper are built in (figures/); a file of one's own reads the same:
 *
 *	title = "a T0 is lost"
 *	paper = "what was measured, and where"
 *	setup = "what of it is not public, and what is assumed instead"
 *
 *	[[run]]
 *	name = "mrc"
 *	scenario = "fig10-t0-lost"
 *	set = ["workload.0.bytes=1G"]
 *	quick = ["workload.0.bytes=64M"]	# instead, at the scale of tests
 *
 *	[[claim]]
 *	text = "seven of eight planes are left"
 *	figure = "gbps.0"			# of the history: with from and to
 *	of = "mrc"
 *	from = "2ms"
 *	to = "4ms"
 *	min = 650
 *	max = 700
 *
 *	[[chart]]
 *	kind = "time"
 *	title = "goodput"
 *	figure = "gbps.0"
 *
 * A run with `vary` and `values` is a family: one run for each value, NAME/VALUE.
 */
#ifndef SOFTMRC_STUDY_FIGURE_H
#define SOFTMRC_STUDY_FIGURE_H

#include "base/named_text.h"
#include "sim/import/input.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#define SIM_FIGURE_RUNS 24u
#define SIM_FIGURE_CLAIMS 24u
#define SIM_FIGURE_CHARTS 8u
#define SIM_FIGURE_WORDS 640u
#define SIM_FIGURE_NAME 64u
#define SIM_FIGURE_TEXT 1000u

struct sim_figure_head {
	char title[160];
	char paper[SIM_FIGURE_TEXT], setup[SIM_FIGURE_TEXT], differs[SIM_FIGURE_TEXT];
};

struct sim_figure_run {
	uint32_t line;
	char name[SIM_FIGURE_NAME];
	char scenario[SIM_FIGURE_NAME];
	char set[SIM_FIGURE_WORDS], quick[SIM_FIGURE_WORDS]; /* joined by commas */
	char vary[SIM_FIGURE_NAME];
	char values[SIM_FIGURE_WORDS], quick_values[SIM_FIGURE_WORDS];
};

/* What the values in an interval of a history become. */
enum sim_figure_stat {
	SIM_STAT_MEAN,
	SIM_STAT_LEAST,
	SIM_STAT_MOST,
	SIM_STATS,
};

struct sim_claim {
	uint32_t line;
	char text[SIM_FIGURE_TEXT / 2], note[SIM_FIGURE_TEXT];
	char figure[SIM_FIGURE_NAME], of[SIM_FIGURE_NAME];
	char than[SIM_FIGURE_NAME];  /* a run: its figure divides that of `of` */
	char over[SIM_FIGURE_NAME];  /* the figure of `than`; none: the same */
	uint64_t from_ns, to_ns;     /* to 0: not of the history */
	uint64_t than_from, than_to; /* the same of `than` */
	uint32_t stat;		     /* enum sim_figure_stat */
	double min, max;	     /* inclusive; infinite where not given */
	double quick_min, quick_max; /* instead, at the scale of tests; NaN: the same */
	bool full_only;		     /* says nothing at the scale of tests */
	bool differs;		     /* is known not to hold; the figure says why */
};

struct sim_chart {
	uint32_t line;
	uint32_t kind; /* of sim_figure_charts */
	char title[160], figure[256], runs[SIM_FIGURE_WORDS], x[64], y[64];
	bool log;
};

struct sim_figure {
	char name[SIM_FIGURE_NAME];
	struct sim_figure_head head;
	uint32_t n_runs, n_claims, n_charts;
	struct sim_figure_run run[SIM_FIGURE_RUNS];
	struct sim_claim claim[SIM_FIGURE_CLAIMS];
	struct sim_chart chart[SIM_FIGURE_CHARTS];
};

/* The figures that are built in, by name: the files of figures/. */
extern const struct mb_named_text sim_figure_texts[];

extern const char *const sim_figure_chart_names[];

/*
 * sim_figure_read reads a figure that is built in ("9a", "16") or a file (its name has a dot or a
 * slash) into *f. false: *error says what is wrong.
 */
bool sim_figure_read(struct sim_figure *f, const char *name, struct ms_file_error *error);
/* sim_figure_parse is the same for a text; `name` stands in messages. */
bool sim_figure_parse(struct sim_figure *f, const char *name, const char *text,
		      struct ms_file_error *error);

/* How a figure is made. */
struct sim_figure_how {
	bool quick; /* at the scale of tests */
	bool quiet;
	uint32_t threads;
};

/*
 * sim_figure_make runs all runs and judges all claims. Returns an object:
 *	name title scale command wall_s holds
 *	runs	[{name, family, x, result}]
 *	claims	[{text, value, min, max, holds, differs, note}]; a claim that is known to differ may
 *		not hold, and must not begin to
 * NULL: said on stderr why, in `who`'s name; *status is the exit status either way.
 */
json_t *sim_figure_make(const struct sim_figure *f, const struct sim_figure_how *how,
			const char *who, int *status);

/* sim_figure_claim judges one claim over runs as above; false: unknown figure. */
bool sim_figure_claim(const struct sim_claim *c, const json_t *runs, double *value);

/* sim_figure_page makes the data of a page (study.h) of a figure that was made. */
json_t *sim_figure_page(const struct sim_figure *f, const json_t *made);
/* sim_figure_markdown writes a section about it: what, assumed, claims with results, command. */
void sim_figure_markdown(const struct sim_figure *f, const json_t *made, FILE *to);
/* sim_figure_print writes the claims and whether they hold. */
void sim_figure_print(const json_t *made, FILE *to);

#endif
