/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tokens.h - text files as lines of words.
 *
 * Lines end with \n or \r\n. What follows # is a comment; lines without a word are passed over.
 * With a separator other than a blank (CSV) words are what stands between separators, without the
 * blanks around them, and may be empty. Nothing is copied: words point into the text.
 */
#ifndef SOFTMRC_SIM_IMPORT_TOKENS_H
#define SOFTMRC_SIM_IMPORT_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MS_WORDS_MAX 32u
/* Long enough for any number or name; longer words are cut in messages. */
#define MS_WORD_BYTES 48u

struct ms_word {
	const char *at;
	size_t len;
};

struct ms_words {
	const char *rest; /* of the text */
	char separator;	  /* ' ' for blanks and tabs */
	uint32_t line;	  /* of the words below, from 1 */
	uint32_t n;	  /* MS_WORDS_MAX + 1: the line has more than MS_WORDS_MAX */
	struct ms_word word[MS_WORDS_MAX];
};

/* ms_words_init begins at the first line; the text ends with a zero byte and must outlive it. */
void ms_words_init(struct ms_words *w, const char *text, char separator);
/* ms_words_next takes the next line that has a word; false: there is none. */
bool ms_words_next(struct ms_words *w);

/* ms_word_is compares; ms_word_is_nocase takes no account of case. */
bool ms_word_is(const struct ms_word *word, const char *text);
bool ms_word_is_nocase(const struct ms_word *word, const char *text);
/* ms_word_copy writes the word, cut where it is too long, and returns out. */
char *ms_word_copy(const struct ms_word *word, char out[MS_WORD_BYTES]);
/* ms_word_u64 reads decimal digits; false: they are none, or not in min .. max. */
bool ms_word_u64(const struct ms_word *word, uint64_t min, uint64_t max, uint64_t *out);
/*
 * ms_word_parts reads a decimal number, "0.53" or "53", in parts of 10^decimals and cuts off
 * further digits; false: it is none, or has more than 18 digits that count.
 */
bool ms_word_parts(const struct ms_word *word, uint32_t decimals, uint64_t *out);

#endif
