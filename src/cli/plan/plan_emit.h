/* SPDX-License-Identifier: BSD-2-Clause */
/* plan_emit.h - writes the files of a format into a folder, or one of them to stdout. */
#ifndef SOFTMRC_CLI_PLAN_PLAN_EMIT_H
#define SOFTMRC_CLI_PLAN_PLAN_EMIT_H

#include "cli/plan/emit_formats.h"

struct plan_emit {
	const struct plan_format *format;
	const char *node; /* "all", or one by name */
	const char *out;  /* folder; NULL: stdout, for a single file */
	const char *yang; /* folder of YANG modules that SONiC's files are held against, or NULL */
	struct plan_emission how;
};

/*
 * plan_emit_run writes. Each file appears whole or not at all; a signal ends the work between two
 * of them. Returns 0, or -1 after a message on stderr.
 */
int plan_emit_run(const struct plan_emit *e, const struct mf_topology *t);

#endif
