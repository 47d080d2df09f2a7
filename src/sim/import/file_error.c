/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of the readers: see input.h. */
#include "sim/import/input.h"

#include <stdarg.h>
#include <stdio.h>

bool ms_file_set_error(struct ms_file_error *error, const char *file, uint32_t line,
		       const char *format, ...)
{
	va_list args;
	int at;

	if (line > 0)
		at = snprintf(error->text, sizeof(error->text), "%.255s:%u: ", file, line);
	else
		at = snprintf(error->text, sizeof(error->text), "%.255s: ", file);
	va_start(args, format);
	vsnprintf(error->text + at, sizeof(error->text) - (size_t)at, format, args);
	va_end(args);
	return false;
}

bool ms_file_set_no_memory(struct ms_file_error *error, const char *file)
{
	return ms_file_set_error(error, file, 0, "there is not enough memory to read it");
}
