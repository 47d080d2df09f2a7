/* SPDX-License-Identifier: BSD-2-Clause */
/* emit_bed.h - what tests of emitters share: a fabric, and what was written as text. */
#ifndef UNIT_EMIT_BED_H
#define UNIT_EMIT_BED_H

#include "fabric/emit.h"
#include "fabric/names.h"
#include "fabric/preset.h"
#include "support/test.h"

#include <stdio.h>

struct emit_bed {
	struct mf_topology t;
	struct mf_emit_options o;
	FILE *to;
	char *text; /* after bed_text */
	size_t len;
};

static inline void bed_begin(struct emit_bed *b, const char *preset)
{
	struct mf_error error;

	*b = (struct emit_bed){.o = mf_emit_defaults()};
	assert_true(mf_topology_init(&b->t, &mf_preset_find(preset)->cfg, &error));
	b->to = open_memstream(&b->text, &b->len);
	assert_non_null(b->to);
}

static inline uint32_t bed_node(const struct emit_bed *b, const char *name)
{
	struct mf_error error;
	uint32_t node;

	assert_true(mf_node_find(&b->t, name, &node, &error));
	return node;
}

static inline const char *bed_text(struct emit_bed *b)
{
	fflush(b->to);
	assert_false(ferror(b->to));
	return b->text;
}

static inline void bed_end(struct emit_bed *b)
{
	fclose(b->to);
	free(b->text);
}

/* Forgets what was written. */
static inline void bed_again(struct emit_bed *b)
{
	fclose(b->to);
	free(b->text);
	b->to = open_memstream(&b->text, &b->len);
	assert_non_null(b->to);
}

/* How often `word` stands in a text. */
static inline size_t bed_count(const char *text, const char *word)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
		n++;
	return n;
}

#endif
