/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flags.h - command lines as tables: name, kind, range and help of each flag, and which member of
 * the options takes its value. Every error names the flag, the value and what is allowed.
 */
#ifndef SOFTMRC_UI_FLAGS_H
#define SOFTMRC_UI_FLAGS_H

#include <stddef.h>
#include <stdint.h>

enum ui_flag_kind {
	UI_FLAG_SWITCH, /* bool: the flag alone makes it `value` */
	UI_FLAG_U32,	/* uint32_t, min .. max */
	UI_FLAG_U64,	/* uint64_t, min .. max */
	UI_FLAG_RATE,	/* uint64_t, bits per second with k, M or G, min .. max */
	UI_FLAG_BYTES,	/* uint64_t, bytes with k, M or G (powers of 1024), min .. max */
	UI_FLAG_TIME,	/* uint64_t nanoseconds, a number with ns, us, ms, s or m, min .. max */
	UI_FLAG_TEXT,	/* const char *, not empty */
	UI_FLAG_MAYBE,	/* const char *: what follows `=`, or "" when the flag stands alone */
	UI_FLAG_TEXTS,	/* struct ui_flag_texts: the flag may stand there several times */
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
#define UI_SWITCH(name, type, member, help)                                           \
	{                                                                             \
		name, UI_FLAG_SWITCH, NULL, help, offsetof(struct type, member), 0, 0 \
	}
#define UI_TEXT(name, type, member, value, help)                                     \
	{                                                                            \
		name, UI_FLAG_TEXT, value, help, offsetof(struct type, member), 0, 0 \
	}
#define UI_TEXTS(name, type, member, value, help)                                     \
	{                                                                             \
		name, UI_FLAG_TEXTS, value, help, offsetof(struct type, member), 0, 0 \
	}
#define UI_MAYBE(name, type, member, value, help)                                     \
	{                                                                             \
		name, UI_FLAG_MAYBE, value, help, offsetof(struct type, member), 0, 0 \
	}

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

#endif
