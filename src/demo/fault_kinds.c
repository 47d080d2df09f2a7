/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_kinds.c - reads faults.toml, the faults of the demo; the build embeds the file. */
#include "demo/demo.h"

#include "base/assert.h"
#include "base/named_text.h"
#include "lab/toml_table.h"

#include <stdio.h>
#include <string.h>

/* Made by the build, of faults.toml alone. */
extern const struct mb_named_text demo_fault_texts[];

struct both {
	struct demo_kinds lab, loopback;
};

/* The place of a word in a list that ends with NULL, or that of its end. */
static uint32_t find_word(const char *const *words, const char *word, size_t len)
{
	uint32_t i = 0;

	while (words[i] && (strlen(words[i]) != len || memcmp(words[i], word, len) != 0))
		i++;
	return i;
}

static int read_signs(const struct ml_toml *r, const struct mb_toml_item *item, void *to,
		      uint64_t max)
{
	/* In the order of enum demo_signs. */
	static const char *const names[] = {"lost", "retired", "icrc", "queues", "avoided", NULL};
	uint32_t *signs = to;
	const char *at = item->value;

	(void)max;
	*signs = 0;
	for (size_t len; *at; at += len + (at[len] == ',')) {
		uint32_t i;

		len = strcspn(at, ",");
		i = find_word(names, at, len);
		if (!names[i])
			return ml_toml_refuse(r, item, "unknown sign");
		*signs |= 1u << i;
	}
	return 0;
}

static int read_left(const struct ml_toml *r, const struct mb_toml_item *item, void *to,
		     uint64_t max)
{
	/* In the order of enum demo_left. */
	static const char *const names[] = {"unknown", "all", "planes", "other paths", NULL};
	uint32_t i = find_word(names, item->value, strlen(item->value));

	(void)max;
	*(enum demo_left *)to = (enum demo_left)i;
	return names[i] ? 0 : ml_toml_refuse(r, item, "must be all, planes or other paths");
}

/* The name of a fault on loopback: copies the fault of this name in the lab. */
static int read_base(const struct ml_toml *r, const struct mb_toml_item *item, void *to,
		     uint64_t max)
{
	const struct demo_kinds *lab = &((const struct both *)r->into)->lab;

	(void)max;
	for (uint32_t i = 0; i < lab->n; i++)
		if (strcmp(lab->kind[i].name, item->value) == 0) {
			*(struct demo_kind *)to = lab->kind[i];
			return 0;
		}
	return ml_toml_refuse(r, item, "there is no [[fault]] of this name");
}

#define AT(field) offsetof(struct demo_kind, field)
#define TEXT(field) MB_TOML_STRING, ml_toml_text, AT(field), sizeof(((struct demo_kind *)0)->field)
#define NUMBER(field) MB_TOML_INTEGER, ml_toml_u32, AT(field), UINT32_MAX
#define BOOL(field) MB_TOML_BOOLEAN, ml_toml_bool, AT(field), 0
#define TIME(field) MB_TOML_STRING, ml_toml_time, AT(field), 0
/* The keys of both tables but for the name. */
#define KEYS(table)                                                                                \
	{table ".help", TEXT(help)}, {table ".title", TEXT(title)}, {table ".brief", TEXT(brief)}, \
		{table ".target", TEXT(target)}, {table ".fault", TEXT(fault)},                    \
		{table ".incast", BOOL(incast)}, {table ".planes_min", NUMBER(planes_min)},        \
		{table ".paths_min", NUMBER(paths_min)},                                           \
		{table ".needs_trims", BOOL(needs_trims)},                                         \
		{table ".signs", MB_TOML_ARRAY, read_signs, AT(signs), 0},                         \
		{table ".certain", BOOL(certain)},                                                 \
		{table ".left", MB_TOML_STRING, read_left, AT(left), 0},                           \
		{table ".planes_lost", NUMBER(planes_lost)},                                       \
		{table ".flap_down", TIME(flap_down_ns)},                                          \
	{                                                                                          \
		table ".flap_up", TIME(flap_up_ns)                                                 \
	}

static const struct ml_toml_key keys[] = {
	{"fault.name", TEXT(name)},
	KEYS("fault"),
	{"loopback.name", MB_TOML_STRING, read_base, 0, 0},
	KEYS("loopback"),
};

static const struct ml_toml_table tables[] = {
	{"fault", offsetof(struct both, lab.kind), sizeof(struct demo_kind),
	 offsetof(struct both, lab.n), DEMO_KINDS_MAX, NULL},
	{"loopback", offsetof(struct both, loopback.kind), sizeof(struct demo_kind),
	 offsetof(struct both, loopback.n), DEMO_KINDS_MAX, NULL},
};

static const struct ml_toml_format format = {keys, sizeof(keys) / sizeof(keys[0]), tables,
					     sizeof(tables) / sizeof(tables[0]),
					     "src/demo/faults.toml"};

const struct demo_kinds *demo_kinds(bool lab)
{
	static struct both both;
	char error[ML_TOML_ERROR_MAX];

	if (!both.lab.n &&
	    ml_toml_read(&format, "faults.toml", demo_fault_texts[0].text, &both, error)) {
		fprintf(stderr, "mrc demo: %s\n", error);
		mb_panic(__FILE__, __LINE__, "faults.toml cannot be read");
	}
	return lab ? &both.lab : &both.loopback;
}
