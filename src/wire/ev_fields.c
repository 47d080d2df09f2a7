/* SPDX-License-Identifier: BSD-2-Clause */
/* ev_fields.c - EVs by fields, bit by bit as the API words it. */
#include "wire/ev_fields.h"

#include <string.h>

#include "base/assert.h"
#include "base/bits.h"

/* Says whether a value has no bits above the lowest `width`, 0 .. 32. */
static bool fits(uint32_t value, uint32_t width)
{
	return (uint64_t)value >> width == 0;
}

static uint32_t mask_bits(const struct mw_ev_field *f)
{
	return mb_popcount64(f->mask);
}

static bool field_valid(const struct mw_ev_field *f)
{
	return f->wire_width >= 1 && f->wire_width <= MW_EV_FIELD_BITS_MAX && f->width >= 1 &&
	       f->width <= f->wire_width && fits(f->init, f->width) && fits(f->mask, f->width) &&
	       f->min <= f->max && fits(f->max, mask_bits(f));
}

bool mw_ev_fields_check(const struct mw_ev_field *fields, uint32_t n)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!field_valid(&fields[i]))
			return false;
		total += fields[i].wire_width;
		if (total > MW_EV_BITS)
			return false;
	}
	return n > 0;
}

uint32_t mw_ev_fields_bits(const struct mw_ev_field *fields, uint32_t n)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < n; i++)
		bits += mask_bits(&fields[i]);
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

bool mw_ev_bits_are_zero(const uint8_t ev[MW_EV_BYTES], uint32_t from)
{
	for (uint32_t i = from; i < MW_EV_BITS; i++)
		if (get_bit(ev, i))
			return false;
	return true;
}

void mw_ev_fields_expand(const struct mw_ev_field *fields, uint32_t n,
			 const uint8_t ev[MW_EV_BYTES], uint8_t wire[MW_EV_BYTES])
{
	uint32_t from = 0, to = 0;

	mb_assert(mw_ev_fields_check(fields, n));
	memset(wire, 0, MW_EV_BYTES);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t bit = fields[i].wire_width; bit-- > 0; to++) {
			if (fields[i].mask >> bit & 1)
				put_bit(wire, to, get_bit(ev, from++));
			else
				put_bit(wire, to, fields[i].init >> bit & 1);
		}
}

/* ---- generated EVs ---- */

/* How many values a field takes, and the least of them. */
static uint64_t field_values(const struct mw_ev_field *f, uint32_t *least)
{
	*least = f->min;
	if (f->min == 0 && f->max == 0)
		return UINT64_C(1) << mask_bits(f);
	return (uint64_t)f->max - f->min + 1;
}

uint32_t mw_ev_fields_combinations(const struct mw_ev_field *fields, uint32_t n)
{
	uint64_t all = 1;
	uint32_t least;

	for (uint32_t i = 0; i < n && all <= UINT32_MAX; i++)
		all *= field_values(&fields[i], &least);
	return all < UINT32_MAX ? (uint32_t)all : UINT32_MAX;
}

/*
 * A count in the mixed radix of the fields, of which each digit is turned by the sum of those
 * before it: a turn keeps EVs different, and has neighbours differ in all their fields.
 */
void mw_ev_fields_generate(const struct mw_ev_field *fields, uint32_t n, uint32_t k, uint32_t count,
			   uint8_t ev[MW_EV_BYTES])
{
	uint64_t rest = k, turn = 0;
	uint32_t at = 0;

	mb_assert(k < count && count <= mw_ev_fields_combinations(fields, n));
	memset(ev, 0, MW_EV_BYTES);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t least;
		uint64_t values = field_values(&fields[i], &least);
		uint64_t digit = (rest % values + turn) % values;

		if (turn == 0 && rest == k && count < values)
			digit = k * values / count;
		rest /= values;
		turn += digit;
		for (uint32_t bit = mask_bits(&fields[i]); bit-- > 0;)
			put_bit(ev, at++, (uint32_t)((digit + least) >> bit & 1));
	}
}
