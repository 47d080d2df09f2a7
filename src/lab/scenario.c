/* SPDX-License-Identifier: BSD-2-Clause */
/* scenario.c - reading scenarios: a table of keys, each with a function that takes its value. */
#include "lab/scenario.h"
#include "base/quantity.h"
#include "base/suggest.h"
#include "base/toml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX_NS UINT64_C(3600000000000)
#define LIMIT_NS UINT64_C(60000000000)

static const char *const counter_name[ML_SCENARIO_COUNTERS] = {"packets", "trimmed", "marked",
							       "dropped", "lost"};

const char *ml_scenario_counter_name(enum ml_scenario_counter counter)
{
	return counter_name[counter];
}

struct reading {
	const char *file;
	struct ml_scenario *s;
	char *error;
};

static int report_bad_value(const struct reading *r, const struct mb_toml_item *item,
			    const char *what)
{
	snprintf(r->error, ML_SCENARIO_ERROR_MAX, "%s:%u: %s = %.100s: %s", r->file, item->line,
		 item->name, item->value, what);
	return -1;
}

/* ---- values ---- */

static int take_text(const struct reading *r, const struct mb_toml_item *item, char *out,
		     size_t size)
{
	if (!item->value[0])
		return report_bad_value(r, item, "is empty");
	if (strlen(item->value) >= size)
		return report_bad_value(r, item, "is too long");
	snprintf(out, size, "%s", item->value);
	return 0;
}

static int take_time(const struct reading *r, const struct mb_toml_item *item, uint64_t *ns)
{
	if (mb_quantity_read_time(item->value, 0, TIME_MAX_NS, ns))
		return 0;
	return report_bad_value(r, item, "must be " MB_QUANTITY_TIME_FORM ", at most an hour");
}

static int take_number(const struct reading *r, const struct mb_toml_item *item, uint64_t max,
		       uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(item->value, &end, 10);
	if (item->value[0] != '-' && !*end && end != item->value && !errno && *out <= max)
		return 0;
	return report_bad_value(r, item,
				"must be a whole number that is not negative, or is too large");
}

static int take_small(const struct reading *r, const struct mb_toml_item *item, uint32_t max,
		      uint32_t *out)
{
	uint64_t n;

	if (take_number(r, item, max, &n))
		return -1;
	*out = (uint32_t)n;
	return 0;
}

static int take_truth(const struct mb_toml_item *item, bool *out)
{
	*out = strcmp(item->value, "true") == 0;
	return 0;
}

/* "3", "0-3,7", or [0, 1, 2]. */
static int take_hosts(const struct reading *r, const struct mb_toml_item *item,
		      struct ml_scenario_program *p)
{
	const char *at = item->value;
	char *end;

	p->hosts = 0;
	do {
		unsigned long first = strtoul(at, &end, 10), last = first;

		if (end == at)
			break;
		if (*end == '-') {
			at = end + 1;
			last = strtoul(at, &end, 10);
			if (end == at)
				break;
		}
		for (; first <= last && p->hosts < ML_SCENARIO_HOSTS_MAX; first++)
			p->host[p->hosts++] = (uint32_t)first;
		at = end + 1;
	} while (*end == ',');
	if (!*end && end != item->value && p->hosts)
		return 0;
	return report_bad_value(r, item, "must be hosts such as 3, \"0-3,7\" or [0, 1]");
}

/* ---- keys ---- */

static struct ml_scenario_program *last_program(const struct reading *r)
{
	return &r->s->program[r->s->programs - 1];
}

static struct ml_scenario_fault *last_fault(const struct reading *r)
{
	return &r->s->fault[r->s->faults - 1];
}

static struct ml_scenario_check *last_check(const struct reading *r)
{
	return &r->s->check[r->s->checks - 1];
}

#define KEY(function, call)                                                           \
	static int function(const struct reading *r, const struct mb_toml_item *item) \
	{                                                                             \
		return call;                                                          \
	}

KEY(set_title, take_text(r, item, r->s->title, sizeof(r->s->title)))
KEY(set_topology, take_text(r, item, r->s->topology, sizeof(r->s->topology)))
KEY(set_limit, take_time(r, item, &r->s->limit_ns))
KEY(set_needs, take_truth(item, &r->s->needs_programs))
KEY(set_name, take_text(r, item, last_program(r)->name, sizeof(last_program(r)->name)))
KEY(set_run, take_text(r, item, last_program(r)->run, sizeof(last_program(r)->run)))
KEY(set_hosts, take_hosts(r, item, last_program(r)))
KEY(set_program_at, take_time(r, item, &last_program(r)->at_ns))
KEY(set_background, take_truth(item, &last_program(r)->background))
KEY(set_status, take_small(r, item, 255, &last_program(r)->status))
KEY(set_target, take_text(r, item, last_fault(r)->target, sizeof(last_fault(r)->target)))
KEY(set_fault, take_text(r, item, last_fault(r)->words, sizeof(last_fault(r)->words)))
KEY(set_fault_at, take_time(r, item, &last_fault(r)->at_ns))
KEY(set_for, take_time(r, item, &last_fault(r)->for_ns))
KEY(set_every, take_time(r, item, &last_fault(r)->every_ns))
KEY(set_times, take_small(r, item, 1000, &last_fault(r)->times))
KEY(set_check_program, take_text(r, item, last_check(r)->program, sizeof(last_check(r)->program)))
KEY(set_says, take_text(r, item, last_check(r)->says, sizeof(last_check(r)->says)))
KEY(set_of, take_text(r, item, last_check(r)->of, sizeof(last_check(r)->of)))
KEY(set_least, take_number(r, item, INT64_MAX, &last_check(r)->least))
KEY(set_most, take_number(r, item, INT64_MAX, &last_check(r)->most))

static int set_pace(const struct reading *r, const struct mb_toml_item *item)
{
	if (strcmp(item->value, "0") == 0) {
		r->s->pace_bps = 0;
		return 0;
	}
	if (mb_quantity_read_rate(item->value, ML_PACE_MIN_BPS, ML_PACE_MAX_BPS, &r->s->pace_bps))
		return 0;
	return report_bad_value(r, item, "must be 0 or " MB_QUANTITY_RATE_FORM ", 100k to 100G");
}

static int set_form(const struct reading *r, const struct mb_toml_item *item)
{
	bool udp = strcmp(item->value, "udp") == 0;

	if (!udp && strcmp(item->value, "raw41") != 0)
		return report_bad_value(r, item, "must be raw41 or udp");
	last_program(r)->form = udp ? MF_HOST_UDP : MF_HOST_RAW41;
	return 0;
}

static int set_counter(const struct reading *r, const struct mb_toml_item *item)
{
	for (size_t i = 0; i < ML_SCENARIO_COUNTERS; i++)
		if (strcmp(item->value, counter_name[i]) == 0) {
			last_check(r)->counter = (enum ml_scenario_counter)i;
			return 0;
		}
	return report_bad_value(r, item, "must be packets, trimmed, marked, dropped or lost");
}

static const struct key {
	const char *name;
	unsigned kinds;
	int (*set)(const struct reading *r, const struct mb_toml_item *item);
} keys[] = {
	{"title", MB_TOML_STRING, set_title},
	{"topology", MB_TOML_STRING, set_topology},
	{"pace", MB_TOML_STRING | MB_TOML_INTEGER, set_pace},
	{"limit", MB_TOML_STRING, set_limit},
	{"needs_programs", MB_TOML_BOOLEAN, set_needs},
	{"program.name", MB_TOML_STRING, set_name},
	{"program.run", MB_TOML_STRING, set_run},
	{"program.host", MB_TOML_STRING | MB_TOML_INTEGER | MB_TOML_ARRAY, set_hosts},
	{"program.at", MB_TOML_STRING, set_program_at},
	{"program.form", MB_TOML_STRING, set_form},
	{"program.background", MB_TOML_BOOLEAN, set_background},
	{"program.status", MB_TOML_INTEGER, set_status},
	{"fault.target", MB_TOML_STRING, set_target},
	{"fault.fault", MB_TOML_STRING, set_fault},
	{"fault.at", MB_TOML_STRING, set_fault_at},
	{"fault.for", MB_TOML_STRING, set_for},
	{"fault.every", MB_TOML_STRING, set_every},
	{"fault.times", MB_TOML_INTEGER, set_times},
	{"check.program", MB_TOML_STRING, set_check_program},
	{"check.says", MB_TOML_STRING, set_says},
	{"check.counter", MB_TOML_STRING, set_counter},
	{"check.of", MB_TOML_STRING, set_of},
	{"check.least", MB_TOML_INTEGER, set_least},
	{"check.most", MB_TOML_INTEGER, set_most},
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

/* ---- the file ---- */

static int too_many(const struct reading *r, const struct mb_toml_item *item, unsigned max)
{
	snprintf(r->error, ML_SCENARIO_ERROR_MAX, "%s:%u: more than %u [[%s]]", r->file, item->line,
		 max, item->name);
	return -1;
}

static int begin_element(const struct reading *r, const struct mb_toml_item *item)
{
	struct ml_scenario *s = r->s;

	if (strcmp(item->name, "program") == 0) {
		if (s->programs == ML_SCENARIO_PROGRAMS_MAX)
			return too_many(r, item, ML_SCENARIO_PROGRAMS_MAX);
		s->program[s->programs++] = (struct ml_scenario_program){.line = item->line};
	} else if (strcmp(item->name, "fault") == 0) {
		if (s->faults == ML_SCENARIO_FAULTS_MAX)
			return too_many(r, item, ML_SCENARIO_FAULTS_MAX);
		s->fault[s->faults++] = (struct ml_scenario_fault){.line = item->line, .times = 1};
	} else if (strcmp(item->name, "check") == 0) {
		if (s->checks == ML_SCENARIO_CHECKS_MAX)
			return too_many(r, item, ML_SCENARIO_CHECKS_MAX);
		s->check[s->checks++] = (struct ml_scenario_check){
			.line = item->line, .counter = ML_SCENARIO_COUNTERS, .most = INT64_MAX};
	} else {
		snprintf(r->error, ML_SCENARIO_ERROR_MAX,
			 "%s:%u: [[%s]]: unknown table; there are program, fault, check", r->file,
			 item->line, item->name);
		return -1;
	}
	return 0;
}

/* A key of a table that was never begun, as in [program] for [[program]]. */
static bool is_outside_folder(const struct ml_scenario *s, const char *name)
{
	return (strncmp(name, "program.", 8) == 0 && !s->programs) ||
	       (strncmp(name, "fault.", 6) == 0 && !s->faults) ||
	       (strncmp(name, "check.", 6) == 0 && !s->checks);
}

static int read_item(void *context, const struct mb_toml_item *item)
{
	const struct reading *r = context;
	const char *names[KEYS], *near;
	char text[200];

	if (item->kind == MB_TOML_ELEMENT)
		return begin_element(r, item);
	for (size_t i = 0; i < KEYS; i++) {
		names[i] = keys[i].name;
		if (strcmp(item->name, names[i]) != 0)
			continue;
		if (is_outside_folder(r->s, item->name))
			return report_bad_value(r, item, "write [[...]] above, with two brackets");
		if (!(item->kind & keys[i].kinds))
			return report_bad_value(r, item, "has the wrong type");
		return keys[i].set(r, item);
	}
	near = mb_suggest_find(item->name, names, KEYS);
	snprintf(text, sizeof(text), "unknown key%s%s", near ? "; did you mean " : "",
		 near ? near : "; docs/lab.md lists them");
	return report_bad_value(r, item, text);
}

static int report_missing_key(const struct reading *r, uint32_t line, const char *what)
{
	snprintf(r->error, ML_SCENARIO_ERROR_MAX, "%s:%u: %s", r->file, line, what);
	return -1;
}

static int check_whole(const struct reading *r)
{
	const struct ml_scenario *s = r->s;

	for (uint32_t i = 0; i < s->programs; i++)
		if (!s->program[i].run[0] || !s->program[i].hosts || !s->program[i].name[0])
			return report_missing_key(r, s->program[i].line,
						  "a program needs name, host and run");
	for (uint32_t i = 0; i < s->faults; i++) {
		const struct ml_scenario_fault *f = &s->fault[i];

		if (!f->target[0] || !f->words[0])
			return report_missing_key(r, f->line, "a fault needs target and fault");
		if (f->times == 0 || (f->times > 1 && (!f->for_ns || f->every_ns <= f->for_ns)))
			return report_missing_key(
				r, f->line,
				"a fault that comes several times needs for, and a longer every");
		if (mf_fault_kind_find(f->words) == MF_FAULT_REBOOT && !f->for_ns)
			return report_missing_key(r, f->line, "a reboot needs for");
	}
	for (uint32_t i = 0; i < s->checks; i++) {
		const struct ml_scenario_check *c = &s->check[i];

		if ((c->program[0] && c->says[0]) == (c->counter != ML_SCENARIO_COUNTERS))
			return report_missing_key(r, c->line,
						  "a check has program and says, or counter");
	}
	return 0;
}

int ml_scenario_read(const char *file, const char *text, struct ml_scenario *s, char *error)
{
	struct reading r = {file, s, error};
	const char *why = NULL;
	uint32_t line = 0;
	int rc;

	*s = (struct ml_scenario){
		.topology = "lab", .pace_bps = ML_PACE_OF_TOPOLOGY, .limit_ns = LIMIT_NS};
	rc = mb_toml_read(text, read_item, &r, &line, &why);
	if (why) {
		snprintf(error, ML_SCENARIO_ERROR_MAX, "%s:%u: %s", file, line, why);
		return -1;
	}
	return rc ? -1 : check_whole(&r);
}

/* ---- against the topology ---- */

static bool has_program(const struct ml_scenario *s, const char *name)
{
	for (uint32_t i = 0; i < s->programs; i++)
		if (strcmp(s->program[i].name, name) == 0)
			return true;
	return false;
}

static int fit_check(const struct ml_scenario *s, const struct ml_scenario_check *c,
		     const struct mf_topology *t, struct ml_error *e)
{
	struct mf_target target;
	struct mf_error why;

	if (c->program[0] && !has_program(s, c->program))
		return ml_error_set(e, "program = %s: there is no [[program]] of this name",
				    c->program);
	return !c->of[0] || mf_target_find(t, c->of, &target, &why) ? 0 : ml_error_from(e, &why);
}

static int report_mismatch(const char *file, uint32_t line, const char *what, char *error)
{
	snprintf(error, ML_SCENARIO_ERROR_MAX, "%s:%u: %s", file, line, what);
	return -1;
}

int ml_scenario_check_topology(const char *file, struct ml_scenario *s, const struct mf_topology *t,
			       char *error)
{
	struct ml_error e;

	for (uint32_t i = 0; i < s->programs; i++)
		for (uint32_t h = 0; h < s->program[i].hosts; h++)
			if (s->program[i].host[h] >= t->n_hosts) {
				ml_error_set(&e, "host = %u: %s has hosts 0 to %u",
					     s->program[i].host[h], s->topology, t->n_hosts - 1);
				return report_mismatch(file, s->program[i].line, e.text, error);
			}
	for (uint32_t i = 0; i < s->faults; i++)
		if (ml_fault_read(t, s->fault[i].target, s->fault[i].words, &s->fault[i].fault, &e))
			return report_mismatch(file, s->fault[i].line, e.text, error);
	for (uint32_t i = 0; i < s->checks; i++)
		if (fit_check(s, &s->check[i], t, &e))
			return report_mismatch(file, s->check[i].line, e.text, error);
	return 0;
}
