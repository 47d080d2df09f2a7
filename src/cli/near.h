/* SPDX-License-Identifier: BSD-2-Clause */
/* near.h - which known word did they mean? */
#ifndef SOFTMRC_CLI_NEAR_H
#define SOFTMRC_CLI_NEAR_H

#include <stddef.h>

/* Words longer than this are near to nothing. */
#define CLI_NEAR_MAX 63u

/*
 * cli_near_distance counts the letters to insert, remove, replace or swap with a neighbour that
 * turn one word into the other; CLI_NEAR_MAX + 1 when one of them is too long.
 */
size_t cli_near_distance(const char *a, const char *b);

/* cli_near_find returns the known word nearest to `word`, or NULL when none resembles it. */
const char *cli_near_find(const char *word, const char *const *known, size_t n);

#endif
