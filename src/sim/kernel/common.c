/* SPDX-License-Identifier: BSD-2-Clause */
/* common.c - see common.h. */
#include "sim/kernel/common.h"

#include <stdarg.h>
#include <stdio.h>

int ms_compare(const uint64_t *a, const uint64_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	return ms_compare(a, b, 1);
}

void ms_sort(uint64_t *numbers, size_t n)
{
	if (n > 1)
		qsort(numbers, n, sizeof(*numbers), by_value);
}

uint64_t ms_percentile(const uint64_t *sorted, size_t n, uint32_t per_mille)
{
	size_t rank = (n * per_mille + 999) / 1000;

	return sorted[rank ? rank - 1 : 0];
}

bool ms_refuse(char *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, MS_WHY_BYTES, format, args);
	va_end(args);
	return false;
}
