/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that grows: see text.h. */
#include "ui/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 1024u

void ui_text_fini(struct ui_text *t)
{
	free(t->data);
	*t = (struct ui_text){0};
}

void ui_text_clear(struct ui_text *t)
{
	t->len = 0;
	if (t->data)
		t->data[0] = '\0';
}

void ui_text_print(struct ui_text *t, FILE *to)
{
	if (t->len)
		fputs(t->data, to);
	ui_text_fini(t);
}

void ui_json_print(json_t *json, size_t flags)
{
	json_dumpf(json, stdout, flags);
	putchar('\n');
	json_decref(json);
}

static void make_room(struct ui_text *t, size_t more)
{
	size_t want = t->capacity ? t->capacity : FIRST_CAPACITY;
	char *grown;

	while (want < t->len + more + 1)
		want *= 2;
	if (want == t->capacity)
		return;
	grown = realloc(t->data, want);
	if (!grown) {
		fprintf(stderr, "mrc: out of memory\n");
		exit(1);
	}
	t->data = grown;
	t->capacity = want;
}

static void add_bytes(struct ui_text *t, const char *bytes, size_t n)
{
	make_room(t, n);
	memcpy(t->data + t->len, bytes, n);
	t->len += n;
	t->data[t->len] = '\0';
}

void ui_text_add(struct ui_text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0) {
		fprintf(stderr, "mrc: text cannot be formatted: %s\n", format);
		exit(1);
	}
	make_room(t, (size_t)n);
	va_start(args, format);
	vsnprintf(t->data + t->len, (size_t)n + 1, format, args);
	va_end(args);
	t->len += (size_t)n;
}

void ui_text_repeat(struct ui_text *t, const char *piece, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_bytes(t, piece, strlen(piece));
}

/* The length in bytes of the character or escape sequence at s, and whether it takes a column. */
static size_t next_character(const char *s, bool *visible)
{
	size_t n = 1;

	*visible = *s != '\033';
	if (*s == '\033') {
		while (s[n] && !(s[n] >= 'A' && s[n] <= 'Z') && !(s[n] >= 'a' && s[n] <= 'z'))
			n++;
		return s[n] ? n + 1 : n;
	}
	while (((unsigned char)s[n] & 0xc0) == 0x80)
		n++;
	return n;
}

size_t ui_text_width(const char *text)
{
	size_t columns = 0;
	bool visible;

	for (const char *s = text; *s; s += next_character(s, &visible)) {
		next_character(s, &visible);
		columns += visible;
	}
	return columns;
}

void ui_text_pad(struct ui_text *t, const char *text, size_t width)
{
	size_t columns = 0;
	bool visible;

	while (*text) {
		size_t n = next_character(text, &visible);

		if (visible && columns == width)
			break;
		add_bytes(t, text, n);
		columns += visible;
		text += n;
	}
	ui_text_repeat(t, " ", width - columns);
}

void ui_text_pad_left(struct ui_text *t, const char *text, size_t width)
{
	size_t columns = ui_text_width(text);

	if (columns < width)
		ui_text_repeat(t, " ", width - columns);
	add_bytes(t, text, strlen(text));
}
