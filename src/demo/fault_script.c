/* SPDX-License-Identifier: BSD-2-Clause */
/* The fault script: see demo.h. */
#include "demo/demo.h"

#include "base/assert.h"
#include "base/quantity.h"
#include "base/suggest.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* How long a fault lasts and what lies between two, in time; then rounded to steps. */
#define DURING_NS UINT64_C(2400000000)
#define BETWEEN_NS UINT64_C(1500000000)
/* Medians need some steps even where a step is long. */
#define DURING_STEPS_MIN 4u
#define BETWEEN_STEPS_MIN 3u
/* Computing, waking up, and the way of the first slice around the ring. */
#define STEP_OVERHEAD_NS UINT64_C(15000000)

/* ---- hosts of the lab ---- */

uint32_t demo_hosts_per_t0(const struct demo_shape *shape)
{
	return (shape->ranks + DEMO_T0S - 1) / DEMO_T0S + 1;
}

uint32_t demo_lab_host(const struct demo_shape *shape, uint32_t rank)
{
	return rank % DEMO_T0S * demo_hosts_per_t0(shape) + rank / DEMO_T0S;
}

uint32_t demo_lab_spare_host(const struct demo_shape *shape)
{
	return DEMO_T0S * demo_hosts_per_t0(shape) - 1;
}

uint32_t demo_lab_incast(const struct demo_shape *shape)
{
	return shape->ranks - 1 < DEMO_INCAST_MAX ? shape->ranks - 1 : DEMO_INCAST_MAX;
}

/* ---- texts ---- */

/* The number that a word in braces is; in the lab hosts have other numbers than their ranks. */
static void write_word(const char *word, size_t len, const struct demo_shape *shape, bool lab,
		       char *out, size_t size)
{
	uint32_t middle = shape->ranks / 2;
	const struct {
		const char *word;
		uint32_t number;
	} words[] = {
		{"plane 1", 1 % shape->planes},
		{"plane 2", 2 % shape->planes},
		{"plane 3", 3 % shape->planes},
		{"last plane", shape->planes - 1},
		{"path 3", 3 % shape->paths},
		{"middle path", shape->paths / 2},
		{"last path", shape->paths - 1},
		{"host 1", lab ? demo_lab_host(shape, 1) : 1},
		{"middle host", lab ? demo_lab_host(shape, middle) : middle},
		{"spare host", demo_lab_spare_host(shape)},
		{"writers", demo_lab_incast(shape)},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].word) == len && memcmp(words[i].word, word, len) == 0) {
			snprintf(out, size, "%u", words[i].number);
			return;
		}
	mb_assert(len == strlen("incast rate") && memcmp(word, "incast rate", len) == 0);
	mb_quantity_write_rate(out, DEMO_INCAST_LINK * shape->pace_bps);
}

/* Writes a text of a kind with numbers for its words in braces. */
static void expand_text(const char *text, const struct demo_shape *shape, bool lab, char *out,
			size_t size)
{
	size_t len = 0;

	for (; *text && len + 1 < size; text++) {
		char number[MB_QUANTITY_MAX] = {*text};

		if (*text == '{') {
			size_t word = strcspn(text + 1, "}");

			write_word(text + 1, word, shape, lab, number, sizeof(number));
			text += word + 1;
		}
		len += (size_t)snprintf(out + len, size - len, "%s", number);
	}
}

/* "host1.e0..2" is host1.e0, host1.e1 and host1.e2. */
static void add_targets(struct demo_fault *f, const char *text)
{
	const char *range = strstr(text, "..");
	int stem = (int)strlen(text);
	unsigned long first = 0, last = 0;

	if (range) {
		last = strtoul(range + 2, NULL, 10);
		for (stem = (int)(range - text); stem && isdigit((uint8_t)text[stem - 1]); stem--)
			;
		first = strtoul(text + stem, NULL, 10);
	}
	for (unsigned long i = first; i <= last && f->targets < DEMO_TARGETS_MAX; i++) {
		char number[24] = "";

		if (range)
			snprintf(number, sizeof(number), "%lu", i);
		snprintf(f->target[f->targets++], MF_LINK_NAME_BYTES, "%.*s%s", stem, text, number);
	}
}

static void set_slower(struct demo_fault *f, const struct demo_kind *kind,
		       const struct demo_shape *shape)
{
	bool known = kind->left == DEMO_LEFT_ALL ||
		     (kind->left == DEMO_LEFT_OTHER_PATHS && shape->paths > 1);

	if (kind->left == DEMO_LEFT_PLANES) {
		f->slower_num = shape->planes;
		f->slower_den = shape->planes - kind->planes_lost;
	} else if (known) {
		f->slower_num = f->slower_den = 1;
	}
}

static void describe_fault(struct demo_fault *f, const struct demo_kind *kind,
			   const struct demo_shape *shape, bool lab)
{
	char target[2 * MF_LINK_NAME_BYTES];

	*f = (struct demo_fault){
		.kind = kind->name,
		.incast = kind->incast,
		.certain = kind->certain,
		.signs = kind->signs,
		.flap_down_ns = kind->flap_down_ns,
		.flap_up_ns = kind->flap_up_ns,
	};
	expand_text(kind->title, shape, lab, f->title, sizeof(f->title));
	expand_text(kind->brief, shape, lab, f->brief, sizeof(f->brief));
	expand_text(kind->fault, shape, lab, f->fault, sizeof(f->fault));
	expand_text(kind->target, shape, lab, target, sizeof(target));
	add_targets(f, target);
	set_slower(f, kind, shape);
}

/* ---- the script ---- */

/*
 * In a ring all-reduce each host sends 2 (N-1) / N of the vector, spread over all its ports.
 */
uint64_t demo_script_step_ns(const struct demo_shape *shape)
{
	uint64_t bytes = shape->vector_bytes * 2 * (shape->ranks - 1) / shape->ranks;
	uint64_t bps = shape->pace_bps * shape->planes;

	return (uint64_t)((double)bytes * 8e9 / (double)bps);
}

static uint32_t steps_for(uint64_t duration_ns, uint64_t step_ns, uint32_t min)
{
	uint64_t n = (duration_ns + step_ns / 2) / step_ns;

	return n < min ? min : (uint32_t)n;
}

/* NULL with a message: no fault has this name. */
static const struct demo_kind *find_kind(const struct demo_kinds *kinds, const char *name,
					 size_t len, struct ml_error *e)
{
	const char *names[DEMO_KINDS_MAX], *near;
	char word[64], all[300] = "";

	for (size_t i = 0; i < kinds->n; i++) {
		names[i] = kinds->kind[i].name;
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return &kinds->kind[i];
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s %s", i ? "," : "",
			 names[i]);
	}
	snprintf(word, sizeof(word), "%.*s", (int)(len < 60 ? len : 60), name);
	near = mb_suggest_find(word, names, kinds->n);
	ml_error_set(e, "--script %s: no such fault%s%s%s; want some of%s", word,
		     near ? "; did you mean " : "", near ? near : "", near ? "?" : "", all);
	return NULL;
}

static int check_needs(const struct demo_kind *kind, const struct demo_shape *shape,
		       struct ml_error *e)
{
	if (shape->planes < kind->planes_min)
		return ml_error_set(e,
				    "--planes %u: the fault `%s` of --script wants at least %u, or "
				    "no path would be left",
				    shape->planes, kind->name, kind->planes_min);
	if (shape->paths < kind->paths_min)
		return ml_error_set(e, "--paths %u: the fault `%s` of --script wants at least %u",
				    shape->paths, kind->name, kind->paths_min);
	if (kind->needs_trims && !shape->trims)
		return ml_error_set(e,
				    "--script %s: this fault wants switches that trim and mark, "
				    "which these do not",
				    kind->name);
	return 0;
}

static int add_named(struct demo_script *s, const struct demo_kinds *kinds, const char *names,
		     const struct demo_shape *shape, struct ml_error *e)
{
	do {
		size_t len = strcspn(names, ",");
		const struct demo_kind *kind = find_kind(kinds, names, len, e);

		if (!kind)
			return -1;
		if (s->n == DEMO_FAULTS_MAX)
			return ml_error_set(e, "--script: want at most %u faults", DEMO_FAULTS_MAX);
		if (check_needs(kind, shape, e))
			return -1;
		describe_fault(&s->fault[s->n++], kind, shape, kinds == demo_kinds(true));
		names += len;
	} while (*names++ == ',');
	return 0;
}

/* All faults that the shape leaves possible. */
static void add_all(struct demo_script *s, const struct demo_kinds *kinds,
		    const struct demo_shape *shape)
{
	struct ml_error ignored;

	for (size_t i = 0; i < kinds->n; i++)
		if (check_needs(&kinds->kind[i], shape, &ignored) == 0)
			describe_fault(&s->fault[s->n++], &kinds->kind[i], shape,
				       kinds == demo_kinds(true));
}

/* The first step begins cold, so there is one more in front. */
static uint32_t set_times(struct demo_script *s, uint32_t during, uint32_t between)
{
	uint32_t step = 1;

	for (uint32_t i = 0; i < s->n; i++) {
		step += between;
		s->fault[i].strike_step = step;
		step += during;
		s->fault[i].clear_step = step;
	}
	return step + between;
}

int demo_script_make(struct demo_script *s, const struct demo_kinds *kinds, const char *names,
		     const struct demo_shape *shape, uint32_t steps, struct ml_error *e)
{
	uint64_t step_ns = demo_script_step_ns(shape) + STEP_OVERHEAD_NS;
	uint32_t during = steps_for(DURING_NS, step_ns, DURING_STEPS_MIN);
	uint32_t between = steps_for(BETWEEN_NS, step_ns, BETWEEN_STEPS_MIN);

	*s = (struct demo_script){0};
	if (shape->planes * shape->paths < 2)
		return ml_error_set(e,
				    "--planes %u --paths %u: want at least two paths in all, or no "
				    "fault could be survived",
				    shape->planes, shape->paths);
	if (!names)
		add_all(s, kinds, shape);
	else if (add_named(s, kinds, names, shape, e))
		return -1;
	s->steps = set_times(s, during, between);
	if (!steps)
		return 0;
	/* A number that was asked for: shorten or stretch. */
	while (s->steps > steps && (during > DURING_STEPS_MIN || between > BETWEEN_STEPS_MIN)) {
		during -= during > DURING_STEPS_MIN;
		between -= between > BETWEEN_STEPS_MIN;
		s->steps = set_times(s, during, between);
	}
	if (s->steps > steps)
		return ml_error_set(e, "--steps %u: want at least %u for %u faults", steps,
				    s->steps, s->n);
	s->steps = steps;
	return 0;
}
