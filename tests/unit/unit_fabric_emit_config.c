/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of SONiC's configuration in two forms: src/fabric/emit.h. */
#include "fabric/emit.h"

#include "emit_fixture.h"

static const struct mf_config_table one = {
	.name = "A", .module = "m", .list = "A_LIST", .key = {"name"}};
static const struct mf_config_table two = {
	.name = "A", .module = "m", .list = "A2_LIST", .key = {"name", "no"}};
static const struct mf_config_table map = {.name = "MAP",
					   .module = "m",
					   .list = "MAP_LIST",
					   .key = {"name"},
					   .pair = {"x", "y"},
					   .pair_kind = {MF_CONFIG_BARE, MF_CONFIG_TEXT}};
static const struct mf_config_table single = {.name = "S", .module = "n"};

static const char *written(struct emit_fixture *b, enum mf_sonic_form form)
{
	struct mf_config w;
	char *end;

	fixture_begin(b, "tiny");
	mf_config_begin(&w, b->to, form);
	mf_config_table(&w, &one);
	mf_config_row(&w, "p", NULL);
	mf_config_field(&w, "size", MF_CONFIG_BARE, "%d", 7);
	mf_config_field(&w, "text", MF_CONFIG_TEXT, "t");
	mf_config_row(&w, "q", NULL);
	mf_config_table(&w, &two);
	mf_config_row(&w, "p", "1");
	mf_config_table(&w, &map);
	mf_config_row(&w, "m", NULL);
	mf_config_pair(&w, 1, 2);
	mf_config_pair(&w, 3, 4);
	mf_config_table(&w, &single);
	mf_config_row(&w, "GLOBAL", NULL);
	mf_config_field(&w, "on", MF_CONFIG_BARE, "true");
	mf_config_end(&w);
	fixture_text(b);
	/* Layout is for eyes; without it the text is easier to compare. */
	end = b->text;
	for (char *c = b->text; *c; c++)
		if (*c != ' ' && *c != '\n')
			*end++ = *c;
	*end = '\0';
	return b->text;
}

TEST(mf_config_end, config_db)
{
	struct emit_fixture b;

	assert_string_equal(written(&b, MF_SONIC_CONFIG_DB),
			    "{\"A\":{\"p\":{\"size\":\"7\",\"text\":\"t\"},\"q\":{},\"p|1\":{}},"
			    "\"MAP\":{\"m\":{\"1\":\"2\",\"3\":\"4\"}},"
			    "\"S\":{\"GLOBAL\":{\"on\":\"true\"}}}");
	fixture_end(&b);
}

TEST(mf_config_end, yang)
{
	struct emit_fixture b;

	assert_string_equal(
		written(&b, MF_SONIC_YANG),
		"{\"m:m\":{\"A\":{\"A_LIST\":[{\"name\":\"p\",\"size\":7,\"text\":\"t\"},"
		"{\"name\":\"q\"}],\"A2_LIST\":[{\"name\":\"p\",\"no\":\"1\"}]},"
		"\"MAP\":{\"MAP_LIST\":[{\"name\":\"m\",\"MAP\":[{\"x\":1,\"y\":\"2\"},"
		"{\"x\":3,\"y\":\"4\"}]}]}},\"n:n\":{\"S\":{\"GLOBAL\":{\"on\":true}}}}");
	fixture_end(&b);
}

TEST(mf_config_begin, nothing_at_all)
{
	struct emit_fixture b;
	struct mf_config w;

	fixture_begin(&b, "tiny");
	mf_config_begin(&w, b.to, MF_SONIC_YANG);
	mf_config_end(&w);
	assert_string_equal(fixture_text(&b), "{\n}\n");
	fixture_end(&b);
}
