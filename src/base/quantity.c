/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quantity.c - a number and a unit from a table.
 *
 * The fraction is kept as digits / 10^n, so that nothing here is a floating-point number.
 */
#include "base/quantity.h"

#include <string.h>

/* What a number may end with, largest first, and what it is multiplied by then. */
struct unit {
	char suffix[4];
	uint64_t factor;
};

static const struct unit rate_units[] = {
	{"T", UINT64_C(1000000000000)}, {"G", 1000000000}, {"M", 1000000}, {"k", 1000}, {"", 1}};
static const struct unit byte_units[] = {{"G", 1u << 30},   {"M", 1u << 20},   {"k", 1u << 10},
					 {"", 1},	    {"GiB", 1u << 30}, {"MiB", 1u << 20},
					 {"KiB", 1u << 10}, {"K", 1u << 10}};
static const struct unit time_units[] = {{"d", UINT64_C(86400000000000)},
					 {"h", UINT64_C(3600000000000)},
					 {"m", UINT64_C(60000000000)},
					 {"s", 1000000000},
					 {"ms", 1000000},
					 {"us", 1000},
					 {"ns", 1}};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* With no more digits than these a fraction times any factor fits in 64 bits; see
 * scale_fraction. */
#define FRACTION_DIGITS 9u

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* read_digits reads one digit or more; *end is behind them. */
static bool read_digits(const char *text, const char **end, uint64_t *out)
{
	uint64_t n = 0;

	if (!is_digit(*text))
		return false;
	for (; is_digit(*text); text++)
		if (__builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*text - '0'), &n))
			return false;
	*end = text;
	*out = n;
	return true;
}

static const struct unit *find_unit(const struct unit *units, size_t n, const char *suffix)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(units[i].suffix, suffix) == 0)
			return &units[i];
	return NULL;
}

/* scale_fraction returns factor x digits / scale, rounded; scale is a power of ten. */
static uint64_t scale_fraction(uint64_t factor, uint64_t digits, uint64_t scale)
{
	while (scale > 1 && factor % 10 == 0) {
		factor /= 10;
		scale /= 10;
	}
	return (digits * factor + scale / 2) / scale;
}

/* read reads "12", "12k" or "1.5k" by a table of units. */
static bool read_quantity(const char *text, const struct unit *units, size_t n_units, uint64_t *out)
{
	uint64_t whole, digits = 0, scale = 1;
	const struct unit *unit;
	const char *end;

	if (!read_digits(text, &end, &whole))
		return false;
	if (*end == '.') {
		const char *begin = end + 1;

		if (!read_digits(begin, &end, &digits) || end > begin + FRACTION_DIGITS)
			return false;
		for (; begin < end; begin++)
			scale *= 10;
	}
	unit = find_unit(units, n_units, end);
	if (!unit && !*end && !whole && scale == 1)
		unit = &units[0]; /* nothing is nothing in any unit */
	if (!unit)
		return false;
	return !__builtin_mul_overflow(whole, unit->factor, &whole) &&
	       !__builtin_add_overflow(whole, scale_fraction(unit->factor, digits, scale), out);
}

static bool read_quantity_within(const char *text, const struct unit *units, size_t n_units,
				 uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t n;

	if (!read_quantity(text, units, n_units, &n) || n < min || n > max)
		return false;
	*out = n;
	return true;
}

bool mb_quantity_read_rate(const char *text, uint64_t min, uint64_t max, uint64_t *bps)
{
	return read_quantity_within(text, rate_units, COUNT(rate_units), min, max, bps);
}

bool mb_quantity_read_bytes(const char *text, uint64_t min, uint64_t max, uint64_t *bytes)
{
	return read_quantity_within(text, byte_units, COUNT(byte_units), min, max, bytes);
}

bool mb_quantity_read_time(const char *text, uint64_t min, uint64_t max, uint64_t *ns)
{
	return read_quantity_within(text, time_units, COUNT(time_units), min, max, ns);
}

/* write writes value in the first unit that divides it; the last one divides everything. */
static char *write_quantity(char *out, const struct unit *units, uint64_t value)
{
	char reversed[20];
	size_t n = 0, at = 0;

	if (!value) {
		out[0] = '0';
		out[1] = '\0';
		return out;
	}
	while (value % units->factor != 0)
		units++;
	for (value /= units->factor; value; value /= 10)
		reversed[n++] = (char)('0' + value % 10);
	while (n > 0)
		out[at++] = reversed[--n];
	memcpy(out + at, units->suffix, sizeof(units->suffix));
	return out;
}

char *mb_quantity_write_rate(char *out, uint64_t bps)
{
	return write_quantity(out, rate_units, bps);
}

char *mb_quantity_write_bytes(char *out, uint64_t bytes)
{
	return write_quantity(out, byte_units, bytes);
}

char *mb_quantity_write_time(char *out, uint64_t ns)
{
	return write_quantity(out, time_units, ns);
}
