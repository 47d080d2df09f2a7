/* SPDX-License-Identifier: BSD-2-Clause */
/* top_json.h - the same as the view, for programs. */
#ifndef SOFTMRC_CLI_TOP_TOP_JSON_H
#define SOFTMRC_CLI_TOP_TOP_JSON_H

#include "stats/stats_reader.h"

#include <jansson.h>

/* top_json_make returns a new object with all processes, planes, QPs and EVs of a reading. */
json_t *top_json_make(const struct stats_reader *stats);

#endif
