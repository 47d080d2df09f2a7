/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * named_text.h - text files that the build put into a program (cmake/embed_text.cmake), by name:
 * arrays that end with an element of NULLs.
 */
#ifndef SOFTMRC_BASE_NAMED_TEXT_H
#define SOFTMRC_BASE_NAMED_TEXT_H

#include <stddef.h>

struct mb_named_text {
	const char *name;  /* of the file, without folder and ending */
	const char *text;  /* the file, byte for byte */
	const char *about; /* its first line, if that is a comment, without "# "; else "" */
};

/* mb_named_text_at returns text number n, NULL: there are fewer. */
const struct mb_named_text *mb_named_text_at(const struct mb_named_text *list, size_t n);

/* mb_named_text_find returns the text of a name, NULL: there is none. */
const struct mb_named_text *mb_named_text_find(const struct mb_named_text *list, const char *name);

/* mb_named_text_near returns the name nearest to a wrong one, NULL: none resembles it. */
const char *mb_named_text_near(const struct mb_named_text *list, const char *name);

#endif
