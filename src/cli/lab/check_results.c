/* SPDX-License-Identifier: BSD-2-Clause */
/* Judging a run: see check_results.h. */
#include "cli/lab/check_results.h"
#include "ui/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct verdict_line *next_line(struct verdict *v)
{
	return &v->line[v->lines < VERDICT_MAX ? v->lines++ : VERDICT_MAX - 1];
}

static void judge_program(struct verdict *v, const struct ml_process *m)
{
	struct verdict_line *line = next_line(v);
	char ran[UI_UNITS_MAX];

	snprintf(line->what, sizeof(line->what), "%s on host%u ends with status %u",
		 m->program->name, m->host, m->program->status);
	if (m->overdue)
		snprintf(line->actual, sizeof(line->actual), "still ran at the limit");
	else
		snprintf(line->actual, sizeof(line->actual), "%d after %s", m->status,
			 ui_units_time(ran, m->ran_ns));
	line->pass = !m->overdue && m->status == (int)m->program->status;
}

/* Every host that runs the program must have said it. */
static void judge_words(struct verdict *v, const struct ml_scenario_check *check,
			const struct ml_processes *c)
{
	struct verdict_line *line = next_line(v);
	uint32_t asked = 0, said = 0;

	for (uint32_t i = 0; i < c->members; i++) {
		char *text;

		if (strcmp(c->member[i].program->name, check->program) != 0)
			continue;
		text = ml_processes_output(c, i);
		asked++;
		said += text && strstr(text, check->says);
		free(text);
	}
	snprintf(line->what, sizeof(line->what), "%s says \"%.50s\"", check->program, check->says);
	snprintf(line->actual, sizeof(line->actual), "%u of %u did", said, asked);
	line->pass = asked && said == asked;
}

static uint64_t counter_value(const struct ml_counters *c, enum ml_scenario_counter counter)
{
	const uint64_t values[ML_SCENARIO_COUNTERS] = {c->packets, c->trimmed, c->marked,
						       c->dropped, c->lost};

	return values[counter];
}

static void judge_counter(struct verdict *v, const struct ml_scenario_check *check,
			  const struct mf_topology *t, const struct ml_counters *counters)
{
	struct verdict_line *line = next_line(v);
	const char *name = ml_scenario_counter_name(check->counter);
	const char *of = check->of[0] ? check->of : "all ports";
	struct mf_target target = {0};
	struct mf_error e;
	uint64_t sum = 0;

	if (!check->of[0])
		for (uint32_t link = 0; link < t->n_links; link++)
			sum += counter_value(&counters[link], check->counter);
	else if (mf_target_find(t, check->of, &target, &e))
		for (uint32_t i = 0; i < target.links; i++)
			sum += counter_value(&counters[mf_target_link(t, &target, i)],
					     check->counter);
	if (check->most == INT64_MAX)
		snprintf(line->what, sizeof(line->what), "%s at %s: at least %" PRIu64, name, of,
			 check->least);
	else
		snprintf(line->what, sizeof(line->what), "%s at %s: %" PRIu64 " to %" PRIu64, name,
			 of, check->least, check->most);
	snprintf(line->actual, sizeof(line->actual), "%" PRIu64, sum);
	line->pass = sum >= check->least && sum <= check->most;
}

void check_results_find(struct verdict *v, const struct ml_scenario *s,
			const struct ml_processes *c, const struct mf_topology *t,
			const struct ml_counters *counters)
{
	*v = (struct verdict){.pass = true};
	for (uint32_t i = 0; i < c->members; i++)
		if (!c->member[i].program->background)
			judge_program(v, &c->member[i]);
	for (uint32_t i = 0; i < s->checks; i++)
		if (s->check[i].program[0])
			judge_words(v, &s->check[i], c);
		else
			judge_counter(v, &s->check[i], t, counters);
	for (size_t i = 0; i < v->lines; i++)
		v->pass = v->pass && v->line[i].pass;
}

void check_results_show(const struct verdict *v, struct ui_text *out)
{
	struct ui_table t = {.left = 6};

	ui_table_cell(&t, 0, 0, "HELD");
	ui_table_cell(&t, 0, 1, "WHAT");
	ui_table_cell(&t, 0, 2, "FOUND");
	for (size_t i = 0; i < v->lines; i++) {
		ui_table_cell(&t, i + 1, 0, v->line[i].pass ? "yes" : "NO");
		ui_table_cell(&t, i + 1, 1, "%s", v->line[i].what);
		ui_table_cell(&t, i + 1, 2, "%s", v->line[i].actual);
	}
	ui_table_render(&t, out);
	ui_table_fini(&t);
}

json_t *check_results_json(const struct verdict *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->lines; i++)
		json_array_append_new(list,
				      json_pack("{ss ss sb}", "what", v->line[i].what, "actual",
						v->line[i].actual, "pass", v->line[i].pass));
	return list;
}
