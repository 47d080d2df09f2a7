/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * toml.c - a reader that goes through the text once, a byte at a time.
 *
 * Every function below takes what it reads off the cursor and returns NULL, or what is wrong. Line
 * ends are counted in one place, toml_next.
 */
#include "host/toml.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct toml_cursor {
	const char *at;
	uint32_t line;
	char table[MH_TOML_NAME_MAX];
	struct mh_toml_item item;
	size_t len; /* of item.value */
};

static void toml_next(struct toml_cursor *c)
{
	if (*c->at == '\n')
		c->line++;
	c->at++;
}

static void toml_blanks(struct toml_cursor *c)
{
	while (*c->at == ' ' || *c->at == '\t')
		toml_next(c);
}

/* toml_line_end takes a comment and the end of the line. */
static const char *toml_line_end(struct toml_cursor *c)
{
	toml_blanks(c);
	if (*c->at == '#')
		while (*c->at && *c->at != '\n')
			toml_next(c);
	if (*c->at == '\r' && c->at[1] == '\n')
		toml_next(c);
	if (*c->at == '\0')
		return NULL;
	if (*c->at != '\n')
		return "something follows the value; a line holds one key, or one [table]";
	toml_next(c);
	return NULL;
}

/* toml_gap takes blanks, comments and line ends, which may stand between elements of an array. */
static const char *toml_gap(struct toml_cursor *c)
{
	const char *wrong = NULL;

	toml_blanks(c);
	while (!wrong && (*c->at == '#' || *c->at == '\n' || *c->at == '\r')) {
		wrong = toml_line_end(c);
		toml_blanks(c);
	}
	return wrong;
}

static bool toml_is_bare(char b)
{
	return (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '0' && b <= '9') ||
	       b == '_' || b == '-';
}

static const char *toml_bare(struct toml_cursor *c, char name[MH_TOML_NAME_MAX])
{
	size_t n = 0;

	for (; toml_is_bare(*c->at); toml_next(c)) {
		if (n == MH_TOML_NAME_MAX - 1)
			return "a name is longer than 63 letters";
		name[n++] = *c->at;
	}
	name[n] = '\0';
	return n > 0 ? NULL
		     : "expected `key = value` or [table], with names of letters, digits, "
		       "_ and -";
}

static const char *toml_add(struct toml_cursor *c, char b)
{
	if (c->len == MH_TOML_VALUE_MAX - 1)
		return "a value is longer than 1023 bytes";
	c->item.value[c->len++] = b;
	return NULL;
}

/* toml_escape takes what follows a backslash. */
static const char *toml_escape(struct toml_cursor *c)
{
	static const char from[] = "\"\\btnfr", to[] = "\"\\\b\t\n\f\r";
	const char *found = *c->at ? strchr(from, *c->at) : NULL;

	if (!found)
		return "a backslash is followed by none of \" \\ b t n f r";
	toml_next(c);
	return toml_add(c, to[found - from]);
}

/* toml_string takes a string in "quotes", with escapes, or in 'quotes', without. */
static const char *toml_string(struct toml_cursor *c)
{
	char quote = *c->at;
	const char *wrong = NULL;

	if (c->at[1] == quote && c->at[2] == quote)
		return "strings of several lines are not read here";
	toml_next(c);
	while (!wrong && *c->at != quote) {
		char b = *c->at;

		if (((unsigned char)b < ' ' && b != '\t') || b == 127)
			return "a string is not closed in its line, or holds a control character";
		toml_next(c);
		wrong = b == '\\' && quote == '"' ? toml_escape(c) : toml_add(c, b);
	}
	if (!wrong)
		toml_next(c);
	return wrong;
}

static const char *toml_array(struct toml_cursor *c)
{
	const char *wrong;

	toml_next(c);
	wrong = toml_gap(c);
	while (!wrong && *c->at != ']') {
		size_t begin = c->len;

		if (*c->at != '"' && *c->at != '\'')
			return "an array holds strings, in quotes, with commas between them";
		wrong = toml_string(c);
		if (!wrong && memchr(c->item.value + begin, ',', c->len - begin))
			return "a string of an array holds a comma";
		if (!wrong)
			wrong = toml_gap(c);
		if (wrong || *c->at == ']')
			break;
		if (*c->at != ',')
			return "an array is not closed, or a comma is missing in it";
		toml_next(c);
		wrong = toml_gap(c);
		if (!wrong && *c->at != ']')
			wrong = toml_add(c, ',');
	}
	if (!wrong)
		toml_next(c);
	return wrong;
}

/* toml_integer takes decimal digits, single underscores between them, and a sign. */
static const char *toml_integer(struct toml_cursor *c)
{
	static const char what[] = "a value is a \"string\", a whole number in decimal, true, "
				   "false, or an array of strings";
	const char *wrong = NULL;
	bool digit = false;

	if (*c->at == '+')
		toml_next(c);
	else if (*c->at == '-')
		toml_next(c), wrong = toml_add(c, '-');
	if (c->at[0] == '0' && (toml_is_bare(c->at[1]) || c->at[1] == '.'))
		return what;
	for (; !wrong && ((*c->at >= '0' && *c->at <= '9') || (*c->at == '_' && digit));
	     toml_next(c)) {
		digit = *c->at != '_';
		if (digit)
			wrong = toml_add(c, *c->at);
	}
	return !wrong && (!digit || toml_is_bare(*c->at) || *c->at == '.') ? what : wrong;
}

static bool toml_word(struct toml_cursor *c, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(c->at, word, len) != 0 || toml_is_bare(c->at[len]))
		return false;
	memcpy(c->item.value, word, len);
	c->len = len;
	c->at += len;
	return true;
}

static const char *toml_value(struct toml_cursor *c)
{
	c->len = 0;
	if (*c->at == '"' || *c->at == '\'') {
		c->item.kind = MH_TOML_STRING;
		return toml_string(c);
	}
	if (*c->at == '[') {
		c->item.kind = MH_TOML_ARRAY;
		return toml_array(c);
	}
	if (toml_word(c, "true") || toml_word(c, "false")) {
		c->item.kind = MH_TOML_BOOLEAN;
		return NULL;
	}
	c->item.kind = MH_TOML_INTEGER;
	return toml_integer(c);
}

static const char *toml_table(struct toml_cursor *c)
{
	const char *wrong;

	toml_next(c);
	toml_blanks(c);
	wrong = toml_bare(c, c->table);
	if (wrong)
		return wrong;
	toml_blanks(c);
	if (*c->at != ']')
		return "[table] is not closed, or its name has parts, which no table here has";
	toml_next(c);
	return toml_line_end(c);
}

static const char *toml_item(struct toml_cursor *c)
{
	char key[MH_TOML_NAME_MAX];
	const char *wrong = toml_bare(c, key);

	if (wrong)
		return wrong;
	c->item.line = c->line;
	snprintf(c->item.name, sizeof(c->item.name), "%s%s%s", c->table, c->table[0] ? "." : "",
		 key);
	toml_blanks(c);
	if (*c->at != '=')
		return "a key is followed by `= value`";
	toml_next(c);
	toml_blanks(c);
	wrong = toml_value(c);
	if (wrong)
		return wrong;
	c->item.value[c->len] = '\0';
	return toml_line_end(c);
}

int mh_toml_read(const char *text, mh_toml_fn fn, void *ctx, uint32_t *line, const char **why)
{
	struct toml_cursor c = {.at = text, .line = 1};

	for (;;) {
		uint32_t begun;
		int stop;

		*why = toml_gap(&c);
		if (!*why && *c.at == '\0')
			return 0;
		begun = c.line;
		if (!*why && *c.at == '[') {
			*why = toml_table(&c);
			if (!*why)
				continue;
		}
		if (!*why)
			*why = toml_item(&c);
		*line = begun;
		if (*why)
			return EINVAL;
		stop = fn(ctx, &c.item);
		if (stop)
			return stop;
	}
}
