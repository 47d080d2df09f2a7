/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault_table.c - what is wrong with the links of a worker: a hash table of link ends, in which
 * only links are that ever had a fault.
 */
#include <stdlib.h>

#include "sim/kernel/worker.h"

static uint32_t key_of(uint32_t port, bool receiving)
{
	return port * 2 + receiving + 1;
}

static uint32_t place_of(const struct ms_fault_table *t, uint32_t key)
{
	return (uint32_t)(ms_mix(key) & (t->room - 1));
}

struct ms_link_fault *ms_link_fault_find(const struct ms_fault_table *t, uint32_t port,
					 bool receiving)
{
	uint32_t key = key_of(port, receiving);

	if (t->room == 0)
		return NULL;
	for (uint32_t i = place_of(t, key); t->entry[i].key; i = (i + 1) & (t->room - 1))
		if (t->entry[i].key == key)
			return &t->entry[i];
	return NULL;
}

static struct ms_link_fault *insert_fault(struct ms_fault_table *t, uint32_t key)
{
	uint32_t i = place_of(t, key);

	while (t->entry[i].key)
		i = (i + 1) & (t->room - 1);
	t->entry[i] = (struct ms_link_fault){.key = key, .rate = 1000000};
	t->used++;
	return &t->entry[i];
}

static bool grow_table(struct ms_fault_table *t)
{
	struct ms_fault_table wider = {.room = t->room ? t->room * 2 : 16};

	wider.entry = calloc(wider.room, sizeof(*wider.entry));
	if (!wider.entry)
		return false;
	for (uint32_t i = 0; i < t->room; i++)
		if (t->entry[i].key)
			*insert_fault(&wider, t->entry[i].key) = t->entry[i];
	free(t->entry);
	*t = wider;
	return true;
}

struct ms_link_fault *ms_link_fault_get(struct ms_worker *worker, uint32_t port, bool receiving)
{
	struct ms_link_fault *f = ms_link_fault_find(&worker->faults, port, receiving);

	if (f)
		return f;
	if (worker->faults.used * 2 >= worker->faults.room && !grow_table(&worker->faults)) {
		atomic_store_explicit(&worker->net->no_memory, true, memory_order_relaxed);
		return NULL;
	}
	return insert_fault(&worker->faults, key_of(port, receiving));
}

/*
 * Both ends count cuts, so a packet that was on the wire comes with a count that is too low.
 * REQ(sim.fault.exact)
 */
bool ms_fault_cut_packet(const struct ms_worker *worker, const struct ms_packet *p)
{
	const struct ms_link_fault *f = ms_link_fault_find(&worker->faults, p->port, true);

	return f && (f->down || (f->cuts & 7u) != p->cuts);
}
