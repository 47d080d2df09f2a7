/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc lab fault - faults begin, end, come for a while, flap. */
#include "cli/lab/lab_verbs.h"
#include "ui/terminal.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define WORDS_MAX 6u
#define MS_NS UINT64_C(1000000)

struct ask {
	const char *word[WORDS_MAX]; /* LAB TARGET FAULT VALUE DIRECTION */
	size_t words;
	uint64_t for_ns, gap_ns, count;
};

static int fail_by(const struct mf_error *why)
{
	struct ml_error e;

	ml_error_from(&e, why);
	return lab_fail(&lab_fault_verb, &e);
}

static int print_faults(const struct ml_lab *lab)
{
	const struct mf_topology *t = ml_lab_topology(lab);
	char text[MF_FAULT_TEXT_BYTES], name[MF_NODE_NAME_BYTES];
	const struct mf_fault *fault;
	size_t n, off = 0;

	fault = ml_lab_faults(lab, &n);
	for (size_t i = 0; i < n; i++)
		printf("%s %s\n", fault[i].target, mf_fault_write(&fault[i], text));
	for (uint32_t node = t->n_hosts; node < t->n_nodes; node++)
		if (ml_lab_switch_is_off(lab, node)) {
			mf_node_name(t, node, name);
			printf("%s %s\n", name, mf_fault_name(MF_FAULT_REBOOT));
			off++;
		}
	if (!n && !off)
		printf("no faults\n");
	return LAB_GOOD;
}

/* LAB lift, LAB TARGET lift, LAB TARGET lift FAULT. */
static int clear_fault(struct ml_lab *lab, const char *target, const char *word)
{
	enum mf_fault_kind kind = word ? mf_fault_kind_find(word) : MF_FAULT_KINDS;
	struct ml_error e;
	int n;

	if (word && kind == MF_FAULT_KINDS) {
		fprintf(stderr, "%s: lift %s: unknown fault\n", lab_fault_verb.name, word);
		return LAB_USAGE;
	}
	n = ml_lab_clear_fault(lab, target, kind, &e);
	if (n < 0)
		return lab_fail(&lab_fault_verb, &e);
	if (!n && target) {
		fprintf(stderr, "%s: %s has no such fault; mrc lab fault %s lists them\n",
			lab_fault_verb.name, target, ml_lab_name(lab));
		return LAB_FAILED;
	}
	printf("%d fault%s lifted\n", n, n == 1 ? "" : "s");
	return LAB_GOOD;
}

static int inject_for(struct ml_lab *lab, const struct mf_fault *fault, uint64_t for_ns)
{
	struct ml_error e;

	if (ml_lab_add_fault(lab, fault, &e))
		return lab_fail(&lab_fault_verb, &e);
	if (!for_ns)
		return LAB_GOOD;
	lab_sleep(for_ns);
	return ml_lab_clear_fault(lab, fault->target, fault->kind, &e) < 0
		       ? lab_fail(&lab_fault_verb, &e)
		       : LAB_GOOD;
}

/* Down and up again, some times over; whatever ends it, it ends up. */
static int flap_target(struct ml_lab *lab, const struct ask *a)
{
	struct mf_fault fault;
	struct ml_error e;
	int status = LAB_GOOD;

	if (a->words > 3) {
		fprintf(stderr, "%s: %s: unexpected argument\n", lab_fault_verb.name, a->word[3]);
		return LAB_USAGE;
	}
	if (ml_fault_read(ml_lab_topology(lab), a->word[1], "down", &fault, &e))
		return lab_fail(&lab_fault_verb, &e);
	for (uint64_t i = 0; i < a->count && status == LAB_GOOD && !ui_term_caught(); i++) {
		if (i)
			lab_sleep(a->gap_ns);
		status = inject_for(lab, &fault, a->for_ns ? a->for_ns : 250 * MS_NS);
	}
	return status;
}

static int apply_request(struct ml_lab *lab, const struct ask *a)
{
	const struct mf_topology *t = ml_lab_topology(lab);
	struct mf_target target;
	struct mf_fault fault;
	struct mf_error why;

	if (a->words == 1)
		return print_faults(lab);
	if (a->words == 2 && strcmp(a->word[1], "lift") == 0)
		return clear_fault(lab, NULL, NULL);
	if (a->words >= 3 && strcmp(a->word[2], "lift") == 0) {
		if (!mf_target_find(t, a->word[1], &target, &why))
			return fail_by(&why);
		return clear_fault(lab, a->word[1], a->words > 3 ? a->word[3] : NULL);
	}
	if (a->words >= 3 && mf_fault_kind_find(a->word[2]) == MF_FAULT_FLAP)
		return flap_target(lab, a);
	if (!mf_fault_read(t, a->word[1], &a->word[2], a->words - 2, &fault, &why))
		return fail_by(&why);
	return inject_for(lab, &fault, a->for_ns);
}

static bool fault_at(size_t i, struct ui_choice *out)
{
	if (i < MF_FAULT_KINDS) {
		out->word = mf_fault_name((enum mf_fault_kind)i);
		out->about = mf_fault_help((enum mf_fault_kind)i, &out->value);
	} else if (i == MF_FAULT_KINDS) {
		*out = (struct ui_choice){"lift", "[FAULT]", "the end of a fault, or of all"};
	}
	return i < MF_FAULT_KINDS + 1;
}

static const struct ui_choices faults = {"FAULT", "FAULT is one of:", fault_at, NULL};

static const struct ui_flag flags[] = {
	{"--for", UI_FLAG_TIME, "TIME", "lift it after this time (flap: down for, 250ms)",
	 offsetof(struct ask, for_ns), MS_NS, UINT64_C(86400000) * MS_NS},
	{"--gap", UI_FLAG_TIME, "TIME", "flap: up between two downs (300ms)",
	 offsetof(struct ask, gap_ns), MS_NS, UINT64_C(86400000) * MS_NS},
	{"--count", UI_FLAG_U64, "N", "flap: how often (3)", offsetof(struct ask, count), 1,
	 1000000},
};

static int lab_fault_main(int argc, char **argv)
{
	struct ask a = {.gap_ns = 300 * MS_NS, .count = 3};
	struct ml_lab *lab;
	int status;

	status = ui_verb_parse(&lab_fault_verb, &a, argc, argv, a.word, WORDS_MAX, &a.words);
	if (status != UI_FLAGS_OK)
		return status;
	if (!a.words) {
		fprintf(stderr, "%s: which lab? (mrc lab fault --help tells more)\n",
			lab_fault_verb.name);
		return LAB_USAGE;
	}
	lab = lab_open(&lab_fault_verb, a.word[0]);
	if (!lab)
		return LAB_FAILED;
	ui_term_catch();
	status = apply_request(lab, &a);
	ml_lab_close(lab);
	return status;
}

const struct ui_verb lab_fault_verb = {
	.name = "mrc lab fault",
	.summary = "break a link, switch, NIC port or plane; lift faults",
	.usage = "LAB\n"
		 "LAB TARGET FAULT [VALUE] [out|in] [FLAG...]\n"
		 "LAB [TARGET] lift [FAULT]",
	.about = "Makes faults in a running lab, lifts them, or lists those in force. TARGET: "
		 "host3 (all its ports), host3.plane0 (a NIC port), plane0.t0-1 (a switch), "
		 "plane0.t0-1.t1-0 (a cable, seen from its first end; also plane0.t0-1.u0), "
		 "plane0.t0-1.transceiver0 (ports 0 to 3), plane0. out, in: only what the target "
		 "sends, or receives; else both.",
	.examples = "mrc lab fault lab plane0.t0-1.t1-0 down\n"
		    "mrc lab fault lab host3.plane2 blackhole in --for 2s\n"
		    "mrc lab fault lab plane1.t1-0 stall\n"
		    "mrc lab fault lab plane0.t0-0.transceiver0 flap --count 5\n"
		    "mrc lab fault lab plane0.t0-0.t1-0 swap plane0.t0-1.t1-1\n"
		    "mrc lab fault lab lift",
	.exits = "0 good, 1 failed and all is as it was, 2 wrong usage",
	.operands = "LAB TARGET FAULT",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.choices = (const struct ui_choices *const[]){&lab_choices, &faults, NULL},
	.run = lab_fault_main,
};
