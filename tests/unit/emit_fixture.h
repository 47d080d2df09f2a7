/* SPDX-License-Identifier: BSD-2-Clause */
/* emit_fixture.h - what tests of emitters share: a fabric, and what was written as text. */
#ifndef UNIT_EMIT_FIXTURE_H
#define UNIT_EMIT_FIXTURE_H

#include "fabric/emit.h"
#include "fabric/fabric_node.h"
#include "fabric/topology_toml.h"
#include "support/test.h"

#include <stdio.h>

struct emit_fixture {
	struct mf_topology t;
	struct mf_emit_options o;
	FILE *to;
	char *text; /* after fixture_text */
	size_t len;
};

static inline void fixture_begin(struct emit_fixture *b, const char *preset)
{
	char why[MF_TOML_ERROR_BYTES];

	*b = (struct emit_fixture){.o = mf_emit_defaults()};
	assert_true(mf_topology_open(preset, &b->t, why));
	b->to = open_memstream(&b->text, &b->len);
	assert_non_null(b->to);
}

static inline uint32_t fixture_node(const struct emit_fixture *b, const char *name)
{
	struct mf_error error;
	uint32_t node;

	assert_true(mf_node_find(&b->t, name, &node, &error));
	return node;
}

static inline const char *fixture_text(struct emit_fixture *b)
{
	fflush(b->to);
	assert_false(ferror(b->to));
	return b->text;
}

static inline void fixture_end(struct emit_fixture *b)
{
	fclose(b->to);
	free(b->text);
}

/* Forgets what was written. */
static inline void fixture_again(struct emit_fixture *b)
{
	fclose(b->to);
	free(b->text);
	b->to = open_memstream(&b->text, &b->len);
	assert_non_null(b->to);
}

/* How often `word` stands in a text. */
static inline size_t fixture_count(const char *text, const char *word)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
		n++;
	return n;
}

#endif
