/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * toml.c - a reader that goes through the text once, a byte at a time.
 *
 * Every function below takes what it reads off the cursor and returns NULL, or what is wrong. Line
 * ends are counted in one place, toml_advance.
 */
#include "base/toml.h"

#include <stdbool.h>
#include <string.h>

/* A name that [[name]] lines have, and how many of them there were. */
struct toml_list {
	char name[MB_TOML_NAME_MAX];
	uint32_t elements;
};

struct toml_cursor {
	const char *at;
	uint32_t line;
	char table[MB_TOML_NAME_MAX];
	struct toml_list lists[MB_TOML_LISTS_MAX];
	uint32_t n_lists;
	struct mb_toml_item item;
	size_t len; /* of item.value */
};

static void toml_advance(struct toml_cursor *c)
{
	if (*c->at == '\n')
		c->line++;
	c->at++;
}

static void toml_skip_blanks(struct toml_cursor *c)
{
	while (*c->at == ' ' || *c->at == '\t')
		toml_advance(c);
}

/* toml_end_line takes a comment and the end of the line. */
static const char *toml_end_line(struct toml_cursor *c)
{
	toml_skip_blanks(c);
	if (*c->at == '#')
		while (*c->at && *c->at != '\n')
			toml_advance(c);
	if (*c->at == '\r' && c->at[1] == '\n')
		toml_advance(c);
	if (*c->at == '\0')
		return NULL;
	if (*c->at != '\n')
		return "something follows the value; a line holds one key, or one [table]";
	toml_advance(c);
	return NULL;
}

/* toml_skip_gap takes blanks, comments and line ends, which may stand between elements of an
 * array. */
static const char *toml_skip_gap(struct toml_cursor *c)
{
	const char *wrong = NULL;

	toml_skip_blanks(c);
	while (!wrong && (*c->at == '#' || *c->at == '\n' || *c->at == '\r')) {
		wrong = toml_end_line(c);
		toml_skip_blanks(c);
	}
	return wrong;
}

static bool toml_is_bare(char b)
{
	return (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '0' && b <= '9') ||
	       b == '_' || b == '-';
}

/* toml_read_bare_key takes a bare name and writes it to name + *n. */
static const char *toml_read_bare_key(struct toml_cursor *c, char name[MB_TOML_NAME_MAX], size_t *n)
{
	size_t begin = *n;

	for (; toml_is_bare(*c->at); toml_advance(c)) {
		if (*n == MB_TOML_NAME_MAX - 1)
			return "a name is longer than 63 letters";
		name[(*n)++] = *c->at;
	}
	name[*n] = '\0';
	return *n > begin ? NULL
			  : "expected `key = value` or [table], with names of letters, digits, "
			    "_ and -";
}

static const char *toml_append_byte(struct toml_cursor *c, char b)
{
	if (c->len == MB_TOML_VALUE_MAX - 1)
		return "a value is longer than 4095 bytes";
	c->item.value[c->len++] = b;
	return NULL;
}

/* toml_read_escape takes what follows a backslash. */
static const char *toml_read_escape(struct toml_cursor *c)
{
	static const char from[] = "\"\\btnfr", to[] = "\"\\\b\t\n\f\r";
	const char *found = *c->at ? strchr(from, *c->at) : NULL;

	if (!found)
		return "a backslash is followed by none of \" \\ b t n f r";
	toml_advance(c);
	return toml_append_byte(c, to[found - from]);
}

/* toml_read_string takes a string in "quotes", with escapes, or in 'quotes', without. */
static const char *toml_read_string(struct toml_cursor *c)
{
	char quote = *c->at;
	const char *wrong = NULL;

	if (c->at[1] == quote && c->at[2] == quote)
		return "strings of several lines are not read here";
	toml_advance(c);
	while (!wrong && *c->at != quote) {
		char b = *c->at;

		if (((unsigned char)b < ' ' && b != '\t') || b == 127)
			return "a string is not closed in its line, or holds a control character";
		toml_advance(c);
		wrong = b == '\\' && quote == '"' ? toml_read_escape(c) : toml_append_byte(c, b);
	}
	if (!wrong)
		toml_advance(c);
	return wrong;
}

static bool toml_match_word(struct toml_cursor *c, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(c->at, word, len) != 0 || toml_is_bare(c->at[len]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (toml_append_byte(c, word[i]))
			return false;
	c->at += len;
	return true;
}

/* toml_read_digits takes decimal digits with single underscores between them. */
static const char *toml_read_digits(struct toml_cursor *c, const char *otherwise)
{
	const char *wrong = NULL;
	bool digit = false;

	for (; !wrong && ((*c->at >= '0' && *c->at <= '9') || (*c->at == '_' && digit));
	     toml_advance(c)) {
		digit = *c->at != '_';
		if (digit)
			wrong = toml_append_byte(c, *c->at);
	}
	return !wrong && !digit ? otherwise : wrong;
}

static const char *toml_read_sign(struct toml_cursor *c)
{
	const char *wrong = NULL;

	if (*c->at == '-')
		wrong = toml_append_byte(c, '-');
	if (*c->at == '-' || *c->at == '+')
		toml_advance(c);
	return wrong;
}

static const char *toml_read_exponent(struct toml_cursor *c, const char *otherwise)
{
	const char *wrong = toml_append_byte(c, 'e');

	toml_advance(c);
	if (!wrong)
		wrong = toml_read_sign(c);
	return wrong ? wrong : toml_read_digits(c, otherwise);
}

/* toml_read_number takes an integer, or a real number with a fraction, an exponent or both. */
static const char *toml_read_number(struct toml_cursor *c, enum mb_toml_kind *kind)
{
	static const char what[] = "a value is a \"string\", a number in decimal, true, false, or "
				   "an [array] of such values";
	const char *wrong = toml_read_sign(c);

	*kind = MB_TOML_INTEGER;
	if (c->at[0] == '0' && c->at[1] != 'e' && c->at[1] != 'E' && toml_is_bare(c->at[1]))
		return what;
	if (!wrong)
		wrong = toml_read_digits(c, what);
	if (!wrong && *c->at == '.') {
		*kind = MB_TOML_REAL;
		toml_advance(c);
		wrong = toml_append_byte(c, '.');
		if (!wrong)
			wrong = toml_read_digits(c, what);
	}
	if (!wrong && (*c->at == 'e' || *c->at == 'E')) {
		*kind = MB_TOML_REAL;
		wrong = toml_read_exponent(c, what);
	}
	return !wrong && (toml_is_bare(*c->at) || *c->at == '.') ? what : wrong;
}

/* toml_scalar takes a value that is no array and adds it to item.value. */
static const char *toml_scalar(struct toml_cursor *c, enum mb_toml_kind *kind)
{
	*kind = MB_TOML_STRING;
	if (*c->at == '"' || *c->at == '\'')
		return toml_read_string(c);
	*kind = MB_TOML_BOOLEAN;
	if (toml_match_word(c, "true") || toml_match_word(c, "false"))
		return NULL;
	return toml_read_number(c, kind);
}

/* toml_element takes one value of an array, of the kind of those before it. */
static const char *toml_element(struct toml_cursor *c, bool first)
{
	size_t begin = c->len;
	enum mb_toml_kind kind;
	const char *wrong;

	if (*c->at == '[' || *c->at == '\0')
		return "an array is not closed, or holds an array";
	wrong = toml_scalar(c, &kind);
	if (!wrong && memchr(c->item.value + begin, ',', c->len - begin))
		return "a string of an array holds a comma";
	if (!wrong && !first && kind != c->item.of)
		return "the values of an array are not of one kind";
	c->item.of = kind;
	return wrong;
}

static const char *toml_array(struct toml_cursor *c)
{
	const char *wrong;

	toml_advance(c);
	wrong = toml_skip_gap(c);
	for (bool first = true; !wrong && *c->at != ']'; first = false) {
		wrong = toml_element(c, first);
		if (!wrong)
			wrong = toml_skip_gap(c);
		if (wrong || *c->at == ']')
			break;
		if (*c->at != ',')
			return "an array is not closed, or a comma is missing in it";
		toml_advance(c);
		wrong = toml_skip_gap(c);
		if (!wrong && *c->at != ']')
			wrong = toml_append_byte(c, ',');
	}
	if (!wrong)
		toml_advance(c);
	return wrong;
}

static const char *toml_value(struct toml_cursor *c)
{
	c->len = 0;
	c->item.of = MB_TOML_STRING;
	if (*c->at != '[')
		return toml_scalar(c, &c->item.kind);
	c->item.kind = MB_TOML_ARRAY;
	return toml_array(c);
}

/* ---- tables ---- */

/* toml_table_name takes "a" or "a.b.c". */
static const char *toml_table_name(struct toml_cursor *c)
{
	size_t n = 0;
	const char *wrong;

	toml_skip_blanks(c);
	wrong = toml_read_bare_key(c, c->table, &n);
	while (!wrong && *c->at == '.') {
		if (n == MB_TOML_NAME_MAX - 1)
			return "a name is longer than 63 letters";
		c->table[n++] = '.';
		toml_advance(c);
		wrong = toml_read_bare_key(c, c->table, &n);
	}
	toml_skip_blanks(c);
	if (!wrong && *c->at != ']')
		return "[table] is not closed";
	if (!wrong)
		toml_advance(c);
	return wrong;
}

/* toml_list_of finds the list whose name is `table`, or begins it: [[a]] for a.b. */
static struct toml_list *toml_list_of(struct toml_cursor *c, const char *table)
{
	for (uint32_t i = 0; i < c->n_lists; i++) {
		size_t len = strlen(c->lists[i].name);

		if (strncmp(c->lists[i].name, table, len) == 0 &&
		    (table[len] == '\0' || table[len] == '.'))
			return &c->lists[i];
	}
	return NULL;
}

/* toml_list_next counts one more [[table]]. */
static const char *toml_list_next(struct toml_cursor *c)
{
	struct toml_list *list = toml_list_of(c, c->table);

	if (list && strcmp(list->name, c->table) != 0)
		return "[[table]] inside of another [[table]] is not read here";
	if (!list && c->n_lists == MB_TOML_LISTS_MAX)
		return "there are more than 16 different [[tables]]";
	if (!list) {
		list = &c->lists[c->n_lists++];
		memcpy(list->name, c->table, sizeof(list->name));
		list->elements = 0;
	}
	c->item.element = list->elements++;
	return NULL;
}

/* toml_table takes a [table] or [[table]] line; *begun: it was the latter, item is of it. */
static const char *toml_table(struct toml_cursor *c, bool *begun)
{
	const struct toml_list *list;
	const char *wrong;

	*begun = c->at[1] == '[';
	c->item.line = c->line;
	toml_advance(c);
	if (*begun)
		toml_advance(c);
	wrong = toml_table_name(c);
	if (wrong)
		return wrong;
	if (!*begun) {
		list = toml_list_of(c, c->table);
		if (list && strcmp(list->name, c->table) == 0)
			return "this [table] was a [[table]] before";
		c->item.element = list ? list->elements - 1 : 0;
		return toml_end_line(c);
	}
	if (*c->at != ']')
		return "[[table]] is not closed";
	toml_advance(c);
	c->item.kind = MB_TOML_ELEMENT;
	c->item.of = MB_TOML_STRING;
	c->item.value[0] = '\0';
	memcpy(c->item.name, c->table, sizeof(c->table));
	wrong = toml_list_next(c);
	return wrong ? wrong : toml_end_line(c);
}

/* toml_name writes "table.key", or "key" before the first table, to the item. */
static void toml_name(struct toml_cursor *c, const char *key)
{
	size_t at = strlen(c->table);

	memcpy(c->item.name, c->table, at);
	if (at > 0)
		c->item.name[at++] = '.';
	memcpy(c->item.name + at, key, strlen(key) + 1);
}

static const char *toml_item(struct toml_cursor *c)
{
	char key[MB_TOML_NAME_MAX];
	size_t n = 0;
	const char *wrong = toml_read_bare_key(c, key, &n);

	if (wrong)
		return wrong;
	c->item.line = c->line;
	toml_name(c, key);
	toml_skip_blanks(c);
	if (*c->at != '=')
		return "a key is followed by `= value`";
	toml_advance(c);
	toml_skip_blanks(c);
	wrong = toml_value(c);
	if (wrong)
		return wrong;
	c->item.value[c->len] = '\0';
	return toml_end_line(c);
}

int mb_toml_read(const char *text, mb_toml_fn fn, void *ctx, uint32_t *line, const char **why)
{
	struct toml_cursor c;

	c.at = text;
	c.line = 1;
	c.table[0] = '\0';
	c.n_lists = 0;
	c.item.element = 0;
	for (;;) {
		bool report = true;
		uint32_t begun;
		int stop;

		*why = toml_skip_gap(&c);
		if (!*why && *c.at == '\0')
			return 0;
		begun = c.line;
		if (!*why)
			*why = *c.at == '[' ? toml_table(&c, &report) : toml_item(&c);
		*line = begun;
		if (*why)
			return MB_TOML_WRONG;
		stop = report ? fn(ctx, &c.item) : 0;
		if (stop)
			return stop;
	}
}
