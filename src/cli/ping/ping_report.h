/* SPDX-License-Identifier: BSD-2-Clause */
/* ping_report.h - answers and figures of `mrc ping` for eyes and programs. */
#ifndef SOFTMRC_CLI_PING_PING_REPORT_H
#define SOFTMRC_CLI_PING_PING_REPORT_H

#include "cli/ping/ping_paths.h"
#include "ui/text_buffer.h"

#include <jansson.h>

/* ping_show_round writes a line for each path that was asked in the last round. */
void ping_show_round(const struct ping_host *hosts, const struct ping_paths *paths, uint64_t round,
		     struct ui_text *out);
/* ping_show_table writes a line for each path: sent, lost, times. */
void ping_show_table(const struct ping_host *hosts, const struct ping_paths *paths,
		     struct ui_text *out);
/* ping_show_host writes the sum of a host in a line. */
void ping_show_host(const struct ping_host *host, const struct ping_figure *f, struct ui_text *out);

/* ping_json returns a new object with all hosts and paths. */
json_t *ping_json(const struct ping_host *hosts, uint32_t n_hosts, const struct ping_paths *paths);

#endif
