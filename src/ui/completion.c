/* SPDX-License-Identifier: BSD-2-Clause */
/* What completion for all shells needs: see verb.h. */
#include "ui/verb.h"

#include <string.h>

const struct ui_completion_known *ui_completion_known(const char *of, size_t len)
{
	static const struct ui_completion_known known[] = {
		{"FILE", "-f", "_files"},
		{"PATH", "-f", "_files"},
		{"DIR", "-d", "_files -/"},
		{"HOST", "-A hostname", "_hosts"},
		{"TOPOLOGY", "-f", "_files"},
		{"SCENARIO", "-f", "_files"},
		{"FIGURE", "-f", "_files"},
		{"COMMAND", "-c", "_command_names"},
		{"PROGRAM", "-c", "_command_names"},
	};

	for (size_t i = 0; i < UI_COUNT(known); i++)
		if (strlen(known[i].of) == len && memcmp(known[i].of, of, len) == 0)
			return &known[i];
	return NULL;
}

/* Whether a word is among words with blanks between. */
static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	while (words && *words) {
		size_t n = strcspn(words, " ");

		if (n == len && memcmp(words, word, len) == 0)
			return true;
		words += n + strspn(words + n, " ");
	}
	return false;
}

void ui_completion_words(const struct ui_verb *verb, const char *of, size_t len,
			 struct ui_text *out)
{
	for (size_t i = 0; verb->choices && verb->choices[i]; i++) {
		const struct ui_choices *choices = verb->choices[i];
		struct ui_choice c;

		if (strlen(choices->of) != len || memcmp(choices->of, of, len) != 0)
			continue;
		for (size_t k = 0; choices->at(k, &c); k++)
			if (!has_word(out->data, c.word))
				ui_text_add(out, "%s%s", out->len ? " " : "", c.word);
	}
}
