/* SPDX-License-Identifier: BSD-2-Clause */
/* cpu_load.h - how busy the machine is, from /proc/stat. */
#ifndef SOFTMRC_DEMO_CPU_LOAD_H
#define SOFTMRC_DEMO_CPU_LOAD_H

#include <stdbool.h>
#include <stdint.h>

/* Ticks of all processors together since the machine started. */
struct demo_cpu {
	uint64_t idle, all;
};

/* demo_cpu_read returns the ticks so far; zeros where /proc cannot be read. */
struct demo_cpu demo_cpu_read(void);
/* demo_cpu_parse reads the first line of /proc/stat. */
bool demo_cpu_parse(struct demo_cpu *cpu, const char *line);
/* demo_cpu_idle returns the idle share between two readings, 0 .. 1; -1 when nothing passed. */
double demo_cpu_idle(const struct demo_cpu *earlier, const struct demo_cpu *later);

#endif
