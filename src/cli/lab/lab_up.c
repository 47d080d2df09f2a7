/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc lab up - builds a lab, and describes it. */
#include "base/quantity.h"
#include "cli/lab/lab_verbs.h"
#include "lab/lab.h"
#include "study/study_verbs.h"
#include "ui/terminal.h"
#include "ui/text.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct up {
	const char *topology, *name;
	uint64_t pace_bps;
	uint32_t mtu;
	bool rootless, no_programs, json;
};

/* One line on a terminal that is written over; Ctrl-C stops. */
static int on_progress(void *context, const char *what, size_t done, size_t of)
{
	(void)context;
	if (isatty(STDERR_FILENO)) {
		fprintf(stderr, "\r\033[K%zu/%zu %s", done, of, what);
		if (done + 1 == of)
			fprintf(stderr, "\r\033[K");
	}
	return ui_term_caught();
}

static void say_shape(const struct ml_lab *lab)
{
	char rate[MB_QUANTITY_MAX], pace[MB_QUANTITY_MAX];
	const char *why;
	bool programs = ml_lab_programs(lab, &why);

	if (!ml_lab_rate_scale(lab))
		printf("links have no rate, so there are no queues, trims or marks\n");
	else
		printf("links to hosts carry %s, for hosts that send %s on each plane\n",
		       mb_quantity_write_rate(rate, 2 * ml_lab_rate_scale(lab)),
		       mb_quantity_write_rate(pace, ml_lab_rate_scale(lab)));
	if (!programs)
		printf("without switch programs, so no trimming, no ECN, no corruption, duplicates "
		       "or reordering: %s\n",
		       why);
	else if (ml_lab_rate_scale(lab))
		printf("switches trim and mark\n");
}

static void print_summary(const struct ml_lab *lab, bool rootless, uint64_t ns)
{
	const struct mf_topology *t = ml_lab_topology(lab);
	char time[UI_UNITS_MAX];

	printf("lab %s is up: %u hosts, %u planes of %u T0 and %u T1", ml_lab_name(lab), t->n_hosts,
	       t->cfg.planes, t->n_t0s, t->n_t1s);
	if (t->n_t2s)
		printf(" and %u T2", t->n_t2s);
	printf("; %u namespaces, %u cables in %s%s\n", t->n_nodes, t->n_links / 2,
	       ui_units_time(time, ns), rootless ? ", in a user namespace of yours" : "");
	say_shape(lab);
	printf("  mrc lab shell %s host0    mrc lab status %s    mrc lab down %s\n",
	       ml_lab_name(lab), ml_lab_name(lab), ml_lab_name(lab));
}

static void say_json(const struct ml_lab *lab, bool rootless, uint64_t ns)
{
	const struct mf_topology *t = ml_lab_topology(lab);
	const char *why;
	bool programs = ml_lab_programs(lab, &why);
	json_t *json =
		json_pack("{ss ss si si sI sb sb ss sf}", "lab", ml_lab_name(lab), "topology",
			  ml_lab_topology_name(lab), "namespaces", (int)t->n_nodes, "cables",
			  (int)(t->n_links / 2), "pace_bps", (json_int_t)ml_lab_rate_scale(lab),
			  "rootless", rootless, "programs", programs, "no_programs_because",
			  programs ? "" : why, "seconds", (double)ns / 1e9);

	json_dumpf(json, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(json);
}

static int bring_lab_up(const struct up *u)
{
	bool rootless = u->rootless || ml_needs_ns_holder();
	struct ml_options options = {.name = u->name,
				     .topology = u->topology,
				     .pace_bps = u->pace_bps,
				     .mtu = u->mtu,
				     .no_programs = u->no_programs,
				     .progress = on_progress};
	uint64_t begin = ui_clock_ns();
	struct ml_error e;
	struct ml_lab *lab = NULL;

	ui_term_catch();
	if (!rootless)
		lab = ml_lab_up(&options, &e);
	if (rootless ? ml_ns_holder_start(&options, &e) != 0 : !lab)
		lab_fail(&lab_up_verb, &e);
	else if (rootless)
		lab = lab_open(&lab_up_verb, u->name);
	if (!lab)
		return LAB_FAILED;
	if (u->json)
		say_json(lab, rootless, ui_clock_ns() - begin);
	else
		print_summary(lab, rootless, ui_clock_ns() - begin);
	ml_lab_close(lab);
	return LAB_GOOD;
}

static const struct ui_flag flags[] = {
	UI_TEXT("--name", up, name, "NAME", "what the lab is called (lab)"),
	{"--pace", UI_FLAG_RATE, "RATE",
	 "what hosts send on each plane; links carry twice that (half of what the "
	 "topology's links carry); 0: no shaping",
	 offsetof(struct up, pace_bps), 0, ML_PACE_MAX_BPS},
	{"--mtu", UI_FLAG_U32, "BYTES", "longest IPv6 packet on a link (4400)",
	 offsetof(struct up, mtu), MF_MTU_MIN, MF_MTU_MAX},
	UI_SWITCH("--no-programs", up, no_programs,
		  "no BPF programs on switches: no trims, no marks"),
	UI_SWITCH("--rootless", up, rootless, "in a user namespace, as for users without rights"),
	UI_SWITCH("--json", up, json, "the description as JSON"),
};

static int lab_up_main(int argc, char **argv)
{
	struct up u = {.topology = "lab", .name = "lab", .pace_bps = ML_PACE_OF_TOPOLOGY};
	size_t words;
	int status;

	status = ui_verb_parse(&lab_up_verb, &u, argc, argv, &u.topology, 1, &words);
	if (status != UI_FLAGS_OK)
		return status;
	return bring_lab_up(&u);
}

const struct ui_verb lab_up_verb = {
	.name = "mrc lab up",
	.summary = "build a fabric: hosts, switches, cables, routes",
	.usage = "[TOPOLOGY] [FLAG...]",
	.about = "Builds a fabric out of network namespaces: hosts, T0s and T1s of every plane, "
		 "cables, static routes, queues that trim and mark.",
	.examples = "mrc lab up                        lab: 8 hosts, 4 planes\n"
		    "mrc lab up lab8 --name big        32 hosts, 8 planes\n"
		    "mrc lab up tiny --pace 0          no shaping: as fast as the machine can",
	.exits = "0 it is up, 1 it is not and nothing is left of it, 2 wrong usage",
	.operands = "TOPOLOGY",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.choices = (const struct ui_choices *const[]){&study_topologies, NULL},
	.run = lab_up_main,
};
