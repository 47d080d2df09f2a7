/* SPDX-License-Identifier: BSD-2-Clause */
/* words.c - see words.h. */
#include "words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void words_split(struct words *w, struct report *r, const char *line)
{
	char *save = NULL;

	w->report = r;
	w->n = w->at = 0;
	if (strlen(line) >= sizeof(w->line))
		report_fail(r, "line longer than %zu characters", sizeof(w->line) - 1);
	strcpy(w->line, line);
	for (char *s = strtok_r(w->line, " \t\r\n", &save); s && *s != '#';
	     s = strtok_r(NULL, " \t\r\n", &save)) {
		if (w->n == WORDS_MAX)
			report_fail(r, "more than %u words in a line", WORDS_MAX);
		w->word[w->n++] = s;
	}
}

const char *words_peek(const struct words *w)
{
	return w->at < w->n ? w->word[w->at] : NULL;
}

const char *words_next(struct words *w, const char *what)
{
	if (w->at == w->n)
		report_fail(w->report, "the line ends where %s should stand", what);
	return w->word[w->at++];
}

bool words_accept(struct words *w, const char *word)
{
	if (w->at == w->n || strcmp(w->word[w->at], word) != 0)
		return false;
	w->at++;
	return true;
}

void words_expect(struct words *w, const char *word)
{
	const char *got = words_next(w, word);

	if (strcmp(got, word) != 0)
		report_fail(w->report, "'%s' where '%s' should stand", got, word);
}

void words_end(struct words *w)
{
	if (w->at < w->n)
		report_fail(w->report, "'%s' is unexpected", w->word[w->at]);
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

static bool read_digits(const char *s, unsigned base, uint64_t *value)
{
	bool any = false;

	*value = 0;
	for (; *s; s++) {
		unsigned d = (unsigned)digit_of(*s);

		if (*s == '_')
			continue;
		if (d >= base || *value > (UINT64_MAX - d) / base)
			return false;
		*value = *value * base + d;
		any = true;
	}
	return any;
}

uint64_t word_number(struct report *r, const char *what, const char *word, uint64_t max)
{
	uint64_t value;
	bool read;

	if (strncmp(word, "0x", 2) == 0)
		read = read_digits(word + 2, 16, &value);
	else if (strncmp(word, "0b", 2) == 0)
		read = read_digits(word + 2, 2, &value);
	else
		read = read_digits(word, 10, &value);
	if (!read)
		report_fail(r, "%s '%s' is not a number (12, 0xC, 0b1100)", what, word);
	if (value > max)
		report_fail(r, "%s %" PRIu64 " is out of range, allowed is 0 to %" PRIu64, what,
			    value, max);
	return value;
}

uint64_t words_number(struct words *w, const char *what, uint64_t max)
{
	return word_number(w->report, what, words_next(w, what), max);
}

static uint64_t unit_ns(const char *unit)
{
	if (strcmp(unit, "ns") == 0)
		return 1;
	if (strcmp(unit, "us") == 0)
		return 1000;
	if (strcmp(unit, "ms") == 0)
		return 1000000;
	return strcmp(unit, "s") == 0 ? 1000000000 : 0;
}

/* An hour, beyond which no script waits; products stay far below 2^64. */
#define TIME_MAX_S 3600u

uint64_t word_time(struct report *r, const char *what, const char *word)
{
	const char *s = word;
	uint64_t value = 0, scale = 1, unit;
	bool point = false;

	for (; (*s >= '0' && *s <= '9') || (*s == '.' && !point); s++) {
		if (*s == '.') {
			point = true;
			continue;
		}
		value = value * 10 + (uint64_t)(*s - '0');
		if (value > UINT64_C(1000000000000) || scale > UINT64_C(100000000))
			report_fail(r, "%s '%s' has too many digits", what, word);
		if (point)
			scale *= 10;
	}
	unit = unit_ns(s);
	if (strcmp(word, "0") == 0)
		return 0;
	if (s == word || unit == 0 || value * unit % scale != 0)
		report_fail(r, "%s '%s' is not a time (5ns, 1.024us, 3ms, 2s)", what, word);
	if (value / scale * unit > TIME_MAX_S * UINT64_C(1000000000))
		report_fail(r, "%s '%s' is longer than %us", what, word, TIME_MAX_S);
	return value * unit / scale;
}

uint64_t words_time(struct words *w, const char *what)
{
	return word_time(w->report, what, words_next(w, what));
}

void word_list(const char *const *list, char *out, size_t size)
{
	size_t used = 0;

	out[0] = 0;
	for (unsigned i = 0; list[i] && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", list[i]);
}

unsigned words_choice(struct words *w, const char *what, const char *const *list)
{
	const char *word = words_next(w, what);
	char allowed[512];

	for (unsigned i = 0; list[i]; i++)
		if (strcmp(list[i], word) == 0)
			return i;
	word_list(list, allowed, sizeof(allowed));
	report_fail(w->report, "%s '%s' is unknown, allowed is %s", what, word, allowed);
}

void words_print_time(uint64_t ns, char *out, size_t size)
{
	uint64_t unit = ns < 1000	  ? 1
			: ns < 1000000	  ? 1000
			: ns < 1000000000 ? 1000000
					  : 1000000000;
	const char *name = ns < 1000 ? "ns" : ns < 1000000 ? "us" : ns < 1000000000 ? "ms" : "s";
	char part[16] = "";

	if (ns % unit) {
		size_t end = (size_t)snprintf(part, sizeof(part), ".%0*" PRIu64,
					      unit == 1000	? 3
					      : unit == 1000000 ? 6
								: 9,
					      ns % unit);

		while (end > 0 && part[end - 1] == '0')
			part[--end] = 0;
	}
	snprintf(out, size, "%" PRIu64 "%s%s", ns / unit, part, name);
}
