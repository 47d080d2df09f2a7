/* SPDX-License-Identifier: BSD-2-Clause */
/* Sentences about failures: see lab_error.h. */
#include "lab/lab_error.h"

#include <stdarg.h>
#include <stdio.h>

int ml_error_set(struct ml_error *e, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	return -1;
}
