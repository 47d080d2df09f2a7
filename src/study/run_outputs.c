/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of a run: see study.h. */
#include "study/study.h"

#include "fabric/fabric_node.h"
#include "sim/run/sim_run.h"
#include "ui/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A fabric with more links than this writes a series only of those that are named. */
#define ALL_LINKS_MAX 4096u

static FILE *open_file(const char *path, struct ms_file_error *error)
{
	FILE *f = fopen(path, "we");

	if (!f)
		ms_file_set_error(error, path, 0, "cannot be written: %s", strerror(errno));
	return f;
}

/* count_names counts what commas hold apart. */
static uint32_t count_names(const char *names)
{
	uint32_t n = names[0] != '\0';

	for (; *names; names++)
		n += *names == ',';
	return n;
}

/* find_links finds the links of a list; the array is the caller's to free. */
static uint32_t *find_links(const struct ms_scenario *s, const char *key, const char *names,
			    uint32_t *n, struct ms_file_error *error)
{
	uint32_t *link = malloc((count_names(names) + 1) * sizeof(*link));
	struct mf_error wrong;

	*n = 0;
	for (const char *at = names; link && *at; *n += 1) {
		size_t len = strcspn(at, ",");
		char name[MF_LINK_NAME_BYTES];

		snprintf(name, sizeof(name), "%.*s", (int)len, at);
		if (len >= sizeof(name) || !mf_link_find(&s->fabric, name, &link[*n], &wrong)) {
			ms_file_set_error(error, s->name, 0, "output.%s: %s: %s", key, name,
					  len >= sizeof(name) ? "is too long for a link"
							      : wrong.what);
			free(link);
			return NULL;
		}
		at += len + (at[len] == ',');
	}
	if (!link)
		ms_file_set_no_memory(error, s->name);
	return link;
}

static uint32_t *all_links(const struct ms_scenario *s, uint32_t *n, struct ms_file_error *error)
{
	uint32_t *link;

	if (s->fabric.n_links > ALL_LINKS_MAX) {
		ms_file_set_error(error, s->name, 0,
				  "output.links: expected the names of some links, such as "
				  "[\"plane0.t0-0.d0\"]: the fabric has %u",
				  s->fabric.n_links);
		return NULL;
	}
	link = malloc(s->fabric.n_links * sizeof(*link));
	if (!link)
		ms_file_set_no_memory(error, s->name);
	*n = s->fabric.n_links;
	for (uint32_t i = 0; link && i < *n; i++)
		link[i] = i;
	return link;
}

static bool on_edge(void *ctx, struct ms_run *run, uint64_t now_ps)
{
	struct sim_outputs *o = ctx;

	if (o->series)
		ms_write_series(run, &o->scenario->fabric, o->link, o->n_links, now_ps, o->series);
	if (o->evs)
		ms_write_nics(run, now_ps, o->evs);
	if (o->history)
		sim_history_sample(o->history, run, now_ps);
	/* A signal reaches ranks at different times; here all of them stop together. */
	return !o->scenario->run.ranks || !ui_term_caught();
}

static void on_tap(void *ctx, struct ms_run *run, uint32_t link, uint64_t now_ps,
		   const struct ms_packet *p)
{
	struct sim_outputs *o = ctx;

	(void)run;
	ms_capture_add_packet(o->capture, link, now_ps, p);
}

static bool open_series(struct sim_outputs *o, struct ms_scenario *s, struct ms_file_error *error)
{
	const struct ms_scenario_output *out = &s->output;

	if (out->series[0]) {
		o->link = out->links[0] ? find_links(s, "links", out->links, &o->n_links, error)
					: all_links(s, &o->n_links, error);
		o->series = o->link ? open_file(out->series, error) : NULL;
		if (!o->series)
			return false;
		ms_write_series_head(o->series);
	}
	if (out->evs[0]) {
		o->evs = open_file(out->evs, error);
		if (!o->evs)
			return false;
		ms_write_nics_head(o->evs);
	}
	if (o->series || o->evs || s->run.ranks || o->history) {
		const bool files = o->series || o->evs || s->run.ranks;

		s->run.edge_ps = (files ? out->every_ns : SIM_HISTORY_FIRST_NS) * MS_PS_PER_NS;
		s->run.edge = on_edge;
	}
	return true;
}

static bool open_history(struct sim_outputs *o, struct ms_scenario *s, struct ms_file_error *error)
{
	o->history = malloc(sizeof(*o->history));
	if (!o->history)
		return ms_file_set_no_memory(error, s->name);
	sim_history_begin(o->history, s);
	return true;
}

static bool open_capture(struct sim_outputs *o, struct ms_scenario *s, struct ms_file_error *error)
{
	const struct ms_scenario_output *out = &s->output;
	uint32_t *link, n;

	if (!out->capture[0])
		return true;
	if (!out->capture_links[0])
		return ms_file_set_error(error, s->name, 0,
					 "output.capture: expected capture_links too, such as "
					 "[\"host0.e0\"]");
	link = find_links(s, "capture_links", out->capture_links, &n, error);
	o->capture_file = link ? open_file(out->capture, error) : NULL;
	if (o->capture_file)
		o->capture = ms_capture_create(&s->fabric, link, n, out->capture_packets,
					       o->capture_file);
	free(link);
	if (o->capture_file && !o->capture)
		return ms_file_set_no_memory(error, out->capture);
	s->run.tap = on_tap;
	return o->capture != NULL;
}

bool sim_outputs_open(struct sim_outputs *o, struct ms_scenario *s, bool account,
		      struct ms_file_error *error)
{
	*o = (struct sim_outputs){.scenario = s};
	s->run.ctx = o;
	if (s->output.flows[0]) {
		o->flows = open_file(s->output.flows, error);
		if (!o->flows)
			return false;
	}
	if (account && !s->run.ranks && !open_history(o, s, error))
		return false;
	return open_series(o, s, error) && open_capture(o, s, error);
}

void sim_outputs_start(struct sim_outputs *o, struct ms_run *run)
{
	if (o->capture)
		ms_capture_start(o->capture, run->net);
}

bool sim_outputs_step(struct sim_outputs *o, struct ms_file_error *error)
{
	if (!o->capture || ms_capture_flush(o->capture))
		return true;
	return ms_file_set_error(error, o->scenario->output.capture, 0, "cannot be written: %s",
				 strerror(errno));
}

/* close_file closes a file and says whether everything has reached it. */
static bool close_file(FILE *f, const char *path, struct ms_file_error *error)
{
	bool whole;

	if (!f)
		return true;
	whole = !ferror(f);
	if (fclose(f) == 0 && whole)
		return true;
	return ms_file_set_error(error, path, 0, "cannot be written: %s", strerror(errno));
}

bool sim_outputs_close(struct sim_outputs *o, struct ms_run *run, struct ms_file_error *error)
{
	const struct ms_scenario_output *out = &o->scenario->output;
	bool ok = sim_outputs_step(o, error);

	if (o->flows && run)
		ms_write_flows(run, o->flows);
	ok = close_file(o->flows, out->flows, error) && ok;
	ok = close_file(o->series, out->series, error) && ok;
	ok = close_file(o->evs, out->evs, error) && ok;
	ok = close_file(o->capture_file, out->capture, error) && ok;
	ms_capture_destroy(o->capture);
	free(o->link);
	free(o->history);
	*o = (struct sim_outputs){0};
	return ok;
}
