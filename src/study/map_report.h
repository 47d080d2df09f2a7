/* SPDX-License-Identifier: BSD-2-Clause */
/* map_report.h - an hour of the map, as JSON and for eyes. */
#ifndef SOFTMRC_STUDY_MAP_REPORT_H
#define SOFTMRC_STUDY_MAP_REPORT_H

#include "study/map_hour.h"
#include "ui/text.h"

#include <jansson.h>

/* study_map_json makes the result; NULL: no memory. */
json_t *study_map_json(const struct ms_scenario *s, const struct study_map_cfg *cfg,
		       const struct study_map_result *r);
/* study_map_text appends it for eyes. */
void study_map_text(const json_t *result, struct ui_text *out);

#endif
