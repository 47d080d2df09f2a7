/* SPDX-License-Identifier: BSD-2-Clause */
/* plan_report.h - a plan for eyes and for programs. */
#ifndef SOFTMRC_CLI_PLAN_PLAN_REPORT_H
#define SOFTMRC_CLI_PLAN_PLAN_REPORT_H

#include "fabric/plan_rates.h"
#include "fabric/topology.h"
#include "ui/text_buffer.h"

#include <jansson.h>

/*
 * plan_report_write appends the tables of a fabric; with `against`, of another beside it, and what
 * a NIC of either needs. against may be NULL.
 */
void plan_report_write(struct ui_text *out, const struct mf_topology *t,
		       const struct mf_topology *against, const struct mf_rates *r);

/* plan_report_json makes the same for programs; the caller owns it. */
json_t *plan_report_json(const struct mf_topology *t, const struct mf_topology *against,
			 const struct mf_rates *r);

/* plan_report_rates appends the rates as a file that --rates takes, with their sources. */
void plan_report_rates(struct ui_text *out, const struct mf_rates *r);

#endif
