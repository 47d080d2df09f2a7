/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.h - building a line of text in a caller's buffer, without stdio.
 *
 * As with snprintf, what does not fit is dropped and still counted, so callers need not check for
 * room between two calls.
 */
#ifndef SOFTMRC_WIRE_TEXT_H
#define SOFTMRC_WIRE_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct mw_text {
	char *out;
	size_t size; /* bytes in out */
	size_t len;  /* characters put so far, those without room included */
};

/* mw_text_init begins an empty text in out[0..size); out may be NULL when size is 0. */
void mw_text_init(struct mw_text *t, char *out, size_t size);

/* mw_text_put appends a string. */
void mw_text_put(struct mw_text *t, const char *s);

/* mw_text_put_u appends a number in decimal. */
void mw_text_put_u(struct mw_text *t, uint64_t v);

/* mw_text_put_i appends a number in decimal with its sign, + included. */
void mw_text_put_i(struct mw_text *t, int64_t v);

/* mw_text_put_x appends 0x and at least `digits` (1..16) hexadecimal digits, lower case. */
void mw_text_put_x(struct mw_text *t, uint64_t v, unsigned digits);

#endif
