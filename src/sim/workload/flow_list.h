/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flow_list.h - a list of flows that grows while a file is read; what a workload of kind MS_LIST is
 * made of. A list of zeros is empty.
 */
#ifndef SOFTMRC_SIM_WORKLOAD_FLOW_LIST_H
#define SOFTMRC_SIM_WORKLOAD_FLOW_LIST_H

#include "sim/workload/workload.h"

/* Flows of a list, and their needs: as many as have a number in 32 bits with room to spare. */
#define MS_LIST_MAX 100000000u
/* The longest flow and the latest start that a file may ask for. */
#define MS_LIST_BYTES_MAX (UINT64_C(1) << 46)
#define MS_LIST_START_MAX_NS UINT64_C(86400000000000)

struct ms_flow_list {
	struct ms_list_flow *flow;
	uint32_t n, room;
	struct ms_list_need *need;
	uint32_t n_needs, needs_room;
};

/* ms_flow_list_fini frees the list and makes it empty. */
void ms_flow_list_fini(struct ms_flow_list *l);
/* ms_flow_list_add appends a flow without needs; false: no memory, the list is as before. */
bool ms_flow_list_add(struct ms_flow_list *l, const struct ms_list_flow *flow);
/*
 * ms_flow_list_add_dependency gives flow `of` one more need. The needs of one flow are given one
 * after the other, before those of the next. false: no memory.
 */
bool ms_flow_list_add_dependency(struct ms_flow_list *l, uint32_t of, uint32_t on, enum ms_end end);
/*
 * ms_flow_list_end says at which end of flow `on` the source of flow `of` learns that it is over;
 * false: at neither, so it cannot wait for it.
 */
bool ms_flow_list_end(const struct ms_flow_list *l, uint32_t of, uint32_t on, enum ms_end *end);

#endif
