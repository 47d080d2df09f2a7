/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_json.h - the JSON of verbs that show the processes of a machine: mrc stat and mrc top. */
#ifndef SOFTMRC_CLI_STATS_JSON_H
#define SOFTMRC_CLI_STATS_JSON_H

#include <jansson.h>

#include "cli/fabric_at_hand.h"
#include "stats/stats_reader.h"

/* cli_stats_json makes an object of what `one` makes of each process, and of how many were not
 * read. The caller's to drop. */
json_t *cli_stats_json(const struct stats_reader *stats, const struct cli_fabric *fabric,
		       json_t *(*one)(const struct stats_process *p,
				      const struct cli_fabric *fabric));

#endif
