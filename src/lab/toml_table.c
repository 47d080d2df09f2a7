/* SPDX-License-Identifier: BSD-2-Clause */
/* TOML files whose keys are in tables: see toml_table.h. */
#include "lab/toml_table.h"

#include "base/quantity.h"
#include "base/suggest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX_NS UINT64_C(3600000000000)

/* ---- values ---- */

int ml_toml_refuse(const struct ml_toml *r, const struct mb_toml_item *item, const char *what)
{
	snprintf(r->error, ML_TOML_ERROR_MAX, "%s:%u: %s = %.100s: %s", r->file, item->line,
		 item->name, item->value, what);
	return -1;
}

int ml_toml_text(const struct ml_toml *r, const struct mb_toml_item *item, void *to, uint64_t max)
{
	if (!item->value[0])
		return ml_toml_refuse(r, item, "is empty");
	if (strlen(item->value) >= max)
		return ml_toml_refuse(r, item, "is too long");
	snprintf(to, max, "%s", item->value);
	return 0;
}

int ml_toml_time(const struct ml_toml *r, const struct mb_toml_item *item, void *to, uint64_t max)
{
	(void)max;
	if (mb_quantity_read_time(item->value, 0, TIME_MAX_NS, to))
		return 0;
	return ml_toml_refuse(r, item, "must be " MB_QUANTITY_TIME_FORM ", at most an hour");
}

int ml_toml_u64(const struct ml_toml *r, const struct mb_toml_item *item, void *to, uint64_t max)
{
	uint64_t *n = to;
	char *end;

	errno = 0;
	*n = strtoull(item->value, &end, 10);
	if (item->value[0] != '-' && !*end && end != item->value && !errno && *n <= max)
		return 0;
	return ml_toml_refuse(r, item,
			      "must be a whole number that is not negative, or is too large");
}

int ml_toml_u32(const struct ml_toml *r, const struct mb_toml_item *item, void *to, uint64_t max)
{
	uint64_t n;

	if (ml_toml_u64(r, item, &n, max))
		return -1;
	*(uint32_t *)to = (uint32_t)n;
	return 0;
}

int ml_toml_bool(const struct ml_toml *r, const struct mb_toml_item *item, void *to, uint64_t max)
{
	(void)r;
	(void)max;
	*(bool *)to = strcmp(item->value, "true") == 0;
	return 0;
}

/* ---- the file ---- */

struct reading {
	struct ml_toml r;
	const struct ml_toml_format *format;
};

static const struct ml_toml_table *find_table(const struct ml_toml_format *f, const char *name,
					      size_t len)
{
	for (size_t i = 0; i < f->tables; i++)
		if (strlen(f->table[i].name) == len && memcmp(f->table[i].name, name, len) == 0)
			return &f->table[i];
	return NULL;
}

static int begin_element(const struct reading *g, const struct mb_toml_item *item)
{
	const struct ml_toml_table *t = find_table(g->format, item->name, strlen(item->name));
	const struct ml_toml *r = &g->r;
	char names[200] = "";
	uint32_t *count;
	char *element;

	if (!t) {
		for (size_t i = 0; i < g->format->tables; i++)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
				 i ? ", " : "", g->format->table[i].name);
		snprintf(r->error, ML_TOML_ERROR_MAX, "%s:%u: [[%s]]: unknown table; there are %s",
			 r->file, item->line, item->name, names);
		return -1;
	}
	count = (uint32_t *)(void *)((char *)r->into + t->count_offset);
	if (*count == t->max) {
		snprintf(r->error, ML_TOML_ERROR_MAX, "%s:%u: more than %u [[%s]]", r->file,
			 item->line, t->max, item->name);
		return -1;
	}
	element = (char *)r->into + t->offset + (*count)++ * t->stride;
	if (t->initial)
		memcpy(element, t->initial, t->stride);
	else
		memset(element, 0, t->stride);
	memcpy(element, &item->line, sizeof(item->line));
	return 0;
}

static int set_value(const struct reading *g, const struct ml_toml_key *key,
		     const struct mb_toml_item *item)
{
	const struct ml_toml_table *t = find_table(g->format, item->name, strcspn(item->name, "."));
	char *to = g->r.into;

	if (t) {
		uint32_t count = *(uint32_t *)(void *)(to + t->count_offset);

		if (!count)
			return ml_toml_refuse(&g->r, item,
					      "write [[...]] above, with two brackets");
		to += t->offset + (count - 1) * t->stride;
	}
	if (!(item->kind & key->kinds))
		return ml_toml_refuse(&g->r, item, "has the wrong type");
	return key->read(&g->r, item, to + key->offset, key->max);
}

static int read_item(void *context, const struct mb_toml_item *item)
{
	const struct reading *g = context;
	const char *near;
	char text[200];

	if (item->kind == MB_TOML_ELEMENT)
		return begin_element(g, item);
	for (size_t i = 0; i < g->format->keys; i++)
		if (strcmp(item->name, g->format->key[i].name) == 0)
			return set_value(g, &g->format->key[i], item);
	near = mb_suggest_in_table(item->name, &g->format->key->name, g->format->keys,
				   sizeof(*g->format->key));
	snprintf(text, sizeof(text), "unknown key; %s%s%s", near ? "did you mean " : "",
		 near ? near : g->format->documented, near ? "" : " lists them");
	return ml_toml_refuse(&g->r, item, text);
}

int ml_toml_read(const struct ml_toml_format *format, const char *file, const char *text,
		 void *into, char *error)
{
	struct reading g = {{file, error, into}, format};
	const char *why = NULL;
	uint32_t line = 0;
	int rc = mb_toml_read(text, read_item, &g, &line, &why);

	if (why)
		snprintf(error, ML_TOML_ERROR_MAX, "%s:%u: %s", file, line, why);
	return rc || why ? -1 : 0;
}
