/* SPDX-License-Identifier: BSD-2-Clause */
/* The fault script: see script.h. */
#include "demo/fault_script.h"

#include "base/suggest.h"

#include <stdarg.h>
#include <string.h>

/* Kinds of faults of a stage. */
#define KINDS_MAX 16u

/* How long a fault lasts and what lies between two, in time; then rounded to steps. */
#define DURING_NS UINT64_C(2400000000)
#define BETWEEN_NS UINT64_C(1500000000)
/* Medians need some steps even where a step is long. */
#define DURING_STEPS_MIN 4u
#define BETWEEN_STEPS_MIN 3u
/* Computing, waking up, and the way of the first slice around the ring. */
#define STEP_OVERHEAD_NS UINT64_C(15000000)

void demo_fault_set_title(struct demo_fault *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->title, sizeof(f->title), format, args);
	va_end(args);
}

void demo_fault_set_brief(struct demo_fault *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->brief, sizeof(f->brief), format, args);
	va_end(args);
}

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
					 size_t len, char *error, size_t error_size)
{
	const char *names[KINDS_MAX];
	char word[64];
	const char *near;

	for (size_t i = 0; i < kinds->n; i++) {
		names[i] = kinds->kind[i].name;
		if (strlen(kinds->kind[i].name) == len &&
		    memcmp(kinds->kind[i].name, name, len) == 0)
			return &kinds->kind[i];
	}
	snprintf(word, sizeof(word), "%.*s", (int)(len < 60 ? len : 60), name);
	near = mb_suggest_find(word, names, kinds->n);
	snprintf(error, error_size, "--script %s: no such fault%s%s%s; want some of", word,
		 near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	for (size_t i = 0; i < kinds->n; i++)
		snprintf(error + strlen(error), error_size - strlen(error), "%s %s", i ? "," : "",
			 kinds->kind[i].name);
	return NULL;
}

static int add_fault(struct demo_script *s, const struct demo_kind *kind,
		     const struct demo_shape *shape, char *error, size_t error_size)
{
	struct demo_fault *f = &s->fault[s->n];

	if (s->n == DEMO_FAULTS_MAX) {
		snprintf(error, error_size, "--script: want at most %u faults", DEMO_FAULTS_MAX);
		return -1;
	}
	if (shape->planes < kind->planes_min) {
		snprintf(error, error_size,
			 "--planes %u: the fault `%s` of --script wants at least %u, or no path "
			 "would be left",
			 shape->planes, kind->name, kind->planes_min);
		return -1;
	}
	if (shape->paths < kind->paths_min) {
		snprintf(error, error_size,
			 "--paths %u: the fault `%s` of --script wants at least %u", shape->paths,
			 kind->name, kind->paths_min);
		return -1;
	}
	if (kind->needs_trims && !shape->trims) {
		snprintf(error, error_size,
			 "--script %s: this fault wants switches that trim and mark, which these "
			 "do not",
			 kind->name);
		return -1;
	}
	*f = (struct demo_fault){.kind = kind->name};
	kind->describe(f, shape);
	s->n++;
	return 0;
}

static int add_all(struct demo_script *s, const struct demo_kinds *kinds, const char *names,
		   const struct demo_shape *shape, char *error, size_t error_size)
{
	for (size_t i = 0; !names && i < kinds->n; i++)
		if (shape->planes >= kinds->kind[i].planes_min &&
		    shape->paths >= kinds->kind[i].paths_min &&
		    (shape->trims || !kinds->kind[i].needs_trims) &&
		    add_fault(s, &kinds->kind[i], shape, error, error_size))
			return -1;
	if (!names)
		return 0;
	do {
		size_t len = strcspn(names, ",");
		const struct demo_kind *kind = find_kind(kinds, names, len, error, error_size);

		if (!kind || add_fault(s, kind, shape, error, error_size))
			return -1;
		names += len;
	} while (*names++ == ',');
	return 0;
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
		     const struct demo_shape *shape, uint32_t steps, char *error, size_t error_size)
{
	uint64_t step_ns = demo_script_step_ns(shape) + STEP_OVERHEAD_NS;
	uint32_t during = steps_for(DURING_NS, step_ns, DURING_STEPS_MIN);
	uint32_t between = steps_for(BETWEEN_NS, step_ns, BETWEEN_STEPS_MIN);

	*s = (struct demo_script){0};
	if (shape->planes * shape->paths < 2) {
		snprintf(
			error, error_size,
			"--planes %u --paths %u: want at least two paths in all, or no fault could "
			"be survived",
			shape->planes, shape->paths);
		return -1;
	}
	if (add_all(s, kinds, names, shape, error, error_size))
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
	if (s->steps > steps) {
		snprintf(error, error_size, "--steps %u: want at least %u for %u faults", steps,
			 s->steps, s->n);
		return -1;
	}
	s->steps = steps;
	return 0;
}
