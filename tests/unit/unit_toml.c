/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_toml.c - what of TOML is read, and each kind of text that is not. */
#include "support/test.h"

#include <stdio.h>

#include "base/toml.h"

static const char *toml_kind(const struct mb_toml_item *item)
{
	switch (item->kind) {
	case MB_TOML_STRING:
		return "str";
	case MB_TOML_INTEGER:
		return "int";
	case MB_TOML_REAL:
		return "real";
	case MB_TOML_BOOLEAN:
		return "bool";
	case MB_TOML_ARRAY:
		return item->of == MB_TOML_STRING    ? "strs"
		       : item->of == MB_TOML_INTEGER ? "ints"
		       : item->of == MB_TOML_REAL    ? "reals"
						     : "bools";
	case MB_TOML_ELEMENT:
		return "begin";
	}
	return "?";
}

/* Items are gathered as "line name/element kind value;", without an element that is 0. */
struct gathered {
	char text[800];
	int stop;
};

static int toml_gather(void *ctx, const struct mb_toml_item *item)
{
	struct gathered *g = ctx;
	size_t at = strlen(g->text);

	snprintf(g->text + at, sizeof(g->text) - at, "%u %s%s%.*u %s %s;", item->line, item->name,
		 item->element ? "/" : "", item->element ? 1 : 0, item->element, toml_kind(item),
		 item->value);
	return g->stop;
}

static void toml_good(const char *text, const char *want)
{
	struct gathered g = {"", 0};
	const char *why = NULL;
	uint32_t line = 0;

	if (mb_toml_read(text, toml_gather, &g, &line, &why))
		fail_msg("\"%s\", line %u: %s", text, line, why);
	assert_string_equal(g.text, want);
}

static void toml_bad(const char *text, uint32_t want_line, const char *want)
{
	struct gathered g = {"", 0};
	const char *why = NULL;
	uint32_t line = 0;

	if (mb_toml_read(text, toml_gather, &g, &line, &why) != MB_TOML_WRONG)
		fail_msg("\"%s\" was accepted: %s", text, g.text);
	if (line != want_line || !strstr(why, want))
		fail_msg("\"%s\": line %u: %s; want line %u: %s", text, line, why, want_line, want);
}

TEST(mb_toml_read, strings_and_booleans)
{
	toml_good("", "");
	toml_good("# nothing\n\n  \t\r\n", "");
	toml_good("a = true\nb = false\r\n", "1 a bool true;2 b bool false;");
	toml_good("a = \"x # y\"", "1 a str x # y;");
	toml_good("a = \"q\\\"\\\\t\\t\"", "1 a str q\"\\t\t;");
	toml_good("a = 'c:\\\\d\"'", "1 a str c:\\\\d\";");
	toml_good("a = \"\"", "1 a str ;");
}

TEST(mb_toml_read, numbers)
{
	toml_good("a = 1", "1 a int 1;");
	toml_good("a=-0\nb = +17 # c\nc = 4_194_304\n", "1 a int -0;2 b int 17;3 c int 4194304;");
	toml_good("a = 1.5\nb = -0.25 # c", "1 a real 1.5;2 b real -0.25;");
	toml_good("a = 1e-9\nb = 6.02E+2_3\nc = 0e0",
		  "1 a real 1e-9;2 b real 6.02e23;3 c real 0e0;");
}

TEST(mb_toml_read, tables)
{
	toml_good("x = 1\n[one]\nx = 2\n [ two ] # c\n\ty-z_9 = 3",
		  "1 x int 1;3 one.x int 2;5 two.y-z_9 int 3;");
	toml_good("[a.b]\nx = 1\n[a]\nx = 2", "2 a.b.x int 1;4 a.x int 2;");
}

TEST(mb_toml_read, lists_of_tables)
{
	toml_good("[[f]]\nx = 1\n[[f]]\n[[g]]\nx = 2\n[[f]] # c\nx = 3\n[f.s]\ny = 4\n[h]\nz = 5",
		  "1 f begin ;2 f.x int 1;3 f/1 begin ;4 g begin ;5 g.x int 2;6 f/2 begin ;"
		  "7 f.x/2 int 3;9 f.s.y/2 int 4;11 h.z int 5;");
}

TEST(mb_toml_read, arrays)
{
	toml_good("a = []", "1 a strs ;");
	toml_good("a = [ \"x\", 'y' ]", "1 a strs x,y;");
	toml_good("a = [\n  # first\n  \"x\",\n\n  \"y\", # last\n]\nb = 1",
		  "1 a strs x,y;7 b int 1;");
	toml_good("a = [1, -2,3]\nb = [1.5]\nc = [true,false]",
		  "1 a ints 1,-2,3;2 b reals 1.5;3 c bools true,false;");
}

TEST(mb_toml_read, wrong_texts)
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
		{"a = 1.", 1, "a value is"},
		{"a = .5", 1, "a value is"},
		{"a = 1.5.5", 1, "a value is"},
		{"a = 1e", 1, "a value is"},
		{"a = 1e5x", 1, "a value is"},
		{"a = -", 1, "a value is"},
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
		{"a = [1, \"x\"]", 1, "not of one kind"},
		{"a = [[1]]", 1, "holds an array"},
		{"a = [x]", 1, "a value is"},
		{"a = [\"x\"", 1, "not closed"},
		{"a = [\"x\" \"y\"]", 1, "comma is missing"},
		{"a = [\"x,y\"]", 1, "holds a comma"},
		{"a = [", 1, "not closed"},
		{"[one", 1, "not closed"},
		{"[[one]", 1, "not closed"},
		{"[[one]] x", 1, "something follows"},
		{"[one.]", 1, "expected"},
		{"[.one]", 1, "expected"},
		{"[one two]", 1, "not closed"},
		{"[[a]]\n[a]", 2, "was a [[table]]"},
		{"[[a]]\n[[a.b]]", 2, "inside of another"},
		{"[]", 1, "expected"},
		{"a.b = 1", 1, "= value"},
		{"\"a\" = 1", 1, "expected"},
		{"a = {}", 1, "a value is"},
		{"a = 1\rb = 2", 1, "something follows"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		toml_bad(rows[i].text, rows[i].line, rows[i].why);
}

TEST(mb_toml_read, long_names_and_values)
{
	char text[5000];

	memset(text, 'a', sizeof(text));
	strcpy(text + 64, " = 1");
	toml_bad(text, 1, "63 letters");
	memset(text, 'a', sizeof(text));
	memcpy(text, "a = \"", 5);
	strcpy(text + 5 + 4096, "\"");
	toml_bad(text, 1, "4095 bytes");
}

TEST(mb_toml_read, stops_when_told)
{
	struct gathered g = {"", 7};
	const char *why;
	uint32_t line;

	assert_i_eq(mb_toml_read("a = 1\nb = 2", toml_gather, &g, &line, &why), 7);
	assert_string_equal(g.text, "1 a int 1;");
	assert_null(why);
}

/* Any bytes are read or refused; what is read has names and values of their sizes. */
TEST(mb_toml_read, random_bytes)
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
		err = mb_toml_read(text, toml_gather, &g, &line, &why);
		assert_true(err == 0 ? why == NULL : err == MB_TOML_WRONG && why && line >= 1);
	}
}
