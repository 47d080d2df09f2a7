/* SPDX-License-Identifier: BSD-2-Clause */
/* text.c - strings and numbers into a buffer that may be too small. */
#include "wire/text.h"

#include "base/assert.h"

/* A 64-bit number has at most 20 decimal digits. */
#define DIGITS_MAX 20u

void mw_text_init(struct mw_text *t, char *out, size_t size)
{
	*t = (struct mw_text){.out = out, .size = size};
	if (size > 0)
		out[0] = '\0';
}

static void put_char(struct mw_text *t, char c)
{
	if (t->len + 1 < t->size) {
		t->out[t->len] = c;
		t->out[t->len + 1] = '\0';
	}
	t->len++;
}

void mw_text_put(struct mw_text *t, const char *s)
{
	while (*s)
		put_char(t, *s++);
}

static void put_number(struct mw_text *t, uint64_t v, unsigned base, unsigned digits_min)
{
	char digits[DIGITS_MAX];
	unsigned n = 0;

	while (v > 0 || n < digits_min) {
		digits[n++] = "0123456789abcdef"[v % base];
		v /= base;
	}
	while (n > 0)
		put_char(t, digits[--n]);
}

void mw_text_put_u(struct mw_text *t, uint64_t v)
{
	put_number(t, v, 10, 1);
}

void mw_text_put_i(struct mw_text *t, int64_t v)
{
	put_char(t, v < 0 ? '-' : '+');
	put_number(t, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 10, 1);
}

void mw_text_put_x(struct mw_text *t, uint64_t v, unsigned digits)
{
	mb_assert(digits >= 1 && digits <= 16);
	mw_text_put(t, "0x");
	put_number(t, v, 16, digits);
}
