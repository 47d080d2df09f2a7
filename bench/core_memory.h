/* SPDX-License-Identifier: BSD-2-Clause */
/* core_memory.h - what connected QPs cost in memory, each with a destination of its own. */
#ifndef BENCH_CORE_MEMORY_H
#define BENCH_CORE_MEMORY_H

#include <stdbool.h>

/* print_core_memory measures 131,072 of them, idle and after each was probed once. */
void print_core_memory(bool as_json);

#endif
