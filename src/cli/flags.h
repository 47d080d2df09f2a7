/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flags.h - command lines as tables: name, kind, range and help of each flag, and where its value
 * goes. Every error names the flag, the value and what is allowed.
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
	void *out;
	uint64_t min, max;
};

enum cli_flags_result {
	CLI_FLAGS_OK,
	CLI_FLAGS_HELP,	 /* --help or -h was among them; nothing was printed */
	CLI_FLAGS_ERROR, /* a message was printed on stderr */
};

/* cli_flags_parse reads argv[1 ..]; `who` begins messages, as in "mrc demo". */
enum cli_flags_result cli_flags_parse(const struct cli_flag *flags, size_t n, const char *who,
				      int argc, char **argv);

/*
 * cli_flags_parse_operands is the same for verbs that take words beside flags: what does not begin
 * with a dash. They go to operand[0 .. max-1], *n says how many there are; one more is an error.
 */
enum cli_flags_result cli_flags_parse_operands(const struct cli_flag *flags, size_t n_flags,
					       const char *who, int argc, char **argv,
					       const char **operand, size_t max, size_t *n);

/* cli_flags_help prints one line a flag on stdout. */
void cli_flags_help(const struct cli_flag *flags, size_t n);

#endif
