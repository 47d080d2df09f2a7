/* SPDX-License-Identifier: BSD-2-Clause */
/* Verbs as tables, and their help: src/ui/verb.h, src/ui/verb.h. */
#include "cli/cli_verbs.h"
#include "ui/verb.h"

#include "support/test.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static void check_choices(const struct ui_verb *verb)
{
	struct ui_choice c;

	for (size_t i = 0; verb->choices && verb->choices[i]; i++) {
		const struct ui_choices *choices = verb->choices[i];
		bool taken = strstr(verb->usage, choices->of) != NULL;
		size_t n = 0;

		for (size_t k = 0; k < verb->n_flags; k++)
			taken |= verb->flags[k].value &&
				 strcmp(verb->flags[k].value, choices->of) == 0;
		if (!taken)
			fail_msg("%s: nothing takes a %s", verb->name, choices->of);
		if (!choices->at) {
			assert_non_null(choices->command);
			continue;
		}
		memset(&c, 0, sizeof(c));
		while (choices->at(n, &c))
			n++;
		assert_true(n > 0);
		assert_non_null(c.word);
	}
}

static void check_flags(const struct ui_verb *verb)
{
	for (size_t i = 0; i < verb->n_flags; i++) {
		const struct ui_flag *f = &verb->flags[i];

		if (strncmp(f->name, "--", 2) != 0 || !*f->help ||
		    (f->kind == UI_FLAG_SWITCH) != !f->value)
			fail_msg("%s %s", verb->name, f->name);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(f->name, verb->flags[k].name);
	}
}

/* Every verb of the command is whole, and its help names all that it takes. */
static void check_verb(const struct ui_verb *verb, const char *above)
{
	struct ui_text help = {0};

	if (strncmp(verb->name, above, strlen(above)) != 0 || !verb->summary || !verb->usage)
		fail_msg("%s: not whole", verb->name);
	assert_true(islower((unsigned char)verb->summary[0]));
	assert_int_equal(verb->about[strlen(verb->about) - 1], '.');
	assert_true(verb->run || verb->verbs);
	check_flags(verb);
	check_choices(verb);
	ui_help_write(verb, &help);
	for (size_t i = 0; i < verb->n_flags; i++)
		assert_non_null(strstr(help.data, verb->flags[i].name));
	for (size_t i = 0; verb->verbs && verb->verbs[i]; i++) {
		char line[40];

		snprintf(line, sizeof(line), "\n  %s ", ui_verb_word(verb->verbs[i]));
		assert_non_null(strstr(help.data, line));
		check_verb(verb->verbs[i], verb->name);
	}
	ui_text_fini(&help);
}

TEST(cli_root_verb, every_verb_is_whole)
{
	check_verb(&cli_root_verb, "mrc");
}

TEST(ui_verb_find, a_word_below)
{
	const struct ui_verb *sim = ui_verb_find(&cli_root_verb, "sim");

	assert_non_null(sim);
	assert_string_equal(ui_verb_find(sim, "goodput")->name, "mrc sim goodput");
	assert_null(ui_verb_find(sim, "doctor"));
	assert_string_equal(ui_verb_word(sim), "sim");
	assert_string_equal(ui_verb_word(&cli_root_verb), "mrc");
}

struct options {
	const char *shape;
	bool quiet;
};

static const struct ui_flag flags[] = {
	{"--shape-of-the-thing", UI_FLAG_TEXT, "SHAPE", "what it looks like",
	 offsetof(struct options, shape), 0, 0},
	{"-q", UI_FLAG_SWITCH, NULL,
	 "says so little that a reader of the whole of this line would wonder why it wraps",
	 offsetof(struct options, quiet), 0, 0},
};

static bool shape_at(size_t i, struct ui_choice *out)
{
	static const struct ui_choice shapes[] = {{"round", NULL, "as a ball"},
						  {"long", "LENGTH", NULL}};

	if (i < UI_COUNT(shapes))
		*out = shapes[i];
	return i < UI_COUNT(shapes);
}

static const struct ui_choices shapes = {"SHAPE", "SHAPE is one of:", shape_at, NULL};

static int never(int argc, char **argv)
{
	(void)argv;
	return argc;
}

static const struct ui_verb verb = {
	.name = "mrc thing",
	.summary = "a thing",
	.usage = "THING [FLAG...]\n--none",
	.about = "Does a thing that takes more words to tell than one line of the screen can hold.",
	.examples = "mrc thing a\nmrc thing b",
	.exits = "0 good",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.choices = (const struct ui_choices *const[]){&shapes, NULL},
	.run = never,
};

TEST(ui_help_write, wraps_and_aligns)
{
	struct ui_text help = {0};

	ui_help_write(&verb, &help);
	assert_string_equal(
		help.data,
		"usage: mrc thing THING [FLAG...]\n"
		"       mrc thing --none\n"
		"Does a thing that takes more words to tell than one line of the screen can hold.\n"
		"\n"
		"  --shape-of-the-thing SHAPE\n"
		"                        what it looks like\n"
		"  -q                    says so little that a reader of the whole of this line\n"
		"                        would wonder why it wraps\n"
		"  --help                this text\n"
		"\n"
		"SHAPE is one of:\n"
		"  round        as a ball\n"
		"  long LENGTH\n"
		"\n"
		"examples:\n"
		"  mrc thing a\n"
		"  mrc thing b\n"
		"\n"
		"exit status: 0 good\n");
	ui_text_fini(&help);
}
