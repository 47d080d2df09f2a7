/* SPDX-License-Identifier: BSD-2-Clause */
/* The fault script: see script.h. */
#include "cli/demo/script.h"

#include "base/near.h"
#include "cli/demo/loopback.h"

#include <stdarg.h>
#include <string.h>

#define ONE_PERCENT_PPM 10000u
#define FLAP_DOWN_MS 250u
#define FLAP_UP_MS 300u

/* How long a fault lasts and what lies between two, in time; then rounded to steps. */
#define DURING_NS UINT64_C(2400000000)
#define BETWEEN_NS UINT64_C(1500000000)
/* Medians need some steps even where a step is long. */
#define DURING_STEPS_MIN 4u
#define BETWEEN_STEPS_MIN 3u
/* Computing, waking up, and the way of the first slice around the ring. */
#define STEP_OVERHEAD_NS UINT64_C(15000000)

struct kind {
	const char *name;
	const char *help;
	/* What the fault needs, so that the job can go on and a path can be retired. */
	uint32_t planes_min, paths_min;
	void (*describe)(struct demo_fault *f, const struct demo_shape *shape);
};

static uint64_t paths_from(uint32_t first, const struct demo_shape *shape)
{
	return ((UINT64_C(1) << shape->paths) - 1) & ~((UINT64_C(1) << first) - 1);
}

__attribute__((format(printf, 2, 3))) static void set_title(struct demo_fault *f,
							    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->title, sizeof(f->title), format, args);
	va_end(args);
}

__attribute__((format(printf, 2, 3))) static void set_brief(struct demo_fault *f,
							    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->brief, sizeof(f->brief), format, args);
	va_end(args);
}

static void set_rule(struct demo_fault *f, uint32_t kind, uint32_t ppm, uint32_t plane_mask)
{
	f->rule = (struct mrc_fault_rule){
		.kind = kind,
		.port_mask = plane_mask,
		.direction = MRC_FAULT_ANY,
		.chance_ppm = ppm,
	};
}

static void set_paths(struct demo_fault *f, const struct demo_shape *shape, uint64_t mask)
{
	f->rule.path_modulus = shape->paths;
	f->rule.path_mask = mask;
}

static void set_slower(struct demo_fault *f, uint32_t num, uint32_t den)
{
	f->slower_num = num;
	f->slower_den = den;
}

/* Of two T1 switches of a plane, the one that carries the upper half of the paths. */
static void describe_t1(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t first = shape->paths / 2;

	set_rule(f, MRC_FAULT_DROP, DEMO_CERTAIN_PPM, 1u << 0);
	set_paths(f, shape, paths_from(first, shape));
	set_title(f, "a T1 switch of plane 0 forwards nothing (paths %u-%u)", first,
		  shape->paths - 1);
	set_brief(f, "T1 dead, plane 0");
	set_slower(f, 1, 1);
}

static void describe_plane(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t plane = 1 % shape->planes;

	set_rule(f, MRC_FAULT_DROP, DEMO_CERTAIN_PPM, 1u << plane);
	set_title(f, "plane %u lost, for everybody", plane);
	set_brief(f, "plane %u lost", plane);
	set_slower(f, shape->planes, shape->planes - 1);
}

static void describe_loss(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t plane = 2 % shape->planes;

	set_rule(f, MRC_FAULT_DROP, ONE_PERCENT_PPM, 1u << plane);
	set_title(f, "1 %% of all packets lost on plane %u", plane);
	set_brief(f, "1 %% loss, plane %u", plane);
}

static void describe_flap(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t plane = 3 % shape->planes;
	uint32_t path = 3 % shape->paths;

	set_rule(f, MRC_FAULT_DROP, DEMO_CERTAIN_PPM, 1u << plane);
	set_paths(f, shape, UINT64_C(1) << path);
	f->flap_down_ms = FLAP_DOWN_MS;
	f->flap_up_ms = FLAP_UP_MS;
	set_title(f, "path %u of plane %u flaps: %u ms down, %u ms up", path, plane, FLAP_DOWN_MS,
		  FLAP_UP_MS);
	set_brief(f, "path %u.%u flaps", plane, path);
	/* The plane keeps its rate only when another path carries the share of this one. */
	if (shape->paths > 1)
		set_slower(f, 1, 1);
}

static void set_host(struct demo_fault *f, uint32_t rank)
{
	f->rule.direction = MRC_FAULT_BOTH;
	demo_loopback_gid(f->rule.host, rank);
}

static void describe_port(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t rank = shape->ranks / 2;

	set_rule(f, MRC_FAULT_DROP, DEMO_CERTAIN_PPM, 1u << 0);
	set_host(f, rank);
	set_title(f, "NIC port 0 of host %u dead, both ways", rank);
	set_brief(f, "NIC port %u.0 dead", rank);
	set_slower(f, shape->planes, shape->planes - 1);
}

static void describe_corrupt(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t plane = 3 % shape->planes;

	set_rule(f, MRC_FAULT_CORRUPT, ONE_PERCENT_PPM, 1u << plane);
	set_title(f, "a bit flipped in 1 %% of all packets on plane %u", plane);
	set_brief(f, "1 %% bits, plane %u", plane);
}

static void describe_ports(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t rank = 1;

	set_rule(f, MRC_FAULT_DROP, DEMO_CERTAIN_PPM, 1u << 1 | 1u << 2);
	set_host(f, rank);
	set_title(f, "NIC ports 1 and 2 of host %u dead, both ways", rank);
	set_brief(f, "ports %u.1+2 dead", rank);
	set_slower(f, shape->planes, shape->planes - 2);
}

static const struct kind kinds[] = {
	{"t1", "a switch in the middle of a plane silently forwards nothing", 1, 2, describe_t1},
	{"plane", "a whole plane is lost and comes back", 2, 1, describe_plane},
	{"loss", "1 % random loss on a plane", 1, 1, describe_loss},
	{"flap", "one path of a plane goes down and up all the time", 1, 1, describe_flap},
	{"port", "one NIC port of one host is dead, both ways", 2, 1, describe_port},
	{"corrupt", "a bit is flipped in 1 % of the packets of a plane", 1, 1, describe_corrupt},
	{"ports", "two NIC ports of one host are dead, both ways", 3, 1, describe_ports},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

void demo_script_print_kinds(FILE *to)
{
	for (size_t i = 0; i < KINDS; i++)
		fprintf(to, "  %-10s %s\n", kinds[i].name, kinds[i].help);
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
static const struct kind *find_kind(const char *name, size_t len, char *error, size_t error_size)
{
	const char *names[KINDS];
	char word[64];
	const char *near;

	for (size_t i = 0; i < KINDS; i++) {
		names[i] = kinds[i].name;
		if (strlen(kinds[i].name) == len && memcmp(kinds[i].name, name, len) == 0)
			return &kinds[i];
	}
	snprintf(word, sizeof(word), "%.*s", (int)(len < 60 ? len : 60), name);
	near = mb_near_find(word, names, KINDS);
	snprintf(error, error_size, "--script %s: no such fault%s%s%s; want some of", word,
		 near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	for (size_t i = 0; i < KINDS; i++)
		snprintf(error + strlen(error), error_size - strlen(error), "%s %s", i ? "," : "",
			 kinds[i].name);
	return NULL;
}

static int add_fault(struct demo_script *s, const struct kind *kind, const struct demo_shape *shape,
		     char *error, size_t error_size)
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
	*f = (struct demo_fault){.kind = kind->name};
	kind->describe(f, shape);
	s->n++;
	return 0;
}

static int add_all(struct demo_script *s, const char *names, const struct demo_shape *shape,
		   char *error, size_t error_size)
{
	for (size_t i = 0; !names && i < KINDS; i++)
		if (shape->planes >= kinds[i].planes_min && shape->paths >= kinds[i].paths_min &&
		    add_fault(s, &kinds[i], shape, error, error_size))
			return -1;
	if (!names)
		return 0;
	do {
		size_t len = strcspn(names, ",");
		const struct kind *kind = find_kind(names, len, error, error_size);

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

int demo_script_make(struct demo_script *s, const char *names, const struct demo_shape *shape,
		     uint32_t steps, char *error, size_t error_size)
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
	if (add_all(s, names, shape, error, error_size))
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
