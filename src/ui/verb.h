/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verb.h - a verb of `mrc` as a table: its name, flags, operands and texts, and what runs it.
 * Command line, --help, mrc(1) and the completion of shells are all made from it.
 */
#ifndef SOFTMRC_UI_VERB_H
#define SOFTMRC_UI_VERB_H

#include "ui/flags.h"

#include <stdbool.h>
#include <stddef.h>

struct ui_choice {
	const char *word;
	const char *value; /* what stands behind the word, or NULL */
	const char *about; /* one line, or NULL */
};

/* The words that a value of a flag, or an operand, may be. */
struct ui_choices {
	const char *of;	  /* the value's name in usage lines: "FORMAT" */
	const char *head; /* the line above the list in --help; NULL: completion only */
	/* at writes choice number i; false: there are fewer. */
	bool (*at)(size_t i, struct ui_choice *out);
};

/* Texts are whole sentences without line breaks, unless it says lines. */
struct ui_verb {
	const char *name;     /* the words that call it: "mrc sim run" */
	const char *summary;  /* for the list of verbs, no full stop */
	const char *usage;    /* lines: what may follow the name */
	const char *about;    /* what it does */
	const char *notes;    /* what comes after the flags, or NULL */
	const char *examples; /* lines, or NULL */
	const char *exits;    /* exit statuses; NULL: 0 good, 2 wrong usage */
	const char *operands; /* names of those that completion knows: "SCENARIO", or NULL */
	const struct ui_flag *flags;
	size_t n_flags;
	const struct ui_choices *const *choices; /* up to a NULL; or NULL */
	const struct ui_verb *const *verbs;	 /* the verbs below it, up to a NULL; or NULL */
	int (*run)(int argc, char **argv);	 /* like main(); NULL: only the verbs below run */
};

#define UI_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ui_verb_word returns the last word of its name. */
const char *ui_verb_word(const struct ui_verb *verb);

/* ui_verb_find returns the verb below it of that word; NULL: there is none. */
const struct ui_verb *ui_verb_find(const struct ui_verb *verb, const char *word);

/*
 * ui_verb_run runs a verb, or the one below it that argv[1] names. argv[0] is its own word. It
 * returns the exit status; a wrong word, or none, is a message on stderr and 2.
 */
int ui_verb_run(const struct ui_verb *verb, int argc, char **argv);

/* ui_verb_refuse says on stderr that no such word is below the verb, and which is near. Returns 2.
 */
int ui_verb_refuse(const struct ui_verb *verb, const char *word);

/*
 * ui_verb_parse reads flags into *out, the structure that the offsets of the verb's flags belong
 * to, and at most `max` operands into operand[]; *n of them were there. With max == 0 both may be
 * NULL. --help prints the help. What is not UI_FLAGS_OK is the exit status to end with.
 */
enum ui_flags_result ui_verb_parse(const struct ui_verb *verb, void *out, int argc, char **argv,
				   const char **operand, size_t max, size_t *n);

#endif
