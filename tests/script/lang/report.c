/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c - see report.h. */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>

_Noreturn void report_fail(struct report *r, const char *format, ...)
{
	int used = snprintf(r->text, sizeof(r->text), "%s:%u: ", r->file, r->line);
	va_list args;

	if (used < 0 || (size_t)used >= sizeof(r->text))
		used = 0;
	va_start(args, format);
	vsnprintf(r->text + used, sizeof(r->text) - (size_t)used, format, args);
	va_end(args);
	longjmp(r->failed, 1);
}
