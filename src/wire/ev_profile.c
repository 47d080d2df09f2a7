/* SPDX-License-Identifier: BSD-2-Clause */
/* ev_profile.c - EVs by fields, bit by bit as the API words it, and as a template. */
#include "wire/ev_profile.h"

#include <string.h>

#include "base/assert.h"

#define WIRE_BITS (MW_EV_BYTES * 8u)
#define EV_BITS 32u

static uint32_t bits_of(uint32_t mask)
{
	uint32_t n = 0;

	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

/* Says whether a value has no bits above the lowest `width`, 1 .. 32. */
static bool fits(uint64_t value, uint32_t width)
{
	return value >> width == 0;
}

static enum mw_ev_profile_verdict check_field(const struct mw_ev_field *f)
{
	if (f->wire_width < 1 || f->wire_width > MW_EV_FIELD_BITS_MAX)
		return MW_EV_PROFILE_WIRE_WIDTH;
	if (f->width < 1 || f->width > f->wire_width)
		return MW_EV_PROFILE_WIDTH;
	if (!fits(f->init, f->width))
		return MW_EV_PROFILE_INIT;
	if (!fits(f->mask, f->width))
		return MW_EV_PROFILE_MASK;
	if (f->min > f->max || !fits(f->max, bits_of(f->mask)))
		return MW_EV_PROFILE_RANGE;
	return MW_EV_PROFILE_OK;
}

enum mw_ev_profile_verdict mw_ev_profile_check(const struct mw_ev_field *fields, size_t n,
					       size_t *wrong)
{
	uint32_t total = 0;

	*wrong = 0;
	if (n == 0)
		return MW_EV_PROFILE_EMPTY;
	for (size_t i = 0; i < n; i++) {
		enum mw_ev_profile_verdict verdict = check_field(&fields[i]);

		*wrong = i;
		if (verdict != MW_EV_PROFILE_OK)
			return verdict;
		total += fields[i].wire_width;
		if (total > WIRE_BITS)
			return MW_EV_PROFILE_TOTAL;
	}
	return MW_EV_PROFILE_OK;
}

const char *mw_ev_profile_verdict_name(enum mw_ev_profile_verdict verdict)
{
	static const char *const names[] = {
		[MW_EV_PROFILE_OK] = "ok",
		[MW_EV_PROFILE_EMPTY] = "has no fields",
		[MW_EV_PROFILE_WIRE_WIDTH] = "format field must be 1 to 32 bits wide",
		[MW_EV_PROFILE_WIDTH] = "field must have bits, and no more than its place",
		[MW_EV_PROFILE_TOTAL] = "fields are wider than 256 bits together",
		[MW_EV_PROFILE_INIT] = "initial value is wider than its field",
		[MW_EV_PROFILE_MASK] = "mask is wider than its field",
		[MW_EV_PROFILE_RANGE] = "range is empty or wider than the mask",
	};

	return names[verdict];
}

uint32_t mw_ev_profile_bits(const struct mw_ev_field *fields, size_t n)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < n; i++)
		bits += bits_of(fields[i].mask);
	return bits;
}

/* Bits of a string of bytes, counted from the left. */
static uint32_t get_bit(const uint8_t *bytes, uint32_t i)
{
	return (uint32_t)bytes[i / 8] >> (7 - i % 8) & 1u;
}

static void put_bit(uint8_t *bytes, uint32_t i, uint32_t bit)
{
	bytes[i / 8] = (uint8_t)(bytes[i / 8] | bit << (7 - i % 8));
}

static void assert_sound(const struct mw_ev_field *fields, size_t n)
{
	size_t wrong;

	mb_assert(mw_ev_profile_check(fields, n, &wrong) == MW_EV_PROFILE_OK);
}

void mw_ev_profile_expand(const struct mw_ev_field *fields, size_t n, const uint8_t ev[MW_EV_BYTES],
			  uint8_t wire[MW_EV_BYTES])
{
	uint32_t from = 0, to = 0;

	assert_sound(fields, n);
	memset(wire, 0, MW_EV_BYTES);
	for (size_t i = 0; i < n; i++)
		for (uint32_t bit = fields[i].wire_width; bit-- > 0; to++) {
			if (fields[i].mask >> bit & 1)
				put_bit(wire, to, get_bit(ev, from++));
			else
				put_bit(wire, to, fields[i].init >> bit & 1);
		}
}

/* What is written of a template while its fields are gone through. */
struct building {
	struct mw_carrier_template *t;
	uint32_t left; /* bits of the EV not used yet */
	uint32_t to;   /* where the field begins on the wire */
};

/* Adds the copies of one field, from its highest run of mask bits on. */
static bool add_field(struct building *b, const struct mw_ev_field *f)
{
	uint32_t bit = f->wire_width;

	while (bit > 0) {
		struct mw_carrier_copy copy = {
			.source = MW_CARRIER_FROM_EV,
			.to = (uint8_t)(b->to + f->wire_width - bit),
		};
		uint32_t width = 0;

		while (width < bit && f->mask >> (bit - 1 - width) & 1)
			width++;
		bit -= width > 0 ? width : 1;
		if (width == 0)
			continue;
		if (width > b->left)
			return false;
		b->left -= width;
		copy.from = (uint8_t)b->left;
		copy.width = (uint8_t)width;
		if (!mw_carrier_template_copy(b->t, &copy))
			return false;
	}
	b->to += f->wire_width;
	return true;
}

bool mw_ev_profile_template(const struct mw_ev_field *fields, size_t n,
			    struct mw_carrier_template *t)
{
	static const uint8_t none[MW_EV_BYTES];
	uint8_t wire[MW_EV_BYTES];
	struct mw_carrier base;
	struct building b = {.t = t, .left = EV_BITS};
	uint32_t total = 0;

	mw_ev_profile_expand(fields, n, none, wire);
	for (size_t i = 0; i < n; i++)
		total += fields[i].wire_width;
	memcpy(base.dst, wire, sizeof(base.dst));
	memcpy(base.segment, wire + sizeof(base.dst), sizeof(base.segment));
	base.has_segment = total > WIRE_BITS / 2;
	mw_carrier_template_init(t, &base);
	for (size_t i = 0; i < n; i++)
		if (!add_field(&b, &fields[i]))
			return false;
	return true;
}
