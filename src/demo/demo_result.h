/* SPDX-License-Identifier: BSD-2-Clause */
/* demo_result.h - the outcome for machines: result.json, described in docs/demo.md. */
#ifndef SOFTMRC_DEMO_DEMO_RESULT_H
#define SOFTMRC_DEMO_DEMO_RESULT_H

#include "demo/demo_outcome.h"

#include <jansson.h>

/* demo_result_make returns the whole result as a new reference. */
json_t *demo_result_make(const struct demo_outcome *o, const struct demo_run *healthy,
			 const struct demo_run *faulty, double seconds);

/* demo_result_check says whether a result can be written there; 0, or -1 after a message. */
int demo_result_check(const char *path);

/* demo_result_write writes it to a file, all or nothing; 0, or -1 after a message on stderr. */
int demo_result_write(const json_t *result, const char *path);

#endif
