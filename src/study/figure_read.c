/* SPDX-License-Identifier: BSD-2-Clause */
/* figure_read.c - the files of figures; their keys stand in tables, as those of scenarios do. */
#include "study/figure.h"

#include "base/suggest.h"
#include "base/toml.h"
#include "sim/import/input.h"
#include "sim/scenario/scenario_keys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_NS (86400 * UINT64_C(1000000000))

const char *const sim_figure_chart_names[] = {"time", "cdf", "bars", "sweep", NULL};
static const char *const stat_names[] = {"mean", "least", "most", NULL};

#define TEXT(key, type, field, about) MS_KEY(key, TEXT, type, field, 0, 0, NULL, "none", about)
#define LIST(key, type, field, about) MS_KEY(key, LIST, type, field, 0, 0, NULL, "none", about)
#define TIME(key, type, field, about) MS_KEY(key, TIME, type, field, 0, DAY_NS, NULL, "none", about)
#define REAL(key, type, field, about) MS_KEY(key, REAL, type, field, 0, 0, NULL, "none", about)
#define FLAG(key, type, field, about) MS_KEY(key, BOOLEAN, type, field, 0, 1, NULL, "false", about)
#define WORD(key, type, field, words, first, about) \
	MS_KEY(key, WORD, type, field, 0, 0, words, first, about)

static const struct ms_key head_keys[] = {
	TEXT("title", struct sim_figure_head, title, "what it is, in a line"),
	TEXT("paper", struct sim_figure_head, paper, "what was measured, and where"),
	TEXT("setup", struct sim_figure_head, setup, "how it is done here, and what was assumed"),
	TEXT("differs", struct sim_figure_head, differs, "where it differs, and why"),
};

static const struct ms_key run_keys[] = {
	TEXT("name", struct sim_figure_run, name, "what claims and charts call it"),
	TEXT("scenario", struct sim_figure_run, scenario, "that is run"),
	LIST("set", struct sim_figure_run, set, "changes to it"),
	LIST("quick", struct sim_figure_run, quick, "more changes, at the scale of tests"),
	TEXT("vary", struct sim_figure_run, vary, "a key: one run for each of its values"),
	LIST("values", struct sim_figure_run, values, "the values of that key"),
	LIST("quick_values", struct sim_figure_run, quick_values, "those at the scale of tests"),
};

#define CLAIM struct sim_claim
static const struct ms_key claim_keys[] = {
	TEXT("text", CLAIM, text, "what must hold"),
	TEXT("note", CLAIM, note, "where the band comes from, or why it does not hold"),
	TEXT("figure", CLAIM, figure, "of the result; with from and to: of its history"),
	TEXT("of", CLAIM, of, "the run"),
	TEXT("than", CLAIM, than, "another run, by whose figure this one is divided"),
	TEXT("over", CLAIM, over, "the figure of that one"),
	TIME("from", CLAIM, from_ns, "simulated time"),
	TIME("to", CLAIM, to_ns, "simulated time"),
	TIME("than_from", CLAIM, than_from, "simulated time"),
	TIME("than_to", CLAIM, than_to, "simulated time"),
	WORD("stat", CLAIM, stat, stat_names, "mean", "of the values between from and to"),
	REAL("min", CLAIM, min, "not less"),
	REAL("max", CLAIM, max, "not more"),
	REAL("quick_min", CLAIM, quick_min, "at the scale of tests"),
	REAL("quick_max", CLAIM, quick_max, "at the scale of tests"),
	FLAG("full_only", CLAIM, full_only, "says nothing at the scale of tests"),
	FLAG("differs", CLAIM, differs, "is known not to hold; the figure says why"),
};

#define CHART struct sim_chart
static const struct ms_key chart_keys[] = {
	WORD("kind", CHART, kind, sim_figure_chart_names, "time", "how it is drawn"),
	TEXT("title", CHART, title, "above it"),
	TEXT("figure", CHART, figure, "what is drawn"),
	LIST("runs", CHART, runs, "of which runs; none: all"),
	TEXT("x", CHART, x, "name and unit of the axis"),
	TEXT("y", CHART, y, "name and unit of the axis"),
	FLAG("log", CHART, log, "the x axis is logarithmic"),
};

/* NOLINTBEGIN(bugprone-macro-parentheses): a member has none. */
#define ELEMENTS(list, field_, count)                                                          \
	.keys = list, .n_keys = MS_COUNT(list), .offset = offsetof(struct sim_figure, field_), \
	.stride = sizeof(((struct sim_figure *)0)->field_[0]),                                 \
	.count_offset = offsetof(struct sim_figure, count),                                    \
	.max = MS_COUNT(((struct sim_figure *)0)->field_)
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct ms_table tables[] = {
	{.name = "",
	 .keys = head_keys,
	 .n_keys = MS_COUNT(head_keys),
	 .offset = offsetof(struct sim_figure, head)},
	{.name = "run", ELEMENTS(run_keys, run, n_runs)},
	{.name = "claim", ELEMENTS(claim_keys, claim, n_claims)},
	{.name = "chart", ELEMENTS(chart_keys, chart, n_charts)},
};

struct figure_reader {
	struct sim_figure *f;
	struct ms_file_error *error;
};

static bool set_item_error(struct figure_reader *r, const struct mb_toml_item *item,
			   const char *what)
{
	return ms_file_set_error(r->error, r->f->name, item->line, "%s%s%.80s: %s", item->name,
				 item->value[0] ? " = " : "", item->value, what);
}

static bool begin_element(struct figure_reader *r, const struct ms_table *t,
			  const struct mb_toml_item *item)
{
	uint32_t *count = (uint32_t *)(void *)((char *)r->f + t->count_offset);
	void *element = (char *)r->f + t->offset + t->stride * *count;

	if (t->max == 0 || *count == t->max)
		return set_item_error(r, item,
				      t->max ? "there are too many of these" : "expected a key");
	++*count;
	memcpy(element, &item->line, sizeof(item->line)); /* the first field of each */
	if (t->keys == claim_keys) {
		struct sim_claim *c = element;

		c->min = -HUGE_VAL;
		c->max = HUGE_VAL;
		c->quick_min = c->quick_max = NAN;
	}
	return true;
}

static int on_item(void *ctx, const struct mb_toml_item *item)
{
	struct figure_reader *r = ctx;
	const char *dot = strrchr(item->name, '.');
	const bool element = item->kind == MB_TOML_ELEMENT;
	const size_t len = element ? strlen(item->name) : (dot ? (size_t)(dot - item->name) : 0);
	const struct ms_table *t = NULL;
	size_t key;

	for (size_t i = 0; i < MS_COUNT(tables); i++)
		if (strlen(tables[i].name) == len && memcmp(tables[i].name, item->name, len) == 0)
			t = &tables[i];
	if (!t)
		return !set_item_error(r, item, "unknown table; expected run, claim or chart");
	if (element)
		return !begin_element(r, t, item);
	key = ms_key_find(t->keys, t->n_keys, dot ? dot + 1 : item->name, r->f->name, item,
			  r->error);
	return key == t->n_keys ||
	       !ms_key_set(&t->keys[key], r->f->name, item,
			   (char *)r->f + t->offset + t->stride * item->element, r->error);
}

/* is_run says whether a name is that of a run, or of a member of a family. */
static bool is_run(const struct sim_figure *f, const char *name)
{
	const char *slash = strchr(name, '/');
	const size_t len = slash ? (size_t)(slash - name) : strlen(name);

	for (uint32_t i = 0; i < f->n_runs; i++)
		if (strlen(f->run[i].name) == len && memcmp(f->run[i].name, name, len) == 0 &&
		    (slash != NULL) == (f->run[i].vary[0] != '\0'))
			return true;
	return false;
}

static bool check_runs(const struct sim_figure *f, struct ms_file_error *error)
{
	for (uint32_t i = 0; i < f->n_runs; i++) {
		const struct sim_figure_run *r = &f->run[i];

		if (!r->name[0] || !r->scenario[0])
			return ms_file_set_error(error, f->name, r->line,
						 "run: expected a name and a scenario");
		if (!r->vary[0] != !r->values[0])
			return ms_file_set_error(error, f->name, r->line,
						 "run %s: expected both of vary and values",
						 r->name);
	}
	return f->n_runs > 0 ||
	       ms_file_set_error(error, f->name, 0, "expected at least one [[run]]");
}

static bool check_claims(const struct sim_figure *f, struct ms_file_error *error)
{
	for (uint32_t i = 0; i < f->n_claims; i++) {
		const struct sim_claim *c = &f->claim[i];

		if (!c->text[0] || !c->figure[0])
			return ms_file_set_error(error, f->name, c->line,
						 "claim: expected a text and a figure");
		if (!is_run(f, c->of) || (c->than[0] && !is_run(f, c->than)))
			return ms_file_set_error(error, f->name, c->line,
						 "claim: there is no run %s",
						 is_run(f, c->of) ? c->than : c->of);
		if (c->min > c->max || (c->to_ns && c->from_ns >= c->to_ns))
			return ms_file_set_error(error, f->name, c->line,
						 "claim: expected a min that is not above its max, "
						 "and a from before its to");
	}
	return true;
}

bool sim_figure_parse(struct sim_figure *f, const char *name, const char *text,
		      struct ms_file_error *error)
{
	struct figure_reader r = {.f = f, .error = error};
	const char *why;
	uint32_t line;

	memset(f, 0, sizeof(*f));
	snprintf(f->name, sizeof(f->name), "%s", name);
	if (mb_toml_read(text, on_item, &r, &line, &why) == 0)
		return check_runs(f, error) && check_claims(f, error);
	return why ? ms_file_set_error(error, name, line, "%s", why) : false;
}

bool sim_figure_read(struct sim_figure *f, const char *name, struct ms_file_error *error)
{
	const struct mb_named_text *known = mb_named_text_find(sim_figure_texts, name);
	char *text;
	bool ok;

	if (known)
		return sim_figure_parse(f, name, known->text, error);
	if (!strpbrk(name, "./"))
		return ms_file_set_error(error, name, 0,
					 "unknown figure; `mrc sim figure` lists those "
					 "there are");
	text = ms_file_load(name, error);
	if (!text)
		return false;
	ok = sim_figure_parse(f, name, text, error);
	free(text);
	return ok;
}
