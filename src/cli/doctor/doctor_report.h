/* SPDX-License-Identifier: BSD-2-Clause */
/* doctor_report.h - findings as text and as JSON. */
#ifndef SOFTMRC_CLI_DOCTOR_DOCTOR_REPORT_H
#define SOFTMRC_CLI_DOCTOR_DOCTOR_REPORT_H

#include "cli/doctor/diagnose.h"
#include "ui/text_buffer.h"

#include <jansson.h>

/* doctor_show writes the findings, the worst last; with `all` the good ones too. */
void doctor_show(const struct doctor_findings *all, bool good_too, bool colour,
		 struct ui_text *out);
/* doctor_json returns a new object with all of them. */
json_t *doctor_json(const struct doctor_findings *all);

#endif
