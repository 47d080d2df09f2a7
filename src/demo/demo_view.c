/* SPDX-License-Identifier: BSD-2-Clause */
/* The picture of a running demo: see demo_run.h. */
#include "demo/demo_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LABEL_COLUMNS 11u
#define RATE_COLUMNS 12u
#define NUMBERS_COLUMNS 29u
#define LEVELS 8u

enum colour { PLAIN, BOLD, DIM, RED, GREEN, YELLOW, CYAN };

/* Two ways to draw: block characters, or what any terminal has. */
static const struct glyphs {
	const char *full, *empty;
	const char *level[LEVELS];
	const char *good, *some_bad, *bad, *skip, *none;
	const char *pending, *active, *cleared;
} glyphs[2] = {
	{"#",
	 ".",
	 {"_", "_", ".", "-", "=", "+", "*", "#"},
	 "o",
	 "~",
	 "x",
	 "s",
	 " ",
	 " ",
	 ">",
	 "*"},
	{"█",
	 "░",
	 {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	 "●",
	 "◐",
	 "○",
	 "◌",
	 " ",
	 " ",
	 "▶",
	 "✓"},
};

static const struct glyphs *glyphs_of(const struct demo_view *v)
{
	return &glyphs[v->utf8 ? 1 : 0];
}

static const char *set_colour(const struct demo_view *v, enum colour c)
{
	static const char *const code[] = {"\033[0m",  "\033[1m",  "\033[2m", "\033[31m",
					   "\033[32m", "\033[33m", "\033[36m"};

	return v->colour ? code[c] : "";
}

/* The width to lay out for; what a narrower terminal cannot show is cut off. */
static size_t columns_of(const struct demo_view *v)
{
	return v->width < DEMO_VIEW_WIDTH_MIN ? DEMO_VIEW_WIDTH_MIN : v->width;
}

/* Ends a line: cuts it at the width, and leaves no colour behind. Frees the line. */
static void put_line(const struct demo_view *v, struct ui_text *out, struct ui_text *line)
{
	size_t width = ui_text_width(line->data);

	ui_text_pad(out, line->data, width < v->width ? width : v->width);
	ui_text_add(out, "%s\n", set_colour(v, PLAIN));
	ui_text_fini(line);
}

/* A line with its left part at the left edge and its right part at the right one. */
static void put_ends(const struct demo_view *v, struct ui_text *out, const char *left,
		     const char *right)
{
	struct ui_text line = {0};
	size_t taken = ui_text_width(right) + 1;

	ui_text_pad(&line, left, columns_of(v) > taken ? columns_of(v) - taken : 0);
	ui_text_add(&line, " %s", right);
	put_line(v, out, &line);
}

static void put_head(const struct demo_view *v, struct ui_text *out)
{
	struct ui_text left = {0}, right = {0};
	unsigned seconds = (unsigned)v->elapsed_s;

	ui_text_add(&left, "%smrc demo%s  %u hosts, %u planes of %u paths, %g Mb/s a port",
		    set_colour(v, BOLD), set_colour(v, PLAIN), v->shape.ranks, v->shape.planes,
		    v->shape.paths, (double)v->shape.pace_bps / 1e6);
	ui_text_add(&right, "%u:%02u", seconds / 60, seconds % 60);
	put_ends(v, out, left.data, right.data);
	ui_text_clear(&left);
	ui_text_clear(&right);
	ui_text_add(&left, "%s%s%s", set_colour(v, CYAN), v->run, set_colour(v, PLAIN));
	ui_text_add(&right, "step %u of %u", v->step, v->steps);
	if (v->loss > 0)
		ui_text_add(&right, "   loss %.3f (bigram %.3f)", v->loss, v->bigram_bits);
	put_ends(v, out, left.data, right.data);
	ui_text_fini(&left);
	ui_text_fini(&right);
}

static void add_bar(const struct demo_view *v, struct ui_text *line, double share, size_t columns)
{
	size_t full;

	share = share < 0 ? 0 : share > 1 ? 1 : share;
	full = (size_t)(share * (double)columns + 0.5);
	ui_text_add(line, "%s", set_colour(v, share < 0.1 ? RED : GREEN));
	ui_text_repeat(line, glyphs_of(v)->full, full);
	ui_text_add(line, "%s%s", set_colour(v, PLAIN), set_colour(v, DIM));
	ui_text_repeat(line, glyphs_of(v)->empty, columns - full);
	ui_text_add(line, "%s", set_colour(v, PLAIN));
}

/*
 * A path is bad where half of the hosts that send say so. Each host's set to its other neighbour,
 * which gets no data from it, stays good and says nothing.
 */
static void add_path(const struct demo_view *v, struct ui_text *line,
		     const struct demo_path_state *s)
{
	const struct glyphs *g = glyphs_of(v);

	if (s->good + s->skip + s->bad == 0)
		ui_text_add(line, " %s", g->none);
	else if (2 * s->bad >= v->shape.ranks)
		ui_text_add(line, " %s%s%s", set_colour(v, RED), g->bad, set_colour(v, PLAIN));
	else if (s->bad)
		ui_text_add(line, " %s%s%s", set_colour(v, YELLOW), g->some_bad,
			    set_colour(v, PLAIN));
	else if (s->skip)
		ui_text_add(line, " %s%s%s", set_colour(v, YELLOW), g->skip, set_colour(v, PLAIN));
	else
		ui_text_add(line, " %s%s%s", set_colour(v, GREEN), g->good, set_colour(v, PLAIN));
}

static size_t bar_columns(const struct demo_view *v)
{
	size_t rest = LABEL_COLUMNS + RATE_COLUMNS + 3 + 2 * v->shape.paths;

	return columns_of(v) > rest + 8 ? columns_of(v) - rest : 8;
}

static void put_planes(const struct demo_view *v, struct ui_text *out)
{
	double full_bps = (double)v->shape.pace_bps * v->shape.ranks;
	struct ui_text line = {0};

	ui_text_pad(&line, "", LABEL_COLUMNS);
	ui_text_pad(&line, "sent by all hosts", bar_columns(v) + RATE_COLUMNS + 3);
	ui_text_add(&line, " paths");
	put_line(v, out, &line);
	for (uint32_t p = 0; p < v->shape.planes && p < DEMO_PLANES_MAX; p++) {
		char label[32], rate[32];

		snprintf(label, sizeof(label), "plane %u", p);
		ui_text_pad(&line, label, LABEL_COLUMNS);
		add_bar(v, &line, v->plane_bps[p] / full_bps, bar_columns(v));
		snprintf(rate, sizeof(rate), "%.0f Mb/s", v->plane_bps[p] / 1e6);
		ui_text_pad_left(&line, rate, RATE_COLUMNS);
		ui_text_add(&line, "   ");
		for (uint32_t k = 0; k < v->shape.paths && k < DEMO_PATHS_MAX; k++)
			add_path(v, &line, &v->sums.path[p][k]);
		put_line(v, out, &line);
	}
}

/* Between half of the shortest step and twice as much as it, or the longest. */
static const char *level_of(const struct demo_view *v, uint64_t ns, uint64_t min_ns,
			    uint64_t max_ns)
{
	uint64_t low = min_ns / 2;
	uint64_t high = max_ns > 2 * min_ns ? max_ns : 2 * min_ns;
	uint64_t level = high > low ? (ns - low) * LEVELS / (high - low) : 0;

	return glyphs_of(v)->level[level < LEVELS ? level : LEVELS - 1];
}

static uint64_t step_ns(const struct demo_step *s)
{
	return s->end_ns - s->start_ns;
}

static void put_steps(const struct demo_view *v, struct ui_text *out)
{
	struct ui_text line = {0};
	size_t columns = columns_of(v) - LABEL_COLUMNS - RATE_COLUMNS;
	size_t n = v->history_n < columns ? v->history_n : columns;
	const struct demo_step *first = v->history + (v->history_n - n);
	uint64_t min_ns = UINT64_MAX, max_ns = 0;
	char last[32];

	for (size_t i = 0; i < n; i++) {
		min_ns = step_ns(&first[i]) < min_ns ? step_ns(&first[i]) : min_ns;
		max_ns = step_ns(&first[i]) > max_ns ? step_ns(&first[i]) : max_ns;
	}
	ui_text_pad(&line, "step time", LABEL_COLUMNS);
	ui_text_add(&line, "%s", set_colour(v, CYAN));
	for (size_t i = 0; i < n; i++)
		ui_text_add(&line, "%s", level_of(v, step_ns(&first[i]), min_ns, max_ns));
	ui_text_add(&line, "%s", set_colour(v, PLAIN));
	ui_text_repeat(&line, " ", columns - n);
	if (n) {
		snprintf(last, sizeof(last), "%.0f ms", (double)step_ns(&first[n - 1]) / 1e6);
		ui_text_pad_left(&line, last, RATE_COLUMNS - 2);
	}
	put_line(v, out, &line);
}

static void put_tcp(const struct demo_view *v, struct ui_text *out)
{
	struct ui_text line = {0};

	ui_text_pad(&line, "TCP baseline", LABEL_COLUMNS);
	ui_text_add(&line, "step %u of %u", v->tcp_step, v->steps);
	if (v->tcp_silent_s >= 1)
		ui_text_add(&line, "   %sno step for %.1f s%s", set_colour(v, RED), v->tcp_silent_s,
			    set_colour(v, PLAIN));
	put_line(v, out, &line);
}

static void put_counters(const struct demo_view *v, struct ui_text *out)
{
	const struct demo_counters *c = &v->sums.counters;
	struct ui_text line = {0};

	ui_text_pad(&line, "so far", LABEL_COLUMNS);
	ui_text_add(&line,
		    "%" PRIu64 " packets, %" PRIu64 " resent; EVs %" PRIu64 " retired, %" PRIu64
		    " revived",
		    c->tx_data_packets, c->tx_retransmits, c->evs_retired, c->evs_revived);
	if (v->idle >= 0)
		ui_text_add(&line, "; idle %.0f %%", v->idle * 100);
	put_line(v, out, &line);
}

/* How soon the fault that struck last was noticed, and how soon all was well after it. */
static void put_times(const struct demo_view *v, struct ui_text *out)
{
	const struct demo_view_fault *last = NULL;
	char found[DEMO_TIMES_TEXT], left[DEMO_TIMES_TEXT];
	char back[DEMO_TIMES_TEXT], all[DEMO_TIMES_TEXT];
	struct ui_text line = {0};

	for (uint32_t i = 0; i < v->faults; i++)
		if (v->fault[i].phase != DEMO_PENDING)
			last = &v->fault[i];
	ui_text_pad(&line, "last fault", LABEL_COLUMNS);
	if (last)
		ui_text_add(&line, "found %s, left %s; after it: back %s, all back %s",
			    demo_times_text(found, last->times.found_ns),
			    demo_times_text(left, last->times.left_ns),
			    demo_times_text(back, last->times.first_good_ns),
			    demo_times_text(all, last->times.all_good_ns));
	put_line(v, out, &line);
}

static void put_fault(const struct demo_view *v, struct ui_text *out,
		      const struct demo_view_fault *f)
{
	const struct glyphs *g = glyphs_of(v);
	struct ui_text line = {0};
	const char *mark[] = {g->pending, g->active, g->cleared};
	const enum colour colour[] = {DIM, RED, PLAIN};
	char numbers[64] = "";

	if (f->phase != DEMO_PENDING)
		snprintf(numbers, sizeof(numbers),
			 "%6" PRIu64 " %6" PRIu64 " %6" PRIu64 " %6" PRIu64, f->lost, f->resent,
			 f->retired, f->revived);
	ui_text_add(&line, "%s%s ", set_colour(v, colour[f->phase]), mark[f->phase]);
	ui_text_pad(&line, f->title, columns_of(v) - 2 - NUMBERS_COLUMNS);
	ui_text_add(&line, "%s %s", set_colour(v, PLAIN), numbers);
	put_line(v, out, &line);
}

static void put_faults(const struct demo_view *v, struct ui_text *out, uint32_t room)
{
	struct ui_text line = {0};
	uint32_t first = 0;

	if (!v->faults || room < 2)
		return;
	ui_text_pad(&line, "faults", columns_of(v) - NUMBERS_COLUMNS);
	ui_text_add(&line, "%s   lost resent  EVs-   EVs+", set_colour(v, DIM));
	put_line(v, out, &line);
	/* On a low terminal: the last that have struck, and the next. */
	while (v->faults - first > room - 1 && v->fault[first].phase == DEMO_CLEARED)
		first++;
	for (uint32_t i = first; i < v->faults && i - first < room - 1; i++)
		put_fault(v, out, &v->fault[i]);
}

void demo_view_render(const struct demo_view *v, struct ui_text *out)
{
	uint32_t used = v->shape.planes + 8 + (v->tcp ? 1 : 0) + (v->faults ? 1 : 0);

	put_head(v, out);
	ui_text_add(out, "\n");
	put_planes(v, out);
	ui_text_add(out, "\n");
	put_steps(v, out);
	if (v->tcp)
		put_tcp(v, out);
	put_counters(v, out);
	if (v->faults)
		put_times(v, out);
	ui_text_add(out, "\n");
	/* The last row of a terminal stays free: a line feed there would scroll. */
	put_faults(v, out, v->height > used + 1 ? v->height - used - 1 : 0);
}
