/* SPDX-License-Identifier: BSD-2-Clause */
/* summary.h - the end of the demo in words: table of faults, digests, loss, verdict. */
#ifndef SOFTMRC_CLI_DEMO_SUMMARY_H
#define SOFTMRC_CLI_DEMO_SUMMARY_H

#include "cli/demo/outcome.h"
#include "cli/text.h"

/* demo_summary_table appends the table of faults, at most 80 columns wide. */
void demo_summary_table(const struct demo_outcome *o, const struct demo_script *script,
			const struct demo_fault_log *log, bool with_tcp, struct cli_text *out);

/* demo_summary_times appends the table of detection and recovery, at most 80 columns wide. */
void demo_summary_times(const struct demo_script *script, const struct demo_fault_log *log,
			struct cli_text *out);

/* demo_summary_render appends everything. */
void demo_summary_render(const struct demo_outcome *o, const struct demo_run *healthy,
			 const struct demo_run *faulty, struct cli_text *out);

#endif
