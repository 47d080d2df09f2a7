/* SPDX-License-Identifier: BSD-2-Clause */
/* input.h - input files: their text, lines, words and labels, and what is wrong with them. */
#ifndef SOFTMRC_SIM_IMPORT_INPUT_H
#define SOFTMRC_SIM_IMPORT_INPUT_H

#include "sim/kernel/common.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * What is wrong with an input file, in one line: FILE:LINE: what is wrong; what is allowed. Every
 * reader of a file stops at the first error and hands back nothing.
 */
#define MS_FILE_ERROR_BYTES 640u

struct ms_file_error {
	char text[MS_FILE_ERROR_BYTES];
};

/*
 * ms_file_set_error writes the message; line 0 stands for the file as a whole. Returns false, so
 * that a reader can end with it.
 */
__attribute__((format(printf, 4, 5))) bool ms_file_set_error(struct ms_file_error *error,
							     const char *file, uint32_t line,
							     const char *format, ...);
/* ms_file_set_no_memory is the same for a file that was too large for the memory there is. */
bool ms_file_set_no_memory(struct ms_file_error *error, const char *file);

/* Whole files as text, and files in the folder of others. */
/* Connection matrices of 100,000 hosts are some tens of megabytes. */
#define MS_FILE_BYTES_MAX (1u << 30)

/*
 * ms_file_load reads a file; the text ends with a zero byte and is the caller's to free. NULL:
 * *error says why it cannot be read, or that it is no text. Blocks on the file.
 */
char *ms_file_load(const char *path, struct ms_file_error *error);
/*
 * ms_file_sibling_path writes the path of `name` as a file names it that stands at `file`: next to
 * it, unless name is absolute. false: longer than size.
 */
bool ms_file_sibling_path(const char *file, const char *name, char *out, size_t size);

/*
 * Text files as lines of words.
 *
 * Lines end with \n or \r\n. What follows # is a comment; lines without a word are passed over.
 * With a separator other than a blank (CSV) words are what stands between separators, without the
 * blanks around them, and may be empty. Nothing is copied: words point into the text.
 */
#define MS_WORDS_MAX 32u
/* Long enough for any number or name; longer words are cut in messages. */
#define MS_WORD_BYTES 48u

struct ms_word {
	const char *at;
	size_t len;
};

struct ms_words {
	const char *file; /* its name in messages */
	struct ms_file_error *error;
	const char *rest; /* of the text */
	char separator;	  /* ' ' for blanks and tabs */
	uint32_t line;	  /* of the words below, from 1 */
	uint32_t n;	  /* MS_WORDS_MAX + 1: the line has more than MS_WORDS_MAX */
	struct ms_word word[MS_WORDS_MAX];
};

/* ms_words_init begins at the first line; the text ends with a zero byte and must outlive it. */
void ms_words_init(struct ms_words *w, const char *file, const char *text, char separator,
		   struct ms_file_error *error);
/* ms_words_next takes the next line that has a word; false: there is none. */
bool ms_words_next(struct ms_words *w);
/* ms_words_refuse writes to *error what is wrong with the line. Returns false. */
__attribute__((format(printf, 2, 3))) bool ms_words_refuse(const struct ms_words *w,
							   const char *format, ...);

/* ms_word_is compares; ms_word_is_nocase takes no account of case. */
bool ms_word_is(const struct ms_word *word, const char *text);
bool ms_word_is_nocase(const struct ms_word *word, const char *text);
/* ms_word_copy writes the word, cut where it is too long, and returns out. */
char *ms_word_copy(const struct ms_word *word, char out[MS_WORD_BYTES]);
/* ms_words_copy is the same of word i of the line, "nothing" where the line has fewer. */
char *ms_words_copy(const struct ms_words *w, uint32_t i, char out[MS_WORD_BYTES]);
/* ms_word_find returns which of n names a word is; n: none of them. */
size_t ms_word_find(const struct ms_word *word, const char *const *names, size_t n);
/* ms_word_u64 reads decimal digits; false: they are none, or not in min .. max. */
bool ms_word_u64(const struct ms_word *word, uint64_t min, uint64_t max, uint64_t *out);
/*
 * ms_word_parts reads a decimal number, "0.53" or "53", in parts of 10^decimals and cuts off
 * further digits; false: it is none, or has more than 18 digits that count.
 */
bool ms_word_parts(const struct ms_word *word, uint32_t decimals, uint64_t *out);

/* Names of operations within a rank, and what they stand for; a hash table. */
struct ms_label {
	size_t at; /* of its text */
	uint32_t len, hash, value;
};

/* All zeros is empty. */
struct ms_labels {
	MS_GROW(char) text;
	MS_GROW(struct ms_label) label;
	uint32_t *bucket; /* a label and one more; 0: free */
	size_t buckets;	  /* a power of two */
};

void ms_labels_fini(struct ms_labels *l);
/* ms_labels_clear forgets all names and keeps the memory. */
void ms_labels_clear(struct ms_labels *l);

enum ms_labels_result {
	MS_LABEL_ADDED,
	MS_LABEL_THERE, /* nothing changed */
	MS_LABEL_NO_MEMORY,
};

/* ms_labels_add adds a name. */
enum ms_labels_result ms_labels_add(struct ms_labels *l, const char *name, uint32_t len,
				    uint32_t value);
/* ms_labels_find returns whether there is such a name, and what it stands for. */
bool ms_labels_find(const struct ms_labels *l, const char *name, uint32_t len, uint32_t *value);

#endif
