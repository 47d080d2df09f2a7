/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc lab shell - runs a shell or a command on a host or a switch. */
#include "cli/lab/lab_verbs.h"
#include "lab/lab.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
	bool udp;
};

static const struct ui_flag flags[] = {
	UI_SWITCH("--udp", options, udp,
		  "the endpoint that needs no rights: UDP to the carrier instead of IPv6 in IPv6"),
};

/* Does not return when it goes well. */
static int enter_node(struct ml_lab *lab, const char *node_name, enum mf_host_form form,
		      char **command)
{
	char *shell[] = {getenv("SHELL"), NULL};
	struct ml_error e;
	uint32_t node;
	int fd;

	if (!shell[0] || !*shell[0])
		shell[0] = "/bin/sh";
	if (ml_node_find(ml_lab_topology(lab), node_name, &node, &e) ||
	    ml_host_environment(lab, node, form, &e) || (fd = ml_lab_netns(lab, node, &e)) < 0)
		return lab_fail(&lab_shell_verb, &e);
	if (setns(fd, CLONE_NEWNET) != 0) {
		ml_error_set(&e, "entering %s: %s", node_name, strerror(errno));
		return lab_fail(&lab_shell_verb, &e);
	}
	close(fd);
	if (!*command)
		command = shell;
	execvp(command[0], command);
	ml_error_set(&e, "%s: %s", command[0], strerror(errno));
	return lab_fail(&lab_shell_verb, &e);
}

static int lab_shell_main(int argc, char **argv)
{
	const char *word[2];
	struct options o = {0};
	struct ml_lab *lab;
	int own = argc, status;
	size_t words;

	/* What follows -- belongs to the command. */
	for (int i = argc - 1; i > 0; i--)
		if (strcmp(argv[i], "--") == 0)
			own = i;
	status = ui_verb_parse(&lab_shell_verb, &o, own, argv, word, 2, &words);
	if (status != UI_FLAGS_OK)
		return status;
	if (words < 2) {
		fprintf(stderr, "%s: want a LAB and a NODE (mrc lab shell --help)\n",
			lab_shell_verb.name);
		return LAB_USAGE;
	}
	lab = lab_open(&lab_shell_verb, word[0]);
	if (!lab)
		return LAB_FAILED;
	status = enter_node(lab, word[1], o.udp ? MF_HOST_UDP : MF_HOST_RAW41,
			    own < argc ? argv + own + 1 : argv + argc);
	ml_lab_close(lab);
	return status;
}

const struct ui_verb lab_shell_verb = {
	.name = "mrc lab shell",
	.summary = "a shell, or a command, on a host or switch",
	.usage = "LAB NODE [FLAG...] [-- COMMAND...]",
	.about = "Runs $SHELL, or a command, in the network namespace of a host or a switch. On a "
		 "host MRC_CONFIG names a file that makes programs SRv6 endpoints; MRC_LAB, "
		 "MRC_LAB_NODE, MRC_LAB_ADDRESS and MRC_LAB_IPV4 say where one is.",
	.examples = "mrc lab shell lab host0\n"
		    "mrc lab shell lab plane0.t0-1 -- ip -6 route",
	.exits = "that of the command; 1 or 2 when it could not be started",
	.operands = "LAB NODE",
	.choices = (const struct ui_choices *const[]){&lab_choices, NULL},
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = lab_shell_main,
};
