/* SPDX-License-Identifier: BSD-2-Clause */
/* labels.c - open addressing; at most half of the buckets are taken. */
#include "sim/import/input.h"

#define FIRST_BUCKETS 1024u

void ms_labels_fini(struct ms_labels *l)
{
	ms_grow_free(&l->text);
	ms_grow_free(&l->label);
	free(l->bucket);
	*l = (struct ms_labels){0};
}

void ms_labels_clear(struct ms_labels *l)
{
	l->text.n = 0;
	l->label.n = 0;
	if (l->bucket)
		memset(l->bucket, 0, l->buckets * sizeof(*l->bucket));
}

/* FNV-1a. */
static uint32_t hash_of(const char *name, uint32_t len)
{
	uint32_t hash = 2166136261u;

	for (uint32_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)name[i]) * 16777619u;
	return hash;
}

/* place_of returns the bucket of a name, or the free one where it would be. */
static size_t place_of(const struct ms_labels *l, const char *name, uint32_t len, uint32_t hash)
{
	size_t i = hash & (l->buckets - 1);

	for (; l->bucket[i]; i = (i + 1) & (l->buckets - 1)) {
		const struct ms_label *x = &l->label.at[l->bucket[i] - 1];

		if (x->hash == hash && x->len == len &&
		    (len == 0 || memcmp(l->text.at + x->at, name, len) == 0))
			break;
	}
	return i;
}

static bool make_room(struct ms_labels *l)
{
	size_t want = l->buckets ? l->buckets * 2 : FIRST_BUCKETS;
	uint32_t *bucket;

	if (l->label.n * 2 < l->buckets)
		return true;
	bucket = calloc(want, sizeof(*bucket));
	if (!bucket)
		return false;
	free(l->bucket);
	l->bucket = bucket;
	l->buckets = want;
	for (size_t k = 0; k < l->label.n; k++) {
		size_t i = l->label.at[k].hash & (want - 1);

		while (bucket[i])
			i = (i + 1) & (want - 1);
		bucket[i] = (uint32_t)k + 1;
	}
	return true;
}

enum ms_labels_result ms_labels_add(struct ms_labels *l, const char *name, uint32_t len,
				    uint32_t value)
{
	const struct ms_label label = {l->text.n, len, hash_of(name, len), value};
	size_t place;

	if (!make_room(l))
		return MS_LABEL_NO_MEMORY;
	place = place_of(l, name, len, label.hash);
	if (l->bucket[place])
		return MS_LABEL_THERE;
	for (uint32_t i = 0; i < len; i++)
		if (!ms_grow_add(&l->text, &name[i]))
			return MS_LABEL_NO_MEMORY;
	if (!ms_grow_add(&l->label, &label))
		return MS_LABEL_NO_MEMORY;
	l->bucket[place] = (uint32_t)l->label.n;
	return MS_LABEL_ADDED;
}

bool ms_labels_find(const struct ms_labels *l, const char *name, uint32_t len, uint32_t *value)
{
	size_t place;

	if (l->buckets == 0)
		return false;
	place = place_of(l, name, len, hash_of(name, len));
	if (!l->bucket[place])
		return false;
	*value = l->label.at[l->bucket[place] - 1].value;
	return true;
}
