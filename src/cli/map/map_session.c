/* SPDX-License-Identifier: BSD-2-Clause */
/* map_session.c - see map_session.h. */
#include "cli/map/map_session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/lab/lab_verbs.h"
#include "ui/terminal.h"

#define S_NS UINT64_C(1000000000)
/* Rounds of probes that say something; a large lab takes more than a second for them. */
#define ROUNDS_LEAST 40u
/*
 * A machine that is too busy to send each round in time takes longer for as many of them: up to so
 * many times what was asked for.
 */
#define LATE_MAX 10u
/* Steps after which a lab is looked for that is gone. */
#define LOOK_STEPS 100u

static int refuse(const struct map_session *s, const struct ml_error *e)
{
	fprintf(stderr, "%s: %s\n", s->verb->name, e->text);
	return MAP_USAGE;
}

/* 0, or -1 and a sentence. */
static int find_host0(const struct ml_lab *lab, struct stat *st, struct ml_error *e)
{
	int fd = ml_lab_netns(lab, 0, e), failed;

	if (fd < 0)
		return -1;
	failed = fstat(fd, st);
	if (failed)
		ml_error_set(e, "the namespace of host0: %s", strerror(errno));
	close(fd);
	return failed;
}

static bool is_gone(const struct map_session *s)
{
	struct ml_error e;
	struct stat st;

	return find_host0(s->lab, &st, &e) || st.st_dev != s->host0.st_dev ||
	       st.st_ino != s->host0.st_ino;
}

int map_session_open(struct map_session *s, const struct ui_verb *verb, const char *name)
{
	struct lab_names names;
	struct ml_error e;

	s->verb = verb;
	name = lab_find_name(verb, name, &names);
	s->lab = name ? lab_open(verb, name) : NULL;
	if (!s->lab)
		return MAP_USAGE;
	if (find_host0(s->lab, &s->host0, &e))
		return refuse(s, &e);
	ui_term_catch();
	ui_raise_files(); /* two for each host */
	s->prober = prober_open(s->lab, s->rate_bit_s ? s->rate_bit_s : PROBE_RATE_USUAL, &e);
	if (!s->prober)
		return refuse(s, &e);
	s->result.lab = ml_lab_name(s->lab);
	s->result.t = ml_lab_topology(s->lab);
	prober_figures(s->prober, &s->result.figures);
	if (!s->for_ns) {
		s->for_ns = ROUNDS_LEAST * s->result.figures.interval_ns;
		s->for_ns = s->for_ns > S_NS ? s->for_ns : S_NS;
	}
	return MAP_HEALTHY;
}

void map_session_close(struct map_session *s)
{
	prober_close(s->prober);
	ml_lab_close(s->lab);
}

int map_session_refuse_interrupted(const struct map_session *s)
{
	if (!ui_term_caught())
		return MAP_HEALTHY;
	fprintf(stderr, "%s: interrupted\n", s->verb->name);
	return MAP_USAGE;
}

static void judge(struct map_session *s, uint64_t now)
{
	struct mm_sick sick[MAP_SICK_MAX];
	struct mm_map *map = prober_map(s->prober);

	prober_receive(s->prober, now);
	map_result_take(&s->result, sick, mm_map_judge(map, now, sick, MAP_SICK_MAX), now);
	/* At first nobody has been heard of. */
	s->result.silent = now - s->result.start_ns < S_NS / 2 ? 0 : mm_map_silent(map, now);
}

/* Whether it has looked long enough, after so many steps. */
static bool is_over(const struct map_session *s, uint64_t passed_ns, uint64_t steps)
{
	if (passed_ns < s->for_ns)
		return false;
	return s->by_clock || steps >= s->for_ns / PROBE_STEP_NS ||
	       passed_ns >= LATE_MAX * s->for_ns;
}

int map_session_run(struct map_session *s, bool (*each)(struct map_session *s))
{
	struct map_result *r = &s->result;
	uint64_t now = ui_clock_ns(), due = now;
	uint64_t steps = 0;
	bool gone = false;

	r->start_ns = r->now_ns = now;
	while (!gone && !is_over(s, now - r->start_ns, steps)) {
		judge(s, now);
		if (each(s) || ui_term_caught())
			break;
		prober_send(s->prober);
		gone = ++steps % LOOK_STEPS == 0 && is_gone(s);
		/* What was missed is not made up for: a burst would be lost. */
		due = due + PROBE_STEP_NS > now ? due + PROBE_STEP_NS : now;
		now = ui_clock_ns();
		if (due > now)
			lab_sleep(due - now);
		now = ui_clock_ns();
	}
	prober_figures(s->prober, &r->figures);
	r->silent = mm_map_silent(prober_map(s->prober), r->now_ns);
	if (!gone && !is_gone(s))
		return MAP_HEALTHY;
	fprintf(stderr, "%s: lab %s went down meanwhile\n", s->verb->name, r->lab);
	return MAP_USAGE;
}
