/* SPDX-License-Identifier: BSD-2-Clause */
/* job_report.h - what came of training jobs, as JSON and for eyes. */
#ifndef SOFTMRC_STUDY_JOB_REPORT_H
#define SOFTMRC_STUDY_JOB_REPORT_H

#include "sim/scenario/scenario.h"
#include "ui/text_buffer.h"

#include <jansson.h>

/* sim_job_json makes the result of job i of a scenario; NULL: no memory. */
json_t *sim_job_json(const struct ms_scenario *s, uint32_t i, struct ms_run *run);
/* sim_jobs_text appends a table of the jobs of a result, where it has any. */
void sim_jobs_text(const json_t *result, struct ui_text *out);

#endif
