/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc lab - a fabric of network namespaces: the table of its verbs, and what they share. */
#include "cli/cli_verbs.h"
#include "cli/lab/lab_verbs.h"
#include "ui/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int lab_fail(const struct ui_verb *verb, const struct ml_error *e)
{
	fprintf(stderr, "%s: %s\n", verb->name, e->text);
	return LAB_FAILED;
}

void lab_sleep(uint64_t ns)
{
	struct timespec left = {.tv_sec = (time_t)(ns / 1000000000u),
				.tv_nsec = (long)(ns % 1000000000u)};

	while (!ui_term_caught() && nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

static void add_name(void *context, const char *name)
{
	struct lab_names *names = context;

	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->name[i], name) == 0)
			return;
	if (names->n < LAB_NAMES_MAX)
		snprintf(names->name[names->n++], ML_LAB_NAME_MAX, "%s", name);
}

void lab_find_all(struct lab_names *names)
{
	names->n = 0;
	if (!ml_needs_ns_holder())
		ml_lab_list(add_name, names);
	ml_ns_holder_list(add_name, names);
}

const char *lab_find_name(const struct ui_verb *verb, const char *given, struct lab_names *names)
{
	if (given)
		return given;
	lab_find_all(names);
	if (names->n == 1)
		return names->name[0];
	if (!names->n) {
		fprintf(stderr, "%s: no lab is up; mrc lab up makes one\n", verb->name);
		return NULL;
	}
	fprintf(stderr, "%s: which lab? There are", verb->name);
	for (size_t i = 0; i < names->n; i++)
		fprintf(stderr, " %s", names->name[i]);
	fprintf(stderr, "\n");
	return NULL;
}

struct ml_lab *lab_open(const struct ui_verb *verb, const char *name)
{
	struct ml_error e;
	struct ml_lab *lab = NULL;

	if (ml_ns_holder_join(name, &e) >= 0)
		lab = ml_lab_open(name, &e);
	if (!lab)
		lab_fail(verb, &e);
	return lab;
}

const struct ui_choices lab_choices = {"LAB", NULL, NULL, "mrc lab status --names"};

static const struct ui_verb *const verbs[] = {&lab_up_verb,	 &lab_down_verb,   &lab_status_verb,
					      &lab_fault_verb,	 &lab_reboot_verb, &lab_drain_verb,
					      &lab_undrain_verb, &lab_roll_verb,   &lab_shell_verb,
					      &lab_watch_verb,	 &lab_run_verb,	   NULL};

const struct ui_verb cli_lab_verb = {
	.name = "mrc lab",
	.summary = "build a multi-plane SRv6 fabric on this machine, and break it",
	.usage = "VERB [FLAG...]",
	.about = "A multi-plane fabric on this machine, out of network namespaces and the kernel's "
		 "SRv6.",
	.examples = "mrc lab up lab                              8 hosts on 4 planes\n"
		    "mrc lab shell lab host0 -- mrc doctor       a command on a host\n"
		    "mrc lab fault lab plane0.t1-0 stall         a switch that drops every packet\n"
		    "mrc lab fault lab lift\n"
		    "mrc lab down lab",
	.verbs = verbs,
};
