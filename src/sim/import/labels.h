/* SPDX-License-Identifier: BSD-2-Clause */
/* labels.h - names of operations within a rank, and what they stand for; a hash table. */
#ifndef SOFTMRC_SIM_IMPORT_LABELS_H
#define SOFTMRC_SIM_IMPORT_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/import/array.h"

struct ms_label {
	size_t at; /* of its text */
	uint32_t len, hash, value;
};

/* All zeros is empty. */
struct ms_labels {
	MS_GROW(char) text;
	MS_GROW(struct ms_label) label;
	uint32_t *bucket; /* a label and one more; 0: free */
	size_t buckets;	  /* a power of two */
};

void ms_labels_fini(struct ms_labels *l);
/* ms_labels_clear forgets all names and keeps the memory. */
void ms_labels_clear(struct ms_labels *l);

enum ms_labels_result {
	MS_LABEL_ADDED,
	MS_LABEL_THERE, /* nothing changed */
	MS_LABEL_NO_MEMORY,
};

/* ms_labels_add adds a name. */
enum ms_labels_result ms_labels_add(struct ms_labels *l, const char *name, uint32_t len,
				    uint32_t value);
/* ms_labels_find returns whether there is such a name, and what it stands for. */
bool ms_labels_find(const struct ms_labels *l, const char *name, uint32_t len, uint32_t *value);

#endif
