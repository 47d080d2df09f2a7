/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scenario_read.c - goes through a scenario twice: what hosts and queues have by default follows
 * from the fabric, and a file may describe the fabric behind them.
 *
 * A change from outside takes the place of what the file says, so that nothing is given twice.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "sim/scenario/scenario_build.h"
#include "sim/scenario/scenario_keys.h"

#define CHANGES "--set"
#define TABLES_MAX 32u
#define BASE "topology.base"

/* Where each key of each element of a table was given; 0: it was not. */
struct scenario_lines {
	uint32_t key[MS_TABLE_KEYS_MAX];
};

struct scenario_reader {
	struct ms_scenario *s;
	const char *file; /* of the item that is read */
	struct ms_file_error *error;
	const struct ms_changes *changes;
	bool first, changing;
	const struct ms_table *table;
	size_t n_tables;
	struct scenario_lines *lines[TABLES_MAX];
	struct mf_topology_file topology;
};

/* ---- changes ---- */

/*
 * scenario_target takes "workload.1.bytes=1M" apart: the name without the number, and the number.
 * NULL: it is no change; else what follows the sign.
 */
static const char *scenario_target(const char *change, char name[2 * MB_TOML_NAME_MAX],
				   uint32_t *element)
{
	const char *equals = strchr(change, '=');
	size_t len = equals ? (size_t)(equals - change) : 0, digits = 0;
	char *key, *number;

	*element = 0;
	if (len == 0 || len >= (size_t)2 * MB_TOML_NAME_MAX)
		return NULL;
	memcpy(name, change, len);
	name[len] = '\0';
	key = strrchr(name, '.');
	if (!key)
		return equals + 1;
	number = key;
	while (number > name && number[-1] >= '0' && number[-1] <= '9') {
		number--;
		digits++;
	}
	if (digits == 0 || digits > 6 || number == name || number[-1] != '.')
		return equals + 1;
	*element = (uint32_t)strtoul(number, NULL, 10);
	memmove(number - 1, key, strlen(key) + 1);
	return equals + 1;
}

static bool scenario_is_changed(const struct scenario_reader *r, const struct mb_toml_item *item)
{
	char name[2 * MB_TOML_NAME_MAX];
	uint32_t element;

	for (size_t i = 0; r->changes && i < r->changes->n; i++)
		if (scenario_target(r->changes->change[i], name, &element) &&
		    element == item->element && strcmp(name, item->name) == 0)
			return true;
	return false;
}

static int scenario_keep(void *ctx, const struct mb_toml_item *item)
{
	*(struct mb_toml_item *)ctx = *item;
	return 0;
}

/* scenario_value reads a value as a file would have it; what is none there is a string. */
static bool scenario_value(const char *value, struct mb_toml_item *item)
{
	char text[MB_TOML_VALUE_MAX + 16];
	const char *why;
	uint32_t line;

	snprintf(text, sizeof(text), "value = %s\n", value);
	item->line = 0;
	mb_toml_read(text, scenario_keep, item, &line, &why);
	if (!why && item->line > 0)
		return true;
	snprintf(text, sizeof(text), "value = '%s'\n", value);
	mb_toml_read(text, scenario_keep, item, &line, &why);
	return !why && item->line > 0;
}

/* ---- items ---- */

static bool scenario_refuse(struct scenario_reader *r, const struct mb_toml_item *item,
			    const char *what)
{
	return ms_file_set_error(r->error, r->file, item->line, "%s%s%.80s: %s", item->name,
				 item->value[0] ? " = " : "", item->value, what);
}

/* scenario_of_topology says whether a table is one of topology files. */
static bool scenario_of_topology(const char *table)
{
	return strcmp(table, "topology") == 0 || strcmp(table, "links") == 0 ||
	       strncmp(table, "links.", 6) == 0 || strcmp(table, "usid") == 0;
}

/* scenario_topology_item hands an item to the reader of topology files. */
static bool scenario_topology_item(struct scenario_reader *r, const struct mb_toml_item *item)
{
	if (strcmp(item->name, BASE) == 0 && (r->s->topology.file[0] || r->s->topology.htsim[0]))
		return scenario_refuse(r, item, "expected one of base, file and htsim");
	r->topology.file = r->file;
	if (mf_topology_file_item(&r->topology, item) != MF_ITEM_WRONG)
		return true;
	snprintf(r->error->text, sizeof(r->error->text), "%s", r->topology.error);
	return false;
}

static bool scenario_unknown_table(struct scenario_reader *r, const struct mb_toml_item *item,
				   const char *table)
{
	const char *names[TABLES_MAX + 2], *near;
	char what[120];
	size_t n = 0;

	for (; n < r->n_tables; n++)
		names[n] = r->table[n].name;
	names[n++] = "links";
	names[n++] = "usid";
	near = mb_suggest_find(table, names, n);
	snprintf(what, sizeof(what), "unknown table [%.40s]%s%s%s", table,
		 near ? "; did you mean [" : "; docs/simulator.md lists those there are",
		 near ? near : "", near ? "]?" : "");
	return ms_file_set_error(r->error, r->file, item->line, "%s: %s", item->name, what);
}

static void scenario_expectation_defaults(struct ms_expectation *e)
{
	e->min = -HUGE_VAL;
	e->max = HUGE_VAL;
}

/* scenario_begin begins an element of a [[table]]. */
static bool scenario_begin(struct scenario_reader *r, size_t table, const struct mb_toml_item *item)
{
	const struct ms_table *t = &r->table[table];
	uint32_t *count = (uint32_t *)(void *)((char *)r->s + t->count_offset);
	char *element = (char *)r->s + t->offset + t->stride * *count;
	char what[80];

	if (t->max == 0)
		return scenario_refuse(r, item, "expected a table in single brackets");
	if (*count == t->max) {
		snprintf(what, sizeof(what), "expected at most %u of them", t->max);
		return scenario_refuse(r, item, what);
	}
	++*count;
	memcpy(element + t->line_offset, &item->line, sizeof(item->line));
	if (strcmp(t->name, "workload") == 0)
		ms_scenario_workload_defaults((struct ms_scenario_workload *)(void *)element);
	if (strcmp(t->name, "job") == 0)
		ms_scenario_job_defaults((struct ms_scenario_job *)(void *)element);
	if (strcmp(t->name, "rate") == 0)
		ms_scenario_rate_defaults((struct ms_scenario_rate *)(void *)element);
	if (strcmp(t->name, "fault") == 0 || strcmp(t->name, "random") == 0)
		ms_scenario_fault_defaults((struct ms_scenario_fault *)(void *)element);
	if (strcmp(t->name, "expect") == 0)
		scenario_expectation_defaults((struct ms_expectation *)(void *)element);
	return true;
}

static bool scenario_set(struct scenario_reader *r, size_t table, const struct mb_toml_item *item,
			 const char *name)
{
	const struct ms_table *t = &r->table[table];
	uint32_t count = 1;
	size_t key;

	if (t->max > 0)
		memcpy(&count, (char *)r->s + t->count_offset, sizeof(count));
	if (item->element >= count) {
		char what[80];

		snprintf(what, sizeof(what), "there %s %u [[%.30s]]", count == 1 ? "is" : "are",
			 count, t->name);
		return scenario_refuse(r, item, what);
	}
	key = ms_key_find(t->keys, t->n_keys, name, r->file, item, r->error);
	if (key == t->n_keys)
		return false;
	if (r->lines[table][item->element].key[key])
		return ms_file_set_error(r->error, r->file, item->line,
					 "%s = %.80s: was given before, in line %u", item->name,
					 item->value, r->lines[table][item->element].key[key]);
	r->lines[table][item->element].key[key] = item->line;
	return ms_key_set(&t->keys[key], r->file, item,
			  (char *)r->s + t->offset + t->stride * item->element, r->error);
}

/* scenario_item takes an item of the tables that are read this time. */
static bool scenario_item(struct scenario_reader *r, const struct mb_toml_item *item)
{
	bool element = item->kind == MB_TOML_ELEMENT;
	const char *dot = element ? NULL : strrchr(item->name, '.');
	const char *key = dot ? dot + 1 : item->name;
	char table[2 * MB_TOML_NAME_MAX];
	size_t n = 0;

	snprintf(table, sizeof(table), "%.*s",
		 element ? (int)strlen(item->name) : (dot ? (int)(dot - item->name) : 0),
		 item->name);
	if (scenario_of_topology(table) && strcmp(item->name, "topology.file") != 0 &&
	    strcmp(item->name, "topology.htsim") != 0)
		return !r->first || scenario_topology_item(r, item);
	while (n < r->n_tables && strcmp(r->table[n].name, table) != 0)
		n++;
	if (n == r->n_tables)
		return scenario_unknown_table(r, item, table);
	if (r->table[n].first != r->first)
		return true;
	if (element)
		return scenario_begin(r, n, item);
	if (!scenario_set(r, n, item, key))
		return false;
	return strcmp(table, "topology") != 0 || ms_scenario_topology_from(r->s, &r->topology);
}

static int scenario_on_item(void *ctx, const struct mb_toml_item *item)
{
	struct scenario_reader *r = ctx;

	if (scenario_is_changed(r, item))
		return 0;
	return scenario_item(r, item) ? 0 : 1;
}

/* scenario_change applies the changes; `base` those of the topology's base, or all others. */
static bool scenario_change(struct scenario_reader *r, bool base)
{
	struct mb_toml_item item;
	const char *was = r->file;
	bool ok = true;

	r->file = CHANGES;
	for (size_t i = 0; ok && r->changes && i < r->changes->n; i++) {
		const char *change = r->changes->change[i], *value;
		char name[2 * MB_TOML_NAME_MAX];
		uint32_t element;

		value = scenario_target(change, name, &element);
		if (!value || !scenario_value(value, &item))
			ok = ms_file_set_error(
				r->error, CHANGES, 0,
				"%.200s: expected TABLE.KEY=VALUE, as in mrc.evs=16 or "
				"workload.1.bytes=1M",
				change);
		if (!ok || (strcmp(name, BASE) == 0) != base)
			continue;
		snprintf(item.name, sizeof(item.name), "%s", name);
		item.element = element;
		item.line = 0;
		ok = scenario_item(r, &item);
	}
	r->file = was;
	return ok;
}

/* scenario_pass goes through the text once. */
static bool scenario_pass(struct scenario_reader *r, const char *text, bool first)
{
	const char *why;
	uint32_t line;
	int err;

	r->first = first;
	if (first && !scenario_change(r, true))
		return false;
	err = mb_toml_read(text, scenario_on_item, r, &line, &why);
	if (why)
		return ms_file_set_error(r->error, r->file, line, "%s", why);
	return !err && scenario_change(r, false);
}

/* ---- the whole ---- */

static bool scenario_fabric(struct scenario_reader *r)
{
	if (r->topology.first_line == 0 && !r->s->topology.htsim[0] && !r->topology.cfg.planes)
		return ms_file_set_error(r->error, r->file, 0,
					 "has no fabric; expected [topology] with base, "
					 "file or htsim");
	r->topology.file = r->file;
	if (mf_topology_file_build(&r->topology, &r->s->fabric))
		return true;
	snprintf(r->error->text, sizeof(r->error->text), "%s", r->topology.error);
	return false;
}

static bool scenario_expectations(struct scenario_reader *r)
{
	for (uint32_t i = 0; i < r->s->n_expectations; i++) {
		const struct ms_expectation *e = &r->s->expectation[i];

		if (!e->figure[0] || e->min > e->max)
			return ms_file_set_error(
				r->error, r->file, e->line,
				"expect: expected a figure, and a min that is not above "
				"its max");
	}
	return true;
}

/* scenario_captures refuses to write frames of RoCE: the writer knows those of MRC. */
static bool scenario_captures(struct scenario_reader *r)
{
	const struct ms_run_cfg *run = &r->s->run;

	for (uint32_t i = 0; r->s->output.capture[0] && i < run->n_workloads; i++)
		if (run->workload[i].transport == MS_ROCE)
			return ms_file_set_error(
				r->error, r->file, 0,
				"output.capture = %.80s: expected none with workloads "
				"over RoCE: only frames of MRC are written",
				r->s->output.capture);
	return true;
}

static bool scenario_whole(struct scenario_reader *r, const char *text)
{
	struct ms_scenario *s = r->s;
	char why[MS_WHY_BYTES];

	mf_topology_file_begin(&r->topology, r->file);
	if (!scenario_pass(r, text, true) || !scenario_fabric(r))
		return false;
	ms_scenario_run_defaults(s);
	if (!scenario_pass(r, text, false) || !ms_scenario_workloads(s) || !ms_scenario_jobs(s) ||
	    !ms_scenario_goodput_build(s) || !ms_scenario_fault_events(s) ||
	    !scenario_expectations(r) || !scenario_captures(r))
		return false;
	if (!ms_run_check(&s->run, why))
		return ms_file_set_error(r->error, r->file, 0, "%s", why);
	return true;
}

static bool scenario_lines_create(struct scenario_reader *r)
{
	r->table = ms_scenario_tables(&r->n_tables);
	for (size_t i = 0; i < r->n_tables; i++) {
		uint32_t n = r->table[i].max ? r->table[i].max : 1;

		r->lines[i] = calloc(n, sizeof(*r->lines[i]));
		if (!r->lines[i])
			return ms_file_set_no_memory(r->error, r->file);
	}
	return true;
}

struct ms_scenario *ms_scenario_read(const char *name, const char *text,
				     const struct ms_changes *changes, struct ms_file_error *error)
{
	struct ms_scenario *s = calloc(1, sizeof(*s));
	struct scenario_reader r = {.s = s, .file = name, .error = error, .changes = changes};
	bool ok;

	if (!s) {
		ms_file_set_no_memory(error, name);
		return NULL;
	}
	snprintf(s->name, sizeof(s->name), "%s", name);
	s->error = error;
	s->head.seed = 1;
	s->head.threads = 1;
	s->queues.trimming = true;
	s->queues.ecn = true;
	ms_scenario_goodput_defaults(&s->goodput);
	s->output.every_ns = 10000;
	s->output.capture_packets = 100000;
	ok = scenario_lines_create(&r) && scenario_whole(&r, text);
	for (size_t i = 0; i < r.n_tables; i++)
		free(r.lines[i]);
	s->error = NULL;
	if (ok)
		return s;
	ms_scenario_destroy(s);
	return NULL;
}

void ms_scenario_destroy(struct ms_scenario *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < MS_PARTS_MAX; i++) {
		ms_flow_list_fini(&s->flows[i]);
		ms_job_destroy(s->made[i]);
		if (s->graph[i])
			ms_graph_destroy(s->graph[i]);
	}
	ms_fault_spans_fini(&s->spans);
	free(s->faults);
	free(s);
}
