/* SPDX-License-Identifier: BSD-2-Clause */
/* demo_summary.h - the end of the demo in words: table of faults, digests, loss, verdict. */
#ifndef SOFTMRC_DEMO_DEMO_SUMMARY_H
#define SOFTMRC_DEMO_DEMO_SUMMARY_H

#include "demo/demo_outcome.h"
#include "ui/text_buffer.h"

/* demo_summary_table appends the table of faults, at most 80 columns wide. */
void demo_summary_table(const struct demo_outcome *o, const struct demo_script *script,
			const struct demo_fault_log *log, bool with_tcp, struct ui_text *out);

/* demo_summary_times appends the table of detection and recovery, at most 80 columns wide. */
void demo_summary_times(const struct demo_script *script, const struct demo_fault_log *log,
			struct ui_text *out);

/* demo_summary_render appends everything. */
void demo_summary_render(const struct demo_outcome *o, const struct demo_run *healthy,
			 const struct demo_run *faulty, struct ui_text *out);

#endif
