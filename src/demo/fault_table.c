/* SPDX-License-Identifier: BSD-2-Clause */
/* The demo's fault table: see fault_table.h. */
#include "demo/fault_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int demo_fault_table_open(struct demo_faults *f, const char *path, uint64_t seed)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	void *map = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, sizeof(*f->table)) == 0)
		map = mmap(NULL, sizeof(*f->table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		fprintf(stderr, "mrc: fault table %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return -1;
	f->table = map;
	f->table->version = MRC_FAULT_VERSION;
	f->table->rules = MRC_FAULT_RULES;
	f->table->seed = seed;
	memcpy(f->table->magic, MRC_FAULT_MAGIC, sizeof(f->table->magic));
	return 0;
}

void demo_fault_table_close(struct demo_faults *f)
{
	if (f->table)
		munmap(f->table, sizeof(*f->table));
	f->table = NULL;
}

/* Everything between the kind and the counters; processes read it only while the kind is not
 * OFF. */
void demo_fault_table_set(struct demo_faults *f, uint32_t slot, const struct mrc_fault_rule *rule)
{
	struct mrc_fault_rule *to = &f->table->rule[slot];
	const size_t first = offsetof(struct mrc_fault_rule, port_mask);
	const size_t end = offsetof(struct mrc_fault_rule, hit_data);

	demo_fault_table_enable(f, slot, MRC_FAULT_OFF);
	memcpy((uint8_t *)to + first, (const uint8_t *)rule + first, end - first);
	demo_fault_table_enable(f, slot, rule->kind);
}

void demo_fault_table_enable(struct demo_faults *f, uint32_t slot, uint32_t kind)
{
	__atomic_store_n(&f->table->rule[slot].kind, kind, __ATOMIC_RELEASE);
}

struct demo_hits demo_fault_table_hits(const struct demo_faults *f, uint32_t slot)
{
	const struct mrc_fault_rule *rule = &f->table->rule[slot];

	return (struct demo_hits){
		.data = __atomic_load_n(&rule->hit_data, __ATOMIC_RELAXED),
		.control = __atomic_load_n(&rule->hit_control, __ATOMIC_RELAXED),
		.last_ns = __atomic_load_n(&rule->last_hit_ns, __ATOMIC_RELAXED),
	};
}
