/* SPDX-License-Identifier: BSD-2-Clause */
/* A list of flows that grows: see workload.h. */
#include "sim/workload/workload.h"

#include <stdlib.h>

#define FIRST_ROOM 64u

void ms_flow_list_fini(struct ms_flow_list *l)
{
	free(l->flow);
	free(l->need);
	*l = (struct ms_flow_list){0};
}

/* grow doubles an array; NULL: no memory. */
static void *grow_array(void *array, uint32_t *room, size_t size)
{
	uint32_t more = *room ? *room * 2 : FIRST_ROOM;
	void *grown = more / 2 > MS_LIST_MAX ? NULL : realloc(array, more * size);

	if (grown)
		*room = more;
	return grown;
}

bool ms_flow_list_add(struct ms_flow_list *l, const struct ms_list_flow *flow)
{
	if (l->n == l->room) {
		struct ms_list_flow *grown = grow_array(l->flow, &l->room, sizeof(*l->flow));

		if (!grown)
			return false;
		l->flow = grown;
	}
	l->flow[l->n] = *flow;
	l->flow[l->n].first_need = 0;
	l->flow[l->n].n_needs = 0;
	l->n++;
	return true;
}

bool ms_flow_list_add_dependency(struct ms_flow_list *l, uint32_t of, uint32_t on, enum ms_end end)
{
	if (l->n_needs == l->needs_room) {
		struct ms_list_need *grown = grow_array(l->need, &l->needs_room, sizeof(*l->need));

		if (!grown)
			return false;
		l->need = grown;
	}
	if (l->flow[of].n_needs == 0)
		l->flow[of].first_need = l->n_needs;
	l->flow[of].n_needs++;
	l->need[l->n_needs++] = (struct ms_list_need){on, end};
	return true;
}

bool ms_flow_list_end(const struct ms_flow_list *l, uint32_t of, uint32_t on, enum ms_end *end)
{
	uint32_t host = l->flow[of].src;

	*end = l->flow[on].dst == host ? MS_RECEIVED : MS_SENT;
	return l->flow[on].dst == host || l->flow[on].src == host;
}
