/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault_spans.h - faults as spans of time, and the changes of links that they come to.
 *
 * Spans may overlap: then the worst of them holds, until the last is over.
 */
#ifndef SOFTMRC_SIM_SCENARIO_FAULT_SPANS_H
#define SOFTMRC_SIM_SCENARIO_FAULT_SPANS_H

#include <stdbool.h>

#include "fabric/fault.h"
#include "sim/kernel/link_fault.h"

#define MS_SPANS_MAX 4000000u

struct ms_fault_span {
	uint64_t from_ps, until_ps; /* UINT64_MAX: never over */
	uint32_t link;
	uint32_t value; /* of enum ms_fault_kind; for a carrier lost 0 */
	uint8_t kind;	/* any but MS_FAULT_UP */
};

/* A list of zeros is empty. */
struct ms_fault_spans {
	struct ms_fault_span *span;
	uint32_t n, room;
};

void ms_fault_spans_fini(struct ms_fault_spans *l);
/* ms_fault_spans_add appends; false: no memory, or more than MS_SPANS_MAX. Empty spans are none. */
bool ms_fault_spans_add(struct ms_fault_spans *l, const struct ms_fault_span *span);
/* ms_fault_spans_link adds a span for a link, its reverse or both; seen from who sends on it. */
bool ms_fault_spans_link(struct ms_fault_spans *l, struct ms_fault_span span,
			 enum mf_direction way);
/*
 * ms_fault_spans_events makes the changes, in order of time; allocates *events, the caller's to
 * free. Sorts the spans. false: no memory.
 */
bool ms_fault_spans_events(struct ms_fault_spans *l, struct ms_fault **events, uint32_t *n);

#endif
