/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ui/verb.h - command lines as a table: one entry a flag, from which parser and --help are made.
 * Whatever does not fit is refused with the flag, the value and what is allowed.
 */
#ifndef EXAMPLES_COMMON_FLAGS_H
#define EXAMPLES_COMMON_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flag_kind {
	FLAG_SWITCH, /* bool *out becomes true */
	FLAG_NUMBER, /* uint64_t *out, min .. max */
	FLAG_BYTES,  /* the same, with a suffix k, M or G (powers of 1024) */
	FLAG_CHOICE, /* uint64_t *out is the index in choices */
};

struct flag {
	const char *name;  /* "--depth" */
	const char *value; /* what its argument is called in --help; NULL for a switch */
	const char *help;
	enum flag_kind kind;
	void *out; /* holds the default when parsing begins */
	uint64_t min, max;
	const char *const *choices; /* ends with NULL */
};

struct flags {
	const char *program;
	const char *synopsis; /* what follows the program's name */
	const char *about;
	const struct flag *table;
	size_t n;
	size_t operands_max; /* arguments that are no flags */
};

/*
 * flags_parse reads argv. Returns the number of operands and puts them into operands[0 ..
 * operands_max-1]; -1 after a message on stderr. --help prints the help and exits with 0.
 */
int flags_parse(const struct flags *f, int argc, char **argv, const char **operands);

#endif
