/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_json.c - see stats_json.h. */
#include "cli/stats_json.h"

json_t *cli_stats_json(const struct stats_reader *stats, const struct cli_fabric *fabric,
		       json_t *(*one)(const struct stats_process *p,
				      const struct cli_fabric *fabric))
{
	json_t *processes = json_array();

	for (uint32_t i = 0; i < stats->n; i++)
		json_array_append_new(processes, one(&stats->process[i], fabric));
	return json_pack("{s:i,s:o,s:i,s:i,s:i,s:i}", "version", 1, "processes", processes,
			 "unreadable", (int)stats->unreadable, "refused", (int)stats->refused,
			 "unseen", (int)stats->unseen, "other_version", (int)stats->other_version);
}
