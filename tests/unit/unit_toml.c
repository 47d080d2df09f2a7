/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_toml.c - what of TOML is read, and each kind of text that is not. */
#include "support/test.h"

#include <errno.h>
#include <stdio.h>

#include "host/toml.h"

/* Items are gathered as "line name kind value;". */
struct gathered {
	char text[400];
	int stop;
};

static int toml_gather(void *ctx, const struct mh_toml_item *item)
{
	struct gathered *g = ctx;
	size_t at = strlen(g->text);

	snprintf(g->text + at, sizeof(g->text) - at, "%u %s %d %s;", item->line, item->name,
		 (int)item->kind, item->value);
	return g->stop;
}

static void toml_good(const char *text, const char *want)
{
	struct gathered g = {"", 0};
	const char *why = NULL;
	uint32_t line = 0;

	if (mh_toml_read(text, toml_gather, &g, &line, &why))
		fail_msg("\"%s\", line %u: %s", text, line, why);
	assert_string_equal(g.text, want);
}

static void toml_bad(const char *text, uint32_t want_line, const char *want)
{
	struct gathered g = {"", 0};
	const char *why = NULL;
	uint32_t line = 0;

	if (mh_toml_read(text, toml_gather, &g, &line, &why) != EINVAL)
		fail_msg("\"%s\" was accepted: %s", text, g.text);
	if (line != want_line || !strstr(why, want))
		fail_msg("\"%s\": line %u: %s; want line %u: %s", text, line, why, want_line, want);
}

TEST(mh_toml_read, values)
{
	toml_good("", "");
	toml_good("# nothing\n\n  \t\r\n", "");
	toml_good("a = 1", "1 a 2 1;");
	toml_good("a=-0\nb = +17 # c\nc = 4_194_304\n", "1 a 2 -0;2 b 2 17;3 c 2 4194304;");
	toml_good("a = true\nb = false\r\n", "1 a 4 true;2 b 4 false;");
	toml_good("a = \"x # y\"", "1 a 1 x # y;");
	toml_good("a = \"q\\\"\\\\t\\t\"", "1 a 1 q\"\\t\t;");
	toml_good("a = 'c:\\\\d\"'", "1 a 1 c:\\\\d\";");
	toml_good("a = \"\"", "1 a 1 ;");
}

TEST(mh_toml_read, tables)
{
	toml_good("x = 1\n[one]\nx = 2\n [ two ] # c\n\ty-z_9 = 3",
		  "1 x 2 1;3 one.x 2 2;5 two.y-z_9 2 3;");
}

TEST(mh_toml_read, arrays)
{
	toml_good("a = []", "1 a 8 ;");
	toml_good("a = [ \"x\", 'y' ]", "1 a 8 x,y;");
	toml_good("a = [\n  # first\n  \"x\",\n\n  \"y\", # last\n]\nb = 1", "1 a 8 x,y;7 b 2 1;");
}

TEST(mh_toml_read, wrong_texts)
{
	static const struct {
		const char *text;
		uint32_t line;
		const char *why;
	} rows[] = {
		{"a", 1, "= value"},
		{"\n= 1", 2, "expected"},
		{"a =", 1, "a value is"},
		{"a = \n1", 1, "a value is"},
		{"a = yes", 1, "a value is"},
		{"a = 1.5", 1, "a value is"},
		{"a = 0x10", 1, "a value is"},
		{"a = 007", 1, "a value is"},
		{"a = 1_", 1, "a value is"},
		{"a = _1", 1, "a value is"},
		{"a = 1__0", 1, "a value is"},
		{"a = truely", 1, "a value is"},
		{"a = 1 b = 2", 1, "something follows"},
		{"a = \"x\" y", 1, "something follows"},
		{"a = \"x", 1, "not closed"},
		{"a = \"x\ny\"", 1, "not closed"},
		{"a = '''x'''", 1, "several lines"},
		{"a = \"\\x\"", 1, "backslash"},
		{"a = \"\\", 1, "backslash"},
		{"a = [1]", 1, "array holds strings"},
		{"a = [\"x\"", 1, "not closed"},
		{"a = [\"x\" \"y\"]", 1, "comma is missing"},
		{"a = [\"x,y\"]", 1, "holds a comma"},
		{"a = [", 1, "array holds strings"},
		{"[one", 1, "not closed"},
		{"[[one]]", 1, "expected"},
		{"[one.two]", 1, "has parts"},
		{"[]", 1, "expected"},
		{"a.b = 1", 1, "= value"},
		{"\"a\" = 1", 1, "expected"},
		{"a = {}", 1, "a value is"},
		{"a = 1\rb = 2", 1, "something follows"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		toml_bad(rows[i].text, rows[i].line, rows[i].why);
}

TEST(mh_toml_read, long_names_and_values)
{
	char text[1200];

	memset(text, 'a', sizeof(text));
	strcpy(text + 64, " = 1");
	toml_bad(text, 1, "63 letters");
	memset(text, 'a', sizeof(text));
	memcpy(text, "a = \"", 5);
	strcpy(text + 5 + 1024, "\"");
	toml_bad(text, 1, "1023 bytes");
}

TEST(mh_toml_read, stops_when_told)
{
	struct gathered g = {"", 7};
	const char *why;
	uint32_t line;

	assert_i_eq(mh_toml_read("a = 1\nb = 2", toml_gather, &g, &line, &why), 7);
	assert_string_equal(g.text, "1 a 2 1;");
	assert_null(why);
}

/* Any bytes are read or refused; what is read has names and values of their sizes. */
TEST(mh_toml_read, random_bytes)
{
	static const char alphabet[] = "ab=[]\"'#\n\r\t ,1_-.\\truefals";

	for (size_t i = 0; i < test_rounds(5000); i++) {
		struct gathered g = {"", 0};
		char text[41] = "";
		const char *why;
		uint32_t line;
		int err;

		for (size_t k = 0; k < test_rand_below(40); k++)
			text[k] = alphabet[test_rand_below(sizeof(alphabet) - 1)];
		err = mh_toml_read(text, toml_gather, &g, &line, &why);
		assert_true(err == 0 ? why == NULL : err == EINVAL && why && line >= 1);
	}
}
