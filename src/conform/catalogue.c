/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * catalogue.c - see catalogue.h. The texts are cases (cases/NAME.case) and not_covered.txt, lines
 * of "REASON: ID ID ...".
 */
#include "conform/catalogue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/named_text.h"

extern const struct mb_named_text conform_case_texts[];
extern const struct mb_named_text conform_coverage_texts[];

int cf_catalogue_read(struct cf_book *book, char error[CF_ERROR_MAX])
{
	for (size_t i = 0; conform_case_texts[i].name; i++)
		if (cf_book_read(book, conform_case_texts[i].name, conform_case_texts[i].text,
				 error))
			return -1;
	return 0;
}

static void list_case(const struct cf_case *c, struct ui_text *out)
{
	ui_text_add(out, "%-28s %s%s\n%-28s", c->name, c->asks,
		    c->needs_server || c->ends_qp ? " [needs --serve]" : "", "");
	for (size_t i = 0; i < c->n_checks; i++)
		ui_text_add(out, " %s", c->checks[i]);
	ui_text_add(out, "\n");
}

/* Calls `each` for every id that no case covers. */
static size_t not_covered(void (*each)(void *to, const char *reason, const char *id), void *to)
{
	char *copy = strdup(conform_coverage_texts[0].text), *save, *save_word;
	size_t n = 0;

	if (!copy)
		abort();
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *colon = *line == '#' ? NULL : strchr(line, ':');

		if (!colon)
			continue;
		*colon = '\0';
		for (char *id = strtok_r(colon + 1, " ", &save_word); id;
		     id = strtok_r(NULL, " ", &save_word), n++)
			if (each)
				each(to, line, id);
	}
	free(copy);
	return n;
}

static void list_not_covered(void *to, const char *reason, const char *id)
{
	ui_text_add(to, "%-28s %s\n", id, reason);
}

/* Whether a case before this one, or word of it, names the id. */
static bool is_new(const struct cf_book *book, size_t i, size_t k)
{
	for (size_t c = 0; c <= i; c++)
		for (size_t n = 0; n < (c == i ? k : book->cases[c].n_checks); n++)
			if (strcmp(book->cases[c].checks[n], book->cases[i].checks[k]) == 0)
				return false;
	return true;
}

static bool watch_names(const char *id)
{
	for (unsigned w = 0; w < CF_WATCHES; w++)
		for (size_t i = 0; cf_watch_rule[w].checks[i]; i++)
			if (strcmp(cf_watch_rule[w].checks[i], id) == 0)
				return true;
	return false;
}

static size_t count_covered(const struct cf_book *book)
{
	size_t n = 0;

	for (size_t i = 0; i < book->n; i++)
		for (size_t k = 0; k < book->cases[i].n_checks; k++)
			n += is_new(book, i, k) && !watch_names(book->cases[i].checks[k]);
	for (unsigned w = 0; w < CF_WATCHES; w++)
		for (size_t i = 0; cf_watch_rule[w].checks[i]; i++)
			/* One id stands at two rules. */
			n += w != CF_WATCH_RESERVED;
	return n;
}

void cf_catalogue_list(const struct cf_book *book, struct ui_text *out)
{
	for (size_t i = 0; i < book->n; i++)
		list_case(&book->cases[i], out);
	for (unsigned w = 0; w < CF_WATCHES; w++) {
		const struct cf_watch_rule *rule = &cf_watch_rule[w];

		ui_text_add(out, "%-28s %s [all packets]\n%-28s", rule->name, rule->asks, "");
		for (size_t i = 0; rule->checks[i]; i++)
			ui_text_add(out, " %s", rule->checks[i]);
		ui_text_add(out, "\n");
	}
	ui_text_add(out, "\nnot covered:\n");
	not_covered(list_not_covered, out);
	ui_text_add(out,
		    "\n%zu cases and %u rules for all packets cover %zu requirements; %zu are not "
		    "covered\n",
		    book->n, (unsigned)CF_WATCHES, count_covered(book), not_covered(NULL, NULL));
}

static void add_not_covered(void *to, const char *reason, const char *id)
{
	json_object_set_new(to, id, json_string(reason));
}

static json_t *strings(const char *const *text, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n && text[i]; i++)
		json_array_append_new(list, json_string(text[i]));
	return list;
}

json_t *cf_catalogue_json(const struct cf_book *book)
{
	json_t *list = json_array(), *rest = json_object();

	for (size_t i = 0; i < book->n; i++) {
		const struct cf_case *c = &book->cases[i];

		json_array_append_new(list,
				      json_pack("{s:s,s:s,s:o,s:b}", "name", c->name, "asks",
						c->asks, "checks", strings(c->checks, c->n_checks),
						"needs_server", c->needs_server || c->ends_qp));
	}
	for (unsigned w = 0; w < CF_WATCHES; w++)
		json_array_append_new(list,
				      json_pack("{s:s,s:s,s:o,s:b}", "name", cf_watch_rule[w].name,
						"asks", cf_watch_rule[w].asks, "checks",
						strings(cf_watch_rule[w].checks, CF_CHECKS_MAX),
						"needs_server", 0));
	not_covered(add_not_covered, rest);
	return json_pack("{s:i,s:o,s:o}", "version", 1, "cases", list, "not_covered", rest);
}
