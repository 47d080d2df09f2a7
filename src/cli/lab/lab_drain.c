/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc lab drain, mrc lab undrain - a part out of use under running jobs, and back. */
#include "cli/lab/drain.h"
#include "cli/lab/drain_show.h"
#include "cli/lab/lab_verbs.h"
#include "ui/terminal.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MS_NS UINT64_C(1000000)

struct options {
	uint64_t timeout_ns;
	bool json, all, anyway;
};

/* ---- what is drained ---- */

static int list_parts(struct ml_lab *lab, const struct options *o)
{
	struct drain_book book;
	struct ml_error e;

	if (drain_book_open(&book, lab, &e))
		return lab_fail(&lab_drain_verb, &e);
	for (size_t i = 0; i < book.parts && !o->json; i++)
		printf("%s%s\n", book.name[i],
		       book.unfinished[i] ? ": in part; drain it again, or undrain it" : "");
	if (!book.parts && !o->json)
		printf("nothing is drained\n");
	if (o->json)
		ui_json_print(json_pack("{s:i,s:o,s:o}", "version", 1, "drained",
					drain_book_parts(&book, false), "unfinished",
					drain_book_parts(&book, true)),
			      JSON_INDENT(2));
	drain_book_close(&book);
	return LAB_GOOD;
}

/* ---- drain ---- */

static int drain_one(struct ml_lab *lab, const char *name, const struct options *o)
{
	struct drain_telling telling = {.name = name};
	const struct drain_wait wait = {o->timeout_ns, drain_tell, &telling};
	struct drain_result r;
	struct ml_error e;

	if (drain_part(lab, name, &wait, &r, &e)) {
		drain_tell_end(&telling);
		return lab_fail(&lab_drain_verb, &e);
	}
	drain_tell_end(&telling);
	if (o->json)
		ui_json_print(drain_json(lab, name, &r), JSON_INDENT(2));
	else if (r.safe)
		drain_show_safe(name, &r);
	if (!r.safe)
		drain_show_unsafe(&lab_drain_verb, lab, name, &r, "it stays drained");
	return r.safe ? LAB_GOOD : LAB_FAILED;
}

static int undrain_one(struct ml_lab *lab, const char *name, const struct options *o)
{
	struct drain_result r;
	struct ml_error e;

	if (undrain_part(lab, name, o->anyway, &r, &e))
		return lab_fail(&lab_undrain_verb, &e);
	if (o->json)
		ui_json_print(json_pack("{s:i,s:s,s:i,s:i}", "version", 1, "part",
					name ? name : "all", "hosts", (int)r.hosts, "denials",
					(int)r.denials),
			      JSON_INDENT(2));
	else
		printf("%s: back in use, %u denials lifted on %u hosts\n",
		       name ? name : "all parts", r.denials, r.hosts);
	return LAB_GOOD;
}

/* ---- the command lines ---- */

static const struct ui_flag drain_flags[] = {
	{"--timeout", UI_FLAG_TIME, "TIME", "wait no longer until nothing crosses it (10s)",
	 offsetof(struct options, timeout_ns), MS_NS, UINT64_C(3600000) * MS_NS},
	UI_SWITCH("--json", options, json, "the result as JSON"),
};

static const struct ui_flag undrain_flags[] = {
	UI_SWITCH("--all", options, all, "every part that is drained"),
	UI_SWITCH("--anyway", options, anyway, "even a part that is off or has a fault"),
	UI_SWITCH("--json", options, json, "the result as JSON"),
};

static int open_and_do(const struct ui_verb *verb, int argc, char **argv)
{
	struct options o = {.timeout_ns = 10000 * MS_NS};
	bool is_drain = verb == &lab_drain_verb;
	const char *word[2] = {NULL, NULL};
	struct ml_lab *lab;
	size_t words;
	int status;

	status = ui_verb_parse(verb, &o, argc, argv, word, 2, &words);
	if (status != UI_FLAGS_OK)
		return status;
	if (words < 1 || (!is_drain && (words == 2) == o.all)) {
		fprintf(stderr, "%s: want a LAB%s (%s --help)\n", verb->name,
			is_drain ? "" : ", and a PART or --all", verb->name);
		return LAB_USAGE;
	}
	lab = lab_open(verb, word[0]);
	if (!lab)
		return LAB_FAILED;
	ui_term_catch();
	if (!is_drain)
		status = undrain_one(lab, word[1], &o);
	else
		status = word[1] ? drain_one(lab, word[1], &o) : list_parts(lab, &o);
	ml_lab_close(lab);
	return status;
}

static int lab_drain_main(int argc, char **argv)
{
	return open_and_do(&lab_drain_verb, argc, argv);
}

static int lab_undrain_main(int argc, char **argv)
{
	return open_and_do(&lab_undrain_verb, argc, argv);
}

const struct ui_verb lab_drain_verb = {
	.name = "mrc lab drain",
	.summary = "take a part out of use under running jobs, without a loss",
	.usage = "LAB\n"
		 "LAB PART [FLAG...]",
	.about = "Denies the EVs that lead over a part in the store of every host, waits until all "
		 "processes follow and nothing crosses the part any more, and says that it is safe "
		 "to take it away. Refuses where two hosts would have no EV left. Without a PART "
		 "lists what is drained. PART: a cable, switch, transceiver, host's port or plane, "
		 "as the target of a fault (mrc lab fault --help).",
	.notes = "Denials hold for all destinations: a cable above a T0, or a T1, costs each host "
		 "one EV of the plane, a T0 and a host's port the whole plane. What is not MRC, as "
		 "TCP, is not moved. A host whose store an mrcd writes is drained through it.",
	.examples = "mrc lab drain lab plane1.t1-0 && mrc lab reboot lab plane1.t1-0 && mrc lab "
		    "undrain lab plane1.t1-0",
	.exits = "0 safe, 1 refused, or not safe in time (it stays drained), 2 wrong usage",
	.operands = "LAB PART",
	.choices = (const struct ui_choices *const[]){&lab_choices, NULL},
	.flags = drain_flags,
	.n_flags = UI_COUNT(drain_flags),
	.run = lab_drain_main,
};

const struct ui_verb lab_undrain_verb = {
	.name = "mrc lab undrain",
	.summary = "give a drained part back",
	.usage = "LAB PART [FLAG...]\n"
		 "LAB --all [FLAG...]",
	.about = "Allows again, in the store of every host, what was denied for a part and for no "
		 "other one; denials of others stay. A part that is off or has a fault is refused.",
	.examples = "mrc lab undrain lab plane1.t1-0\n"
		    "mrc lab undrain lab --all --anyway",
	.exits = "0 good, 1 refused, 2 wrong usage",
	.operands = "LAB PART",
	.choices = (const struct ui_choices *const[]){&lab_choices, NULL},
	.flags = undrain_flags,
	.n_flags = UI_COUNT(undrain_flags),
	.run = lab_undrain_main,
};
