/* SPDX-License-Identifier: BSD-2-Clause */
/* How busy the machine is: see cpu_load.h. */
#include "demo/cpu_load.h"

#include <inttypes.h>
#include <stdio.h>

bool demo_cpu_parse(struct demo_cpu *cpu, const char *line)
{
	uint64_t t[8];

	/* user nice system idle iowait irq softirq steal */
	if (sscanf(line,
		   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64,
		   &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) != 8)
		return false;
	*cpu = (struct demo_cpu){.idle = t[3] + t[4]};
	for (unsigned i = 0; i < 8; i++)
		cpu->all += t[i];
	return true;
}

struct demo_cpu demo_cpu_read(void)
{
	struct demo_cpu cpu = {0};
	char line[256];
	FILE *f = fopen("/proc/stat", "re");

	if (!f)
		return cpu;
	if (fgets(line, sizeof(line), f))
		demo_cpu_parse(&cpu, line);
	fclose(f);
	return cpu;
}

double demo_cpu_idle(const struct demo_cpu *earlier, const struct demo_cpu *later)
{
	if (later->all <= earlier->all)
		return -1;
	return (double)(later->idle - earlier->idle) / (double)(later->all - earlier->all);
}
