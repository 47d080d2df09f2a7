/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc lab roll - maintenance of a whole tier under running jobs: each switch is drained, switched
 * off and on again, and given back, before the next one.
 */
#include "cli/lab/drain.h"
#include "cli/lab/drain_show.h"
#include "cli/lab/lab_verbs.h"
#include "ui/terminal.h"
#include "ui/text.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS_NS UINT64_C(1000000)

struct roll {
	uint64_t for_ns, timeout_ns;
	uint32_t plane; /* UINT32_MAX: all */
	bool json;
	struct ml_lab *lab;
	const struct mf_topology *t;
	uint32_t *node; /* owned */
	uint32_t nodes, done;
	json_t *switches; /* for --json */
};

static int fail(const struct ml_error *e)
{
	return lab_fail(&lab_roll_verb, e);
}

/* ---- which switches ---- */

static bool find_tier(const char *word, enum mf_tier *tier)
{
	for (*tier = MF_T0; *tier < MF_TIERS; ++*tier)
		if (strcmp(word, mf_tier_name(*tier)) == 0)
			return true;
	return false;
}

/* Plane by plane, so that one plane at most is without a switch. */
static int list_switches(struct roll *r, enum mf_tier tier)
{
	r->node = calloc(r->t->n_switches, sizeof(*r->node));
	for (uint32_t node = r->t->n_hosts; r->node && node < r->t->n_nodes; node++) {
		struct mf_node n = mf_node_at(r->t, node);

		if (n.tier == tier && (r->plane == UINT32_MAX || n.plane == r->plane))
			r->node[r->nodes++] = node;
	}
	if (r->nodes)
		return LAB_GOOD;
	fprintf(stderr, "%s: this lab has no %s%s\n", lab_roll_verb.name, mf_tier_name(tier),
		r->plane == UINT32_MAX ? "" : " in such a plane");
	return LAB_USAGE;
}

/* Before anything is done: what cannot be drained now cannot be later, as things are. */
static int check_all(struct roll *r)
{
	char name[MF_NODE_NAME_BYTES];
	struct ml_error e;

	for (uint32_t i = 0; i < r->nodes; i++) {
		mf_node_name(r->t, r->node[i], name);
		if (ml_lab_switch_is_off(r->lab, r->node[i])) {
			ml_error_set(&e, "%s is off (mrc lab reboot %s %s)", name,
				     ml_lab_name(r->lab), name);
			return fail(&e);
		}
		if (drain_check(r->lab, name, &e))
			return fail(&e);
	}
	return LAB_GOOD;
}

/* ---- one switch ---- */

static void say_done(struct roll *r, const char *name, const struct drain_result *drained,
		     uint64_t off_ns)
{
	char took[UI_UNITS_MAX], off[UI_UNITS_MAX];

	r->done++;
	if (r->json)
		json_array_append_new(r->switches,
				      json_pack("{s:s,s:I,s:I}", "switch", name, "drain_ns",
						(json_int_t)drained->took_ns, "off_ns",
						(json_int_t)off_ns));
	else
		printf("%u/%u %s: drained in %s, off for %s, back in use\n", r->done, r->nodes,
		       name, ui_units_time(took, drained->took_ns), ui_units_time(off, off_ns));
	fflush(stdout);
}

/* Switched on again whatever ends the waiting. 0, or -1 with a sentence. */
static int reboot(struct roll *r, uint32_t node, uint64_t *off_ns, struct ml_error *e)
{
	uint64_t begin = ui_clock_ns();

	if (ml_lab_set_switch(r->lab, node, false, e))
		return -1;
	lab_sleep(r->for_ns);
	if (ml_lab_set_switch(r->lab, node, true, e))
		return -1;
	*off_ns = ui_clock_ns() - begin;
	return 0;
}

/*
 * A switch that does not become safe is left alone; after a signal that is no failure. A fault that
 * it had before is no reason to keep it.
 */
static int give_up(struct roll *r, const char *name, const struct drain_result *drained)
{
	bool interrupted = ui_term_caught();
	struct drain_result back;
	struct ml_error e;

	if (!interrupted)
		drain_show_unsafe(&lab_roll_verb, r->lab, name, drained, "it is given back");
	if (undrain_part(r->lab, name, true, &back, &e))
		return fail(&e);
	return interrupted ? LAB_GOOD : LAB_FAILED;
}

/* What was drained here is given back here, unless the switch did not come back. */
static int maintain(struct roll *r, uint32_t node)
{
	struct drain_telling telling = {0};
	const struct drain_wait wait = {r->timeout_ns, drain_tell, &telling};
	struct drain_result drained, back;
	char name[MF_NODE_NAME_BYTES];
	struct ml_error e;
	uint64_t off_ns;
	int failed;

	mf_node_name(r->t, node, name);
	telling.name = name;
	failed = drain_part(r->lab, name, &wait, &drained, &e);
	drain_tell_end(&telling);
	if (failed)
		return fail(&e);
	if (!drained.safe)
		return give_up(r, name, &drained);
	if (reboot(r, node, &off_ns, &e)) {
		fail(&e);
		fprintf(stderr, "%s: %s stays drained\n", lab_roll_verb.name, name);
		return LAB_FAILED;
	}
	if (undrain_part(r->lab, name, true, &back, &e))
		return fail(&e);
	say_done(r, name, &drained, off_ns);
	return LAB_GOOD;
}

static int maintain_all(struct roll *r)
{
	int status = check_all(r);

	for (uint32_t i = 0; i < r->nodes && status == LAB_GOOD && !ui_term_caught(); i++)
		status = maintain(r, r->node[i]);
	if (status == LAB_GOOD && r->done < r->nodes) {
		fprintf(stderr,
			"%s: interrupted after %u of %u switches; nothing is left drained\n",
			lab_roll_verb.name, r->done, r->nodes);
		status = LAB_FAILED;
	}
	if (r->json)
		ui_json_print(json_pack("{s:i,s:I,s:b,s:O}", "version", 1, "of",
					(json_int_t)r->nodes, "finished", r->done == r->nodes,
					"switches", r->switches),
			      JSON_INDENT(2));
	return status;
}

/* ---- the command line ---- */

static const struct ui_flag flags[] = {
	{"--plane", UI_FLAG_U32, "N", "of this plane only, from 0", offsetof(struct roll, plane), 0,
	 MF_PLANES_MAX - 1},
	{"--for", UI_FLAG_TIME, "TIME", "how long each is off (none: as short as can be)",
	 offsetof(struct roll, for_ns), MS_NS, UINT64_C(86400000) * MS_NS},
	{"--timeout", UI_FLAG_TIME, "TIME", "wait no longer until a switch is safe (10s)",
	 offsetof(struct roll, timeout_ns), MS_NS, UINT64_C(3600000) * MS_NS},
	UI_SWITCH("--json", roll, json, "the result as JSON"),
};

static int lab_roll_main(int argc, char **argv)
{
	struct roll r = {.plane = UINT32_MAX, .timeout_ns = 10000 * MS_NS};
	const char *word[2];
	enum mf_tier tier;
	size_t words;
	int status;

	status = ui_verb_parse(&lab_roll_verb, &r, argc, argv, word, 2, &words);
	if (status != UI_FLAGS_OK)
		return status;
	if (words < 2 || !find_tier(word[1], &tier)) {
		fprintf(stderr, "%s: %s: want a LAB and t0, t1 or t2 (mrc lab roll --help)\n",
			lab_roll_verb.name, words < 2 ? "(nothing)" : word[1]);
		return LAB_USAGE;
	}
	r.lab = lab_open(&lab_roll_verb, word[0]);
	if (!r.lab)
		return LAB_FAILED;
	r.t = ml_lab_topology(r.lab);
	r.switches = json_array();
	ui_term_catch();
	status = list_switches(&r, tier);
	if (status == LAB_GOOD)
		status = maintain_all(&r);
	json_decref(r.switches);
	free(r.node);
	ml_lab_close(r.lab);
	return status;
}

const struct ui_verb lab_roll_verb = {
	.name = "mrc lab roll",
	.summary = "maintain all switches of a tier, one after the other, under running jobs",
	.usage = "LAB t0|t1|t2 [FLAG...]",
	.about = "Drains each switch of a tier, switches it off and on again, and gives it back "
		 "before the next one; a line for each. Begins only if every one can be drained. A "
		 "signal ends it after the switch at hand, which is switched on and given back.",
	.examples = "mrc lab roll lab t1 --for 2s\n"
		    "mrc lab roll lab t0 --plane 1",
	.exits = "0 all are maintained, 1 refused, failed or interrupted, 2 wrong usage",
	.operands = "LAB",
	.choices = (const struct ui_choices *const[]){&lab_choices, NULL},
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = lab_roll_main,
};
