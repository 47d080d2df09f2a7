/* SPDX-License-Identifier: BSD-2-Clause */
/* drain_show.h - what drains of parts of a lab say to people and programs. */
#ifndef SOFTMRC_CLI_LAB_DRAIN_SHOW_H
#define SOFTMRC_CLI_LAB_DRAIN_SHOW_H

#include "cli/lab/drain.h"
#include "ui/verb.h"

#include <jansson.h>

/* A line on a terminal that is written over while something waits. */
struct drain_telling {
	const char *name;
	bool told;
};

/* drain_tell is the function of struct drain_wait for it; a signal ends the waiting. */
int drain_tell(void *context, const struct drain_seen *seen);
/* drain_tell_end clears the line. */
void drain_tell_end(struct drain_telling *telling);

/* drain_show_safe prints that a part is safe to be taken away. */
void drain_show_safe(const char *name, const struct drain_result *r);
/* drain_show_unsafe says on stderr why it is not, and what happens then. */
void drain_show_unsafe(const struct ui_verb *verb, const struct ml_lab *lab, const char *name,
		       const struct drain_result *r, const char *then);
/* drain_json returns a new object. */
json_t *drain_json(const struct ml_lab *lab, const char *name, const struct drain_result *r);

#endif
