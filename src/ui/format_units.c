/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers for eyes: see text.h. */
#include "ui/text.h"

#include <stdio.h>

/* Three digits that count: 1.23, 12.3, 123. */
static void three_digits(char *out, double n, const char *gap, const char *unit)
{
	int digits = n < 9.995 ? 2 : n < 99.95 ? 1 : 0;

	snprintf(out, UI_UNITS_MAX, "%.*f%s%s", digits, n, gap, unit);
}

/* Divides until what is left is short, or the units are used up. */
static size_t scale_number(double *n, double step, size_t units)
{
	size_t i = 0;

	while (i + 1 < units && *n >= step * 0.9995) {
		*n /= step;
		i++;
	}
	return i;
}

char *ui_units_count(char *out, double n)
{
	static const char *const unit[] = {"", "k", "M", "G", "T"};
	size_t i;

	if (n < 9999.5) {
		snprintf(out, UI_UNITS_MAX, "%.0f", n);
		return out;
	}
	i = scale_number(&n, 1e3, sizeof(unit) / sizeof(unit[0]));
	three_digits(out, n, "", unit[i]);
	return out;
}

char *ui_units_bits(char *out, double bps)
{
	static const char *const unit[] = {"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"};
	size_t i = scale_number(&bps, 1e3, sizeof(unit) / sizeof(unit[0]));

	if (i == 0)
		snprintf(out, UI_UNITS_MAX, "%.0f b/s", bps);
	else
		three_digits(out, bps, " ", unit[i]);
	return out;
}

char *ui_units_bytes(char *out, uint64_t bytes)
{
	static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double n = (double)bytes;
	size_t i = scale_number(&n, 1024, sizeof(unit) / sizeof(unit[0]));

	if ((double)(uint64_t)n == n)
		snprintf(out, UI_UNITS_MAX, "%.0f %s", n, unit[i]);
	else
		three_digits(out, n, " ", unit[i]);
	return out;
}

char *ui_units_time(char *out, uint64_t ns)
{
	static const char *const unit[] = {"ns", "us", "ms", "s"};
	double n = (double)ns;
	size_t i = scale_number(&n, 1e3, sizeof(unit) / sizeof(unit[0]));

	if (i == 0)
		snprintf(out, UI_UNITS_MAX, "%.0f ns", n);
	else
		three_digits(out, n, " ", unit[i]);
	return out;
}

char *ui_units_ev(char *out, uint32_t ev)
{
	snprintf(out, UI_UNITS_MAX, ev > UINT16_MAX ? "0x%08x" : "%u", ev);
	return out;
}
