/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc lab - a fabric of network namespaces: the table of its verbs. */
#include "cli/cli_verbs.h"
#include "cli/lab/lab_verbs.h"

static const struct ui_verb *const verbs[] = {&lab_up_verb,    &lab_down_verb,	 &lab_status_verb,
					      &lab_fault_verb, &lab_reboot_verb, &lab_shell_verb,
					      &lab_watch_verb, &lab_run_verb,	 NULL};

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
