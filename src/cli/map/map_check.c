/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc map check - probes a lab for some time and names what is sick. `mrc map` is the table of its
 * verbs.
 */
#include "cli/cli_verbs.h"
#include "cli/lab/lab_verbs.h"
#include "cli/map/map_verbs.h"
#include "ui/terminal.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_HEALTHY = 0, EXIT_SICK = 1, EXIT_USAGE = 2 };

#define MS_NS UINT64_C(1000000)
#define S_NS (1000 * MS_NS)
#define PROGRESS_STEPS 10u
/* Rounds of probes that say something; a large lab takes more than a second for them. */
#define ROUNDS_LEAST 40u

struct check {
	bool json;
	uint64_t for_ns, rate_bit_s;
	struct ml_lab *lab;
	struct stat host0; /* of its namespace */
	struct map_result result;
};

static int refuse(const struct ml_error *e)
{
	fprintf(stderr, "%s: %s\n", map_check_verb.name, e->text);
	return EXIT_USAGE;
}

/* The namespace of host 0, by which a lab is told from one of the same name. 0, or -1. */
static int find_host0(const struct ml_lab *lab, struct stat *st)
{
	struct ml_error e;
	int fd = ml_lab_netns(lab, 0, &e), failed;

	if (fd < 0)
		return -1;
	failed = fstat(fd, st);
	close(fd);
	return failed;
}

static bool is_gone(const struct check *c)
{
	struct stat st;

	return find_host0(c->lab, &st) || st.st_dev != c->host0.st_dev ||
	       st.st_ino != c->host0.st_ino;
}

static void show_progress(const struct check *c, uint64_t now_ns, bool tell)
{
	if (tell)
		fprintf(stderr, "\r\033[Kprobing %u routes of %u hosts, %.1f of %.1f s, %zu sick",
			c->result.figures.routes, c->result.figures.hosts,
			(double)(now_ns - c->result.start_ns) / S_NS, (double)c->for_ns / S_NS,
			c->result.n);
}

/* Probes and judges until the time is over or the user wants to go. */
static void probe(struct check *c, struct prober *p)
{
	struct map_result *r = &c->result;
	struct mm_sick sick[MAP_SICK_MAX];
	bool tell = isatty(STDERR_FILENO);
	uint64_t now = ui_clock_ns(), due = now;

	r->start_ns = r->now_ns = now;
	for (uint64_t step = 0; now - r->start_ns < c->for_ns && !ui_term_caught(); step++) {
		prober_step(p, now);
		map_result_take(r, sick, mm_map_judge(prober_map(p), now, sick, MAP_SICK_MAX), now);
		if (step % PROGRESS_STEPS == 0)
			show_progress(c, now, tell);
		/* What was missed is not made up for: a burst would be lost. */
		due = due + PROBE_STEP_NS > now ? due + PROBE_STEP_NS : now;
		now = ui_clock_ns();
		if (due > now)
			lab_sleep(due - now);
		now = ui_clock_ns();
	}
	prober_figures(p, &r->figures);
	r->silent = mm_map_silent(prober_map(p), r->now_ns);
	if (tell)
		fprintf(stderr, "\r\033[K");
}

static int print_result(const struct check *c)
{
	struct ui_text text = {0};

	if (c->json) {
		ui_json_print(map_result_json(&c->result), JSON_INDENT(2));
	} else {
		map_result_show(&c->result, &text);
		ui_text_print(&text, stdout);
	}
	return map_result_healthy(&c->result) ? EXIT_HEALTHY : EXIT_SICK;
}

static int check_lab(struct check *c)
{
	struct ml_error e;
	struct prober *p = prober_open(c->lab, c->rate_bit_s, &e);
	int status = EXIT_USAGE;

	if (!p)
		return refuse(&e);
	c->result.lab = ml_lab_name(c->lab);
	c->result.t = ml_lab_topology(c->lab);
	prober_figures(p, &c->result.figures);
	if (!c->for_ns) {
		c->for_ns = ROUNDS_LEAST * c->result.figures.interval_ns;
		c->for_ns = c->for_ns > S_NS ? c->for_ns : S_NS;
	}
	probe(c, p);
	if (is_gone(c))
		fprintf(stderr, "%s: lab %s went down meanwhile\n", map_check_verb.name,
			c->result.lab);
	else if (ui_term_caught())
		fprintf(stderr, "%s: interrupted\n", map_check_verb.name);
	else
		status = print_result(c);
	prober_close(p);
	return status;
}

static const struct ui_flag flags[] = {
	{"--for", UI_FLAG_TIME, "TIME", "how long (1s, or 40 rounds of probes)",
	 offsetof(struct check, for_ns), 200 * MS_NS, 86400 * S_NS},
	{"--rate", UI_FLAG_RATE, "RATE", "what each host may send, in bits a second (10M)",
	 offsetof(struct check, rate_bit_s), PROBE_RATE_MIN, PROBE_RATE_MAX},
	UI_SWITCH("--json", check, json, "the result as JSON"),
};

static int map_check_main(int argc, char **argv)
{
	static struct check c;
	struct lab_names names;
	const char *word = NULL;
	size_t words;
	int status;

	c = (struct check){.rate_bit_s = PROBE_RATE_USUAL};
	status = ui_verb_parse(&map_check_verb, &c, argc, argv, &word, 1, &words);
	if (status != UI_FLAGS_OK)
		return status;
	word = lab_find_name(&map_check_verb, words ? word : NULL, &names);
	c.lab = word ? lab_open(&map_check_verb, word) : NULL;
	if (!c.lab)
		return EXIT_USAGE;
	ui_term_catch();
	ui_raise_files(); /* two for each host */
	status = find_host0(c.lab, &c.host0) ? EXIT_USAGE : check_lab(&c);
	ml_lab_close(c.lab);
	return status;
}

const struct ui_verb map_check_verb = {
	.name = "mrc map check",
	.summary = "is a lab fit for a job? Names what is sick",
	.usage = "[LAB] [FLAG...]",
	.about = "Every host of a lab sends probes through the switches around it and back to "
		 "itself; what is missing, damaged, doubled or out of order tells which cable, "
		 "switch, transceiver, host or plane is sick. A line for each: its name, what is "
		 "wrong, in which direction, since when, how many hosts saw it, what to touch.",
	.examples = "mrc map check lab\n"
		    "mrc map check lab --for 10s --json   small losses take longer",
	.exits = "0 healthy, 1 sick, 2 wrong usage, no lab, or it went down meanwhile",
	.operands = "LAB",
	.choices = (const struct ui_choices *const[]){&lab_choices, NULL},
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = map_check_main,
};

static const struct ui_verb *const verbs[] = {&map_check_verb, NULL};

const struct ui_verb cli_map_verb = {
	.name = "mrc map",
	.summary = "which part of a fabric is sick",
	.usage = "VERB [FLAG...]",
	.about = "Hosts probe the links around them and one map says what to repair; switches are "
		 "not asked.",
	.examples = "mrc map check lab",
	.verbs = verbs,
};
