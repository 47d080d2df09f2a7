/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault_table.h - the demo's fault table: a file that all processes of a run map (mrc/fault.h).
 * Each fault of the script has a rule of its own, so its counters are its own as well.
 */
#ifndef SOFTMRC_DEMO_FAULT_TABLE_H
#define SOFTMRC_DEMO_FAULT_TABLE_H

#include "demo/stage.h"

#include <mrc/fault.h>
#include <stdbool.h>
#include <stdint.h>

struct demo_faults {
	struct mrc_fault_table *table; /* NULL: closed */
};

/* demo_fault_table_open creates the file with all rules off; 0, or -1 after a message on stderr. */
int demo_fault_table_open(struct demo_faults *f, const char *path, uint64_t seed);
void demo_fault_table_close(struct demo_faults *f);

/* demo_fault_table_set writes rule `slot` (below MRC_FAULT_RULES); it takes effect at once. */
void demo_fault_table_set(struct demo_faults *f, uint32_t slot, const struct mrc_fault_rule *rule);
/* demo_fault_table_enable turns a rule that was set off, and on again. */
void demo_fault_table_enable(struct demo_faults *f, uint32_t slot, uint32_t kind);
struct demo_hits demo_fault_table_hits(const struct demo_faults *f, uint32_t slot);

#endif
