/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verb.h - a verb of `mrc` as a table: its name, flags, operands and texts, and what runs it.
 * Command line, --help, mrc(1) and the completion of shells are all made from it.
 */
#ifndef SOFTMRC_UI_VERB_H
#define SOFTMRC_UI_VERB_H

#include "ui/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Command lines as tables: name, kind, range and help of each flag, and which member of the
 * options takes its value. Every error names the flag, the value and what is allowed.
 */

enum ui_flag_kind {
	UI_FLAG_SWITCH, /* bool: the flag alone makes it `value` */
	UI_FLAG_U32,	/* uint32_t, min .. max */
	UI_FLAG_U64,	/* uint64_t, min .. max */
	UI_FLAG_RATE,	/* uint64_t, bits per second with k, M or G, min .. max */
	UI_FLAG_BYTES,	/* uint64_t, bytes with k, M or G (powers of 1024), min .. max */
	UI_FLAG_TIME,	/* uint64_t nanoseconds, a number with ns, us, ms, s or m, min .. max */
	UI_FLAG_TEXT,	/* const char *, not empty */
	UI_FLAG_MAYBE,	/* const char *: what follows `=`; "": the flag is alone, or has `-` */
	UI_FLAG_TEXTS,	/* struct ui_flag_texts: the flag may be given several times */
};

#define UI_FLAG_TEXTS_MAX 64u

struct ui_flag_texts {
	const char *text[UI_FLAG_TEXTS_MAX];
	size_t n;
};

struct ui_flag {
	const char *name; /* with its dashes */
	enum ui_flag_kind kind;
	const char *value; /* what --help calls the value; of a switch NULL */
	const char *help;
	size_t at; /* offset of its value in the structure that takes the options */
	uint64_t min, max;
};

/* Flags without a range; the value goes to a member of struct `type`. */
#define UI_FLAG(kind, name, type, member, value, help)                       \
	{                                                                    \
		name, kind, value, help, offsetof(struct type, member), 0, 0 \
	}
#define UI_SWITCH(name, type, member, help) UI_FLAG(UI_FLAG_SWITCH, name, type, member, NULL, help)
#define UI_TEXT(name, type, member, value, help) \
	UI_FLAG(UI_FLAG_TEXT, name, type, member, value, help)
#define UI_TEXTS(name, type, member, value, help) \
	UI_FLAG(UI_FLAG_TEXTS, name, type, member, value, help)
#define UI_MAYBE(name, type, member, value, help) \
	UI_FLAG(UI_FLAG_MAYBE, name, type, member, value, help)

struct ui_flag_table {
	const char *who; /* begins messages: "mrc demo" */
	const struct ui_flag *flag;
	size_t n;
};

/* What is not UI_FLAGS_OK is the exit status that the program ends with. */
enum ui_flags_result {
	UI_FLAGS_OK = -1,
	UI_FLAGS_HELP = 0,  /* --help or -h was among them; nothing was printed */
	UI_FLAGS_ERROR = 2, /* a message was printed on stderr */
};

/*
 * ui_flags_parse reads argv[1 ..]; values of flags go into *out. Words without a dash, and a
 * dash alone, are operands: they go to operand[0 .. max-1], *n says how many there are, one more is
 * an error. With max == 0 operand and n may be NULL.
 */
enum ui_flags_result ui_flags_parse(const struct ui_flag_table *table, void *out, int argc,
				    char **argv, const char **operand, size_t max, size_t *n);

struct ui_choice {
	const char *word;
	const char *value; /* what follows the word, or NULL */
	const char *about; /* one line, or NULL */
};

/* The words that a value of a flag, or an operand, may be. */
struct ui_choices {
	const char *of;	  /* the value's name in usage lines: "FORMAT" */
	const char *head; /* the line above the list in --help; NULL: completion only */
	/* at writes choice number i, whose texts are valid until the next call; false: there are
	 * fewer. NULL: the words are not known before they are wanted. */
	bool (*at)(size_t i, struct ui_choice *out);
	const char *command; /* completion only: prints more words, a line each; NULL: none */
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

/*
 * ui_verb_end returns the exit status of a program whose verb has returned `status`. What was
 * printed and did not reach standard output, as on a full disk, is said on stderr, and what was
 * good is UI_FLAGS_ERROR: other statuses say something of their own.
 */
int ui_verb_end(const struct ui_verb *verb, int status);

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

/* What `mrc VERB --help` prints. */

/* ui_help_write appends usage, flags, choices, examples and exit statuses of a verb. */
void ui_help_write(const struct ui_verb *verb, struct ui_text *out);

/* Scripts with which shells complete the command's verbs, flags and values. */

/* Each appends the script for one shell; `root` is the command. */
void ui_completion_bash(const struct ui_verb *root, struct ui_text *out);
void ui_completion_zsh(const struct ui_verb *root, struct ui_text *out);

/* The manual page mrc(1). */

/* ui_manual_write appends the page in roff: a section for each verb below `root`. */
void ui_manual_write(const struct ui_verb *root, struct ui_text *out);

#endif
