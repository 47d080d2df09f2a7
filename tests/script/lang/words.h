/* SPDX-License-Identifier: BSD-2-Clause */
/* words.h - a line as words, and words as numbers and times. */
#ifndef SCRIPT_WORDS_H
#define SCRIPT_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "report.h"

#define WORDS_LINE_MAX 512u
#define WORDS_MAX 96u

struct words {
	struct report *report;
	char line[WORDS_LINE_MAX];
	char *word[WORDS_MAX];
	unsigned n, at;
};

/* words_split takes a line apart at blanks; a word that begins with # begins a comment. */
void words_split(struct words *w, struct report *r, const char *line);
/* words_peek returns the next word, or NULL at the end of the line. */
const char *words_peek(const struct words *w);
/* words_next takes the next word; `what` names it where the line has already ended. */
const char *words_next(struct words *w, const char *what);
/* words_accept takes the next word if it is this one. */
bool words_accept(struct words *w, const char *word);
void words_expect(struct words *w, const char *word);
/* words_end fails if anything is left. */
void words_end(struct words *w);

/* word_number reads 12, 0xC, 0b1100 or 1_000; `what` is for the error, max the largest allowed. */
uint64_t word_number(struct report *r, const char *what, const char *word, uint64_t max);
uint64_t words_number(struct words *w, const char *what, uint64_t max);
/* word_time reads 5ns, 1.024us, 3ms or 2s as nanoseconds. */
uint64_t word_time(struct report *r, const char *what, const char *word);
uint64_t words_time(struct words *w, const char *what);
/* words_choice takes a word of a list that ends with NULL and returns its index. */
unsigned words_choice(struct words *w, const char *what, const char *const *list);
/* word_list writes "a, b, c" for messages. */
void word_list(const char *const *list, char *out, size_t size);
/* words_print_time writes 1500 as 1.5us, as word_time reads it. */
void words_print_time(uint64_t ns, char *out, size_t size);

#endif
