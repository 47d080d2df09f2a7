/* SPDX-License-Identifier: BSD-2-Clause */
/* printable.h - text of others, which may hold anything, for a terminal. */
#ifndef SOFTMRC_BASE_PRINTABLE_H
#define SOFTMRC_BASE_PRINTABLE_H

#include <stddef.h>

/*
 * mb_printable makes the `size` bytes at text, 1 or more, a terminated text of printable ASCII:
 * other bytes become '?', for an escape sequence would move the cursor, and what a byte above 127
 * means depends on the terminal.
 */
static inline char *mb_printable(char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size - 1 && text[i]; i++)
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
	text[i] = '\0';
	return text;
}

#endif
