/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chakra_groups.h - process groups of Chakra: the names that collectives have for them, and which
 * ranks are in them. Who is in a group is said in JSON, in one of two forms:
 *
 *	{"1": [0, 1], "2": [2, 3]}		a file next to the trace, as ASTRA-sim has it
 *	[{"pg_name": "1", "ranks": [0, 1]}]	a node of the trace, as PyTorch has it
 *
 * PyTorch's may stand within the brackets and quotes of a list of Python. A list without a rank
 * means all ranks, and so does a group of which nothing is said. The order of ranks is that of the
 * ring in which collectives go.
 */
#ifndef SOFTMRC_SIM_IMPORT_CHAKRA_GROUPS_H
#define SOFTMRC_SIM_IMPORT_CHAKRA_GROUPS_H

#include "sim/import/labels.h"

struct ms_chakra_group {
	bool said;	/* who is in it */
	uint32_t *rank; /* NULL: all */
	uint32_t n;
};

/* All zeros has none. */
struct ms_chakra_groups {
	struct ms_labels numbers; /* of groups, by their names */
	MS_GROW(struct ms_chakra_group) group;
};

void ms_chakra_groups_fini(struct ms_chakra_groups *g);

/* ms_chakra_groups_number numbers a group, from 0 as names are first met; false: no memory. */
bool ms_chakra_groups_number(struct ms_chakra_groups *g, const char *name, uint32_t len,
			     uint32_t *number);
/*
 * ms_chakra_groups_read takes over what JSON says of groups of a trace of so many ranks. false: why
 * (MS_WHY_BYTES) says what is wrong: no such JSON, a rank that there is not or that stands there
 * twice, or a group of which something else was said before.
 */
bool ms_chakra_groups_read(struct ms_chakra_groups *g, const char *json, size_t len, uint32_t ranks,
			   char *why);

#define MS_CHAKRA_NAME_BYTES 64u
/* ms_chakra_group_name writes the name of a group for messages, shortened, and returns it. */
const char *ms_chakra_group_name(const struct ms_chakra_groups *g, uint32_t number,
				 char out[MS_CHAKRA_NAME_BYTES]);

#endif
