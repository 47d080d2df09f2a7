/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exposition.c - metrics as Prometheus reads them: see exporter.h.
 *
 * The two formats differ in little. OpenMetrics names the family of a counter without _total, has a
 * unit, and an end; the older one, which node_exporter's textfile collector wants, names the family
 * as the series. Who runs a process and what it is called are labels of one metric of value 1, so
 * that all others have the labels only that tell them apart.
 */
#include "exporter/exporter.h"

#include <inttypes.h>
#include <stdlib.h>

struct exposition {
	const struct stats_reader *stats;
	uint32_t shown[STATS_PROCESSES_MAX]; /* processes, by their place in the reader */
	uint32_t n;
	enum stat_format format;
	struct ui_text *out;
};

/* The sign of a label's value would end at a quote or a line's end. Other bytes are printable. */
static void put_label(struct ui_text *out, const char *name, const char *value)
{
	ui_text_add(out, "%s=\"", name);
	for (; *value; value++)
		ui_text_add(out, *value == '"' || *value == '\\' ? "\\%c" : "%c", *value);
	ui_text_add(out, "\"");
}

struct family {
	const char *name; /* without the prefix, and without _total */
	const char *unit, *meaning;
	enum stats_metric_type type;
};

static void put_head(const struct exposition *e, const struct family *f)
{
	bool counter = f->type == STATS_COUNTER;
	const char *end = counter && e->format == STAT_PROMETHEUS ? "_total" : "";

	ui_text_add(e->out, "# HELP " STAT_PREFIX "%s%s %s\n", f->name, end, f->meaning);
	ui_text_add(e->out, "# TYPE " STAT_PREFIX "%s%s %s\n", f->name, end,
		    counter ? "counter" : "gauge");
	if (e->format == STAT_OPENMETRICS && f->unit[0])
		ui_text_add(e->out, "# UNIT " STAT_PREFIX "%s %s\n", f->name, f->unit);
}

static void put_process(const struct exposition *e, const struct stats_process *p,
			const struct family *f)
{
	ui_text_add(e->out, STAT_PREFIX "%s%s{pid=\"%u\",uid=\"%u\",device=\"mrc%u\"", f->name,
		    f->type == STATS_COUNTER ? "_total" : "", p->pid, p->uid, p->device);
}

/* Integers stay whole; seconds have the nine digits that the segment has. */
static void put_value(const struct exposition *e, uint64_t value, uint64_t per_unit)
{
	if (per_unit == 1)
		ui_text_add(e->out, "} %" PRIu64 "\n", value);
	else
		ui_text_add(e->out, "} %" PRIu64 ".%09" PRIu64 "\n", value / per_unit,
			    value % per_unit);
}

static void put_one(const struct exposition *e, const struct stats_process *p,
		    const struct stats_metric *m, const struct family *f,
		    struct stats_metric_index index)
{
	uint64_t value;

	if (!stats_metric_read(m, p->now, index, &value))
		return;
	put_process(e, p, f);
	if (m->of == STATS_OF_PLANE || m->of == STATS_OF_EV_STATE)
		ui_text_add(e->out, ",plane=\"%u\"", index.plane);
	if (m->of == STATS_OF_EV_STATE)
		ui_text_add(e->out, ",state=\"%s\"", stats_ev_state_name(index.state));
	if (m->of == STATS_OF_QP_STATE)
		ui_text_add(e->out, ",state=\"%s\"", stats_qp_state_name(index.state));
	put_value(e, value, m->per_unit);
}

static void put_all(const struct exposition *e, const struct stats_process *p,
		    const struct stats_metric *m, const struct family *f)
{
	bool of_plane = m->of == STATS_OF_PLANE || m->of == STATS_OF_EV_STATE;
	uint32_t planes = of_plane ? p->now->ports : 1, states = 1;

	if (m->of == STATS_OF_EV_STATE)
		states = STATS_EV_STATES;
	else if (m->of == STATS_OF_QP_STATE)
		states = STATS_QP_STATES;
	for (uint32_t plane = 0; plane < planes; plane++)
		for (uint32_t state = 0; state < states; state++)
			put_one(e, p, m, f, (struct stats_metric_index){plane, state});
}

/* ---- of processes and of the reader itself ---- */

static void put_info(const struct exposition *e)
{
	const struct family f = {"process_info", "", "who a process is; always 1", STATS_GAUGE};

	put_head(e, &f);
	for (uint32_t i = 0; i < e->n; i++) {
		const struct stats_process *p = &e->stats->process[e->shown[i]];

		put_process(e, p, &f);
		ui_text_add(e->out, ",");
		put_label(e->out, "command", p->command);
		put_value(e, 1, 1);
	}
}

/* A process that hangs, or whose host does, stands out by this. */
static void put_ages(const struct exposition *e)
{
	const struct family f = {"process_update_age_seconds", "seconds",
				 "time since a process last published its numbers", STATS_GAUGE};

	put_head(e, &f);
	for (uint32_t i = 0; i < e->n; i++) {
		const struct stats_process *p = &e->stats->process[e->shown[i]];
		uint64_t age =
			p->read_ns > p->now->updated_ns ? p->read_ns - p->now->updated_ns : 0;

		put_process(e, p, &f);
		put_value(e, age, 1000000000);
	}
}

static void put_number(const struct exposition *e, const char *name, const char *meaning,
		       uint64_t n)
{
	const struct family f = {name, "", meaning, STATS_GAUGE};

	put_head(e, &f);
	ui_text_add(e->out, STAT_PREFIX "%s %" PRIu64 "\n", name, n);
}

static void put_reader(const struct exposition *e)
{
	const struct stats_reader *s = e->stats;

	put_number(e, "processes", "processes that publish statistics which can be read", s->n);
	put_number(e, "processes_left_out",
		   "of these, processes without series here, for there are "
		   "too many",
		   s->n - e->n);
	put_number(e, "files_unreadable", "files and folders that this user may not read",
		   s->unreadable);
	put_number(e, "files_refused", "files and folders that are not what they should be",
		   s->refused);
	put_number(e, "files_unseen", "files beyond the bounds of the reader", s->unseen);
	put_number(e, "files_of_other_versions", "files of another release of softmrc",
		   s->other_version);
}

/* ---- which processes ---- */

static const struct stats_reader *sorted; /* qsort hands nothing on */

static int by_age(const void *a, const void *b)
{
	const struct stats_process *x = &sorted->process[*(const uint32_t *)a];
	const struct stats_process *y = &sorted->process[*(const uint32_t *)b];

	if (x->now->started_ns != y->now->started_ns)
		return x->now->started_ns < y->now->started_ns ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void choose(struct exposition *e, uint32_t processes)
{
	for (uint32_t i = 0; i < e->stats->n; i++)
		if (e->stats->process[i].now)
			e->shown[e->n++] = i;
	sorted = e->stats;
	qsort(e->shown, e->n, sizeof(e->shown[0]), by_age);
	e->n = e->n < processes ? e->n : processes;
}

void stat_exposition_render(const struct stats_reader *stats, uint32_t processes,
			    enum stat_format format, struct ui_text *out)
{
	struct exposition e = {.stats = stats, .format = format, .out = out};
	const struct stats_metric *m;

	choose(&e, processes);
	put_reader(&e);
	put_info(&e);
	put_ages(&e);
	for (size_t i = 0; (m = stats_metric(i)); i++) {
		const struct family f = {m->name, stats_metric_unit(m), m->meaning, m->type};

		put_head(&e, &f);
		for (uint32_t k = 0; k < e.n; k++)
			put_all(&e, &stats->process[e.shown[k]], m, &f);
	}
}

void stat_exposition_end(enum stat_format format, struct ui_text *out)
{
	if (format == STAT_OPENMETRICS)
		ui_text_add(out, "# EOF\n");
}
