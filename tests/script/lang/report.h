/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report.h - where a script is and what is wrong with it.
 *
 * Whoever finds a fault calls report_fail, which writes "file:line: text" and leaves the script by
 * longjmp; nothing of an interpreter has to be undone, its owner frees it.
 */
#ifndef SCRIPT_REPORT_H
#define SCRIPT_REPORT_H

#include <setjmp.h>
#include <stddef.h>

struct report {
	const char *file;
	unsigned line;
	const char *source; /* the text of the line */
	char text[4096];    /* what went wrong, lines parted by \n; "" as long as nothing did */
	jmp_buf failed;
};

/* report_fail ends the script. The text may have several lines. */
_Noreturn void report_fail(struct report *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
