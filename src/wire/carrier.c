/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * carrier.c - templates: four words with the leftmost bit on top, and copies that never cross a
 * word, so that each is a shift, a mask and a merge.
 */
#include "wire/carrier.h"

#include <string.h>

#include "base/bytes.h"

#define WORD_BITS 64u
#define COPY_BITS_MAX 32u
#define ADDR_BITS (MW_SRV6_ADDR_BYTES * 8u)

static uint64_t low_bits(uint32_t width)
{
	return (UINT64_C(1) << width) - 1; /* width is at most 32 here */
}

/* How far the lowest bit of a copy stands above the lowest bit of its word. */
static uint32_t shift_of(const struct mw_carrier_copy *c)
{
	return WORD_BITS - c->to % WORD_BITS - c->width;
}

void mw_carrier_template_init(struct mw_carrier_template *t, const struct mw_carrier *base)
{
	memset(t, 0, sizeof(*t));
	t->has_segment = base->has_segment;
	for (uint32_t i = 0; i < 2; i++)
		t->base[i] = mb_load_be64(base->dst + i * sizeof(t->base[0]));
	for (uint32_t i = 0; base->has_segment && i < 2; i++)
		t->base[2 + i] = mb_load_be64(base->segment + i * sizeof(t->base[0]));
}

static bool copy_exists(const struct mw_carrier_template *t, const struct mw_carrier_copy *c)
{
	uint32_t source_bits = c->source == MW_CARRIER_FROM_EV ? 32u : 64u;
	uint32_t bits = t->has_segment ? MW_CARRIER_BITS : ADDR_BITS;

	if (c->source > MW_CARRIER_FROM_SUBNET || c->width < 1 || c->width > COPY_BITS_MAX ||
	    (uint32_t)c->from + c->width > source_bits || (uint32_t)c->to + c->width > bits)
		return false;
	return c->source == MW_CARRIER_FROM_EV || c->to % WORD_BITS + c->width <= WORD_BITS;
}

bool mw_carrier_template_copy(struct mw_carrier_template *t, const struct mw_carrier_copy *copy)
{
	struct mw_carrier_copy low = *copy;
	uint32_t room;

	if (!copy_exists(t, copy))
		return false;
	room = WORD_BITS - copy->to % WORD_BITS;
	if (t->n_copies + (copy->width > room ? 2u : 1u) > MW_CARRIER_COPIES_MAX)
		return false;
	if (copy->width > room) {
		struct mw_carrier_copy high = *copy;

		high.from = (uint8_t)(copy->from + copy->width - room);
		high.width = (uint8_t)room;
		low.width = (uint8_t)(copy->width - room);
		low.to = (uint8_t)(copy->to + room);
		t->copy[t->n_copies++] = high;
	}
	t->copy[t->n_copies++] = low;
	return true;
}

void mw_carrier_expand(const struct mw_carrier_template *t, const struct mw_carrier_key *key,
		       struct mw_carrier *out)
{
	const uint64_t source[] = {
		[MW_CARRIER_FROM_EV] = key->ev,
		[MW_CARRIER_FROM_HOST] = key->host,
		[MW_CARRIER_FROM_SUBNET] = key->subnet,
	};
	uint64_t word[MW_CARRIER_WORDS];

	memcpy(word, t->base, sizeof(word));
	for (uint32_t i = 0; i < t->n_copies; i++) {
		const struct mw_carrier_copy *c = &t->copy[i];
		uint64_t mask = low_bits(c->width);
		uint64_t *w = &word[c->to / WORD_BITS];
		uint64_t value = source[c->source] >> c->from;

		if (c->source != MW_CARRIER_FROM_EV)
			value += *w >> shift_of(c);
		*w = (*w & ~(mask << shift_of(c))) | (value & mask) << shift_of(c);
	}
	out->has_segment = t->has_segment;
	for (uint32_t i = 0; i < 2; i++) {
		mb_store_be64(out->dst + i * sizeof(word[0]), word[i]);
		mb_store_be64(out->segment + i * sizeof(word[0]), word[2 + i]);
	}
}
