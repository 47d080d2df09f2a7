/* SPDX-License-Identifier: BSD-2-Clause */
/* scenario.c - reading scenarios: a table of keys, each with a function that takes its value. */
#include "lab/scenario.h"
#include "base/quantity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_NS UINT64_C(60000000000)

static const char *const counter_name[ML_SCENARIO_COUNTERS] = {"packets", "trimmed", "marked",
							       "dropped", "lost"};

const char *ml_scenario_counter_name(enum ml_scenario_counter counter)
{
	return counter_name[counter];
}

static bool read_number(const char **at, uint32_t *n)
{
	char *end;
	unsigned long value;

	if (**at < '0' || **at > '9')
		return false;
	value = strtoul(*at, &end, 10);
	*n = (uint32_t)value;
	*at = end;
	return value <= UINT32_MAX;
}

/* "3", "0-3,7", or [0, 1, 2], which comes as "0,1,2". */
static bool add_hosts(struct ml_scenario_program *p, const char *at)
{
	uint32_t first, last;

	p->hosts = 0;
	do {
		if (!read_number(&at, &first))
			return false;
		last = first;
		if (*at == '-') {
			at++;
			if (!read_number(&at, &last) || last < first)
				return false;
		}
		if (last - first >= ML_SCENARIO_HOSTS_MAX - p->hosts)
			return false;
		for (uint32_t i = 0; i <= last - first; i++)
			p->host[p->hosts++] = first + i;
	} while (*at++ == ',');
	return !at[-1];
}

static int read_hosts(const struct ml_toml *r, const struct mb_toml_item *item, void *to,
		      uint64_t max)
{
	(void)max;
	if (add_hosts(to, item->value))
		return 0;
	return ml_toml_refuse(r, item, "must be up to 128 hosts such as 3, \"0-3,7\" or [0, 1]");
}

static int read_pace(const struct ml_toml *r, const struct mb_toml_item *item, void *to,
		     uint64_t max)
{
	uint64_t *bps = to;

	(void)max;
	*bps = 0;
	if (strcmp(item->value, "0") == 0 ||
	    mb_quantity_read_rate(item->value, ML_PACE_MIN_BPS, ML_PACE_MAX_BPS, bps))
		return 0;
	return ml_toml_refuse(r, item, "must be 0 or " MB_QUANTITY_RATE_FORM ", 100k to 100G");
}

static int read_form(const struct ml_toml *r, const struct mb_toml_item *item, void *to,
		     uint64_t max)
{
	bool udp = strcmp(item->value, "udp") == 0;

	(void)max;
	*(enum mf_host_form *)to = udp ? MF_HOST_UDP : MF_HOST_RAW41;
	return udp || strcmp(item->value, "raw41") == 0
		       ? 0
		       : ml_toml_refuse(r, item, "must be raw41 or udp");
}

static int read_counter(const struct ml_toml *r, const struct mb_toml_item *item, void *to,
			uint64_t max)
{
	(void)max;
	for (size_t i = 0; i < ML_SCENARIO_COUNTERS; i++)
		if (strcmp(item->value, counter_name[i]) == 0) {
			*(enum ml_scenario_counter *)to = (enum ml_scenario_counter)i;
			return 0;
		}
	return ml_toml_refuse(r, item, "must be packets, trimmed, marked, dropped or lost");
}

/* ---- keys ---- */

#define WHOLE struct ml_scenario
#define PROGRAM struct ml_scenario_program
#define FAULT struct ml_scenario_fault
#define CHECK struct ml_scenario_check
#define AT(type, field) offsetof(type, field)
#define TEXT(type, field) MB_TOML_STRING, ml_toml_text, AT(type, field), sizeof(((type *)0)->field)
#define TIME(type, field) MB_TOML_STRING, ml_toml_time, AT(type, field), 0
#define BOOL(type, field) MB_TOML_BOOLEAN, ml_toml_bool, AT(type, field), 0

static const struct ml_toml_key keys[] = {
	{"title", TEXT(WHOLE, title)},
	{"topology", TEXT(WHOLE, topology)},
	{"pace", MB_TOML_STRING | MB_TOML_INTEGER, read_pace, AT(WHOLE, pace_bps), 0},
	{"limit", TIME(WHOLE, limit_ns)},
	{"needs_programs", BOOL(WHOLE, needs_programs)},
	{"program.name", TEXT(PROGRAM, name)},
	{"program.run", TEXT(PROGRAM, run)},
	{"program.host", MB_TOML_STRING | MB_TOML_INTEGER | MB_TOML_ARRAY, read_hosts, 0, 0},
	{"program.at", TIME(PROGRAM, at_ns)},
	{"program.form", MB_TOML_STRING, read_form, AT(PROGRAM, form), 0},
	{"program.background", BOOL(PROGRAM, background)},
	{"program.status", MB_TOML_INTEGER, ml_toml_u32, AT(PROGRAM, status), 255},
	{"fault.target", TEXT(FAULT, target)},
	{"fault.fault", TEXT(FAULT, words)},
	{"fault.at", TIME(FAULT, at_ns)},
	{"fault.for", TIME(FAULT, for_ns)},
	{"fault.every", TIME(FAULT, every_ns)},
	{"fault.times", MB_TOML_INTEGER, ml_toml_u32, AT(FAULT, times), 1000},
	{"check.program", TEXT(CHECK, program)},
	{"check.says", TEXT(CHECK, says)},
	{"check.counter", MB_TOML_STRING, read_counter, AT(CHECK, counter), 0},
	{"check.of", TEXT(CHECK, of)},
	{"check.least", MB_TOML_INTEGER, ml_toml_u64, AT(CHECK, least), INT64_MAX},
	{"check.most", MB_TOML_INTEGER, ml_toml_u64, AT(CHECK, most), INT64_MAX},
};

static const FAULT new_fault = {.times = 1};
static const CHECK new_check = {.counter = ML_SCENARIO_COUNTERS, .most = INT64_MAX};

static const struct ml_toml_table tables[] = {
	{"program", AT(WHOLE, program), sizeof(PROGRAM), AT(WHOLE, programs),
	 ML_SCENARIO_PROGRAMS_MAX, NULL},
	{"fault", AT(WHOLE, fault), sizeof(FAULT), AT(WHOLE, faults), ML_SCENARIO_FAULTS_MAX,
	 &new_fault},
	{"check", AT(WHOLE, check), sizeof(CHECK), AT(WHOLE, checks), ML_SCENARIO_CHECKS_MAX,
	 &new_check},
};

static const struct ml_toml_format format = {keys, sizeof(keys) / sizeof(keys[0]), tables,
					     sizeof(tables) / sizeof(tables[0]), "docs/lab.md"};

/* ---- the file as a whole ---- */

static int report_at(const char *file, uint32_t line, const char *what, char *error)
{
	snprintf(error, ML_SCENARIO_ERROR_MAX, "%s:%u: %s", file, line, what);
	return -1;
}

static int check_whole(const char *file, const struct ml_scenario *s, char *error)
{
	for (uint32_t i = 0; i < s->programs; i++)
		if (!s->program[i].run[0] || !s->program[i].hosts || !s->program[i].name[0])
			return report_at(file, s->program[i].line,
					 "a program needs name, host and run", error);
	for (uint32_t i = 0; i < s->faults; i++) {
		const struct ml_scenario_fault *f = &s->fault[i];

		if (!f->target[0] || !f->words[0])
			return report_at(file, f->line, "a fault needs target and fault", error);
		if (f->times == 0 || (f->times > 1 && (!f->for_ns || f->every_ns <= f->for_ns)))
			return report_at(
				file, f->line,
				"a fault that comes several times needs for, and a longer every",
				error);
		if (mf_fault_kind_find(f->words) == MF_FAULT_REBOOT && !f->for_ns)
			return report_at(file, f->line, "a reboot needs for", error);
	}
	for (uint32_t i = 0; i < s->checks; i++) {
		const struct ml_scenario_check *c = &s->check[i];

		if ((c->program[0] && c->says[0]) == (c->counter != ML_SCENARIO_COUNTERS))
			return report_at(file, c->line, "a check has program and says, or counter",
					 error);
	}
	return 0;
}

int ml_scenario_read(const char *file, const char *text, struct ml_scenario *s, char *error)
{
	*s = (struct ml_scenario){
		.topology = "lab", .pace_bps = ML_PACE_OF_TOPOLOGY, .limit_ns = LIMIT_NS};
	return ml_toml_read(&format, file, text, s, error) || check_whole(file, s, error) ? -1 : 0;
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

int ml_scenario_check_topology(const char *file, struct ml_scenario *s, const struct mf_topology *t,
			       char *error)
{
	struct ml_error e;

	for (uint32_t i = 0; i < s->programs; i++)
		for (uint32_t h = 0; h < s->program[i].hosts; h++)
			if (s->program[i].host[h] >= t->n_hosts) {
				ml_error_set(&e, "host = %u: %s has hosts 0 to %u",
					     s->program[i].host[h], s->topology, t->n_hosts - 1);
				return report_at(file, s->program[i].line, e.text, error);
			}
	for (uint32_t i = 0; i < s->faults; i++)
		if (ml_fault_read(t, s->fault[i].target, s->fault[i].words, &s->fault[i].fault, &e))
			return report_at(file, s->fault[i].line, e.text, error);
	for (uint32_t i = 0; i < s->checks; i++)
		if (fit_check(s, &s->check[i], t, &e))
			return report_at(file, s->check[i].line, e.text, error);
	return 0;
}
