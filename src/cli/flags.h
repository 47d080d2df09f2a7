/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flags.h - command lines as tables: name, kind, range and help of each flag, and which member of
 * the options takes its value. Every error names the flag, the value and what is allowed.
 */
#ifndef SOFTMRC_CLI_FLAGS_H
#define SOFTMRC_CLI_FLAGS_H

#include <stddef.h>
#include <stdint.h>

enum cli_flag_kind {
	CLI_FLAG_SWITCH, /* bool: the flag alone makes it `value` */
	CLI_FLAG_U32,	 /* uint32_t, min .. max */
	CLI_FLAG_U64,	 /* uint64_t, min .. max */
	CLI_FLAG_RATE,	 /* uint64_t, bits per second with k, M or G, min .. max */
	CLI_FLAG_BYTES,	 /* uint64_t, bytes with k, M or G (powers of 1024), min .. max */
	CLI_FLAG_TIME,	 /* uint64_t nanoseconds, a number with ns, us, ms, s or m, min .. max */
	CLI_FLAG_TEXT,	 /* const char *, not empty */
	CLI_FLAG_MAYBE,	 /* const char *: what follows `=`, or "" when the flag stands alone */
	CLI_FLAG_TEXTS,	 /* struct cli_flag_texts: the flag may stand there several times */
};

#define CLI_FLAG_TEXTS_MAX 64u

struct cli_flag_texts {
	const char *text[CLI_FLAG_TEXTS_MAX];
	size_t n;
};

struct cli_flag {
	const char *name; /* with its dashes */
	enum cli_flag_kind kind;
	const char *value; /* what --help calls the value; of a switch NULL */
	const char *help;
	size_t at; /* offset of its value in the structure that takes the options */
	uint64_t min, max;
};

/* Flags without a range; the value goes to a member of struct `type`. */
#define CLI_SWITCH(name, type, member, help)                                           \
	{                                                                              \
		name, CLI_FLAG_SWITCH, NULL, help, offsetof(struct type, member), 0, 0 \
	}
#define CLI_TEXT(name, type, member, value, help)                                     \
	{                                                                             \
		name, CLI_FLAG_TEXT, value, help, offsetof(struct type, member), 0, 0 \
	}
#define CLI_TEXTS(name, type, member, value, help)                                     \
	{                                                                              \
		name, CLI_FLAG_TEXTS, value, help, offsetof(struct type, member), 0, 0 \
	}
#define CLI_MAYBE(name, type, member, value, help)                                     \
	{                                                                              \
		name, CLI_FLAG_MAYBE, value, help, offsetof(struct type, member), 0, 0 \
	}

struct cli_flag_table {
	const char *who; /* begins messages: "mrc demo" */
	const struct cli_flag *flag;
	size_t n;
};

/* What is not CLI_FLAGS_OK is the exit status that the program ends with. */
enum cli_flags_result {
	CLI_FLAGS_OK = -1,
	CLI_FLAGS_HELP = 0,  /* --help or -h was among them; nothing was printed */
	CLI_FLAGS_ERROR = 2, /* a message was printed on stderr */
};

/*
 * cli_flags_parse reads argv[1 ..]; values of flags go into *out. Words without a dash are
 * operands: they go to operand[0 .. max-1], *n says how many there are, one more is an error. With
 * max == 0 operand and n may be NULL.
 */
enum cli_flags_result cli_flags_parse(const struct cli_flag_table *table, void *out, int argc,
				      char **argv, const char **operand, size_t max, size_t *n);

#endif
