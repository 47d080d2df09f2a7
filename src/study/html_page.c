/* SPDX-License-Identifier: BSD-2-Clause */
/* One page: see study.h. */
#include "study/study.h"

#include "sim/import/input.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The files of page/. */
extern const struct mb_named_text sim_page_texts[];

static const char *embedded_text(const char *name)
{
	return mb_named_text_find(sim_page_texts, name)->text;
}

/* add_escaped appends text with each `from` replaced. */
static void add_escaped(struct ui_text *out, const char *text, const char *from, const char *to)
{
	const char *hit;

	while ((hit = strstr(text, from))) {
		ui_text_add(out, "%.*s%s", (int)(hit - text), text, to);
		text = hit + strlen(from);
	}
	ui_text_add(out, "%s", text);
}

/* add_title appends a text as HTML has it. */
static void add_title(struct ui_text *out, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '<':
			ui_text_add(out, "&lt;");
			break;
		case '&':
			ui_text_add(out, "&amp;");
			break;
		default:
			ui_text_add(out, "%c", *text);
		}
}

/* add_data appends the data, in which nothing ends the element that it is in. */
static bool add_data(struct ui_text *out, const json_t *data)
{
	char *json = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(9));

	if (!json)
		return false;
	add_escaped(out, json, "<", "\\u003c");
	free(json);
	return true;
}

/* add_file appends the file of page/ whose name a mark has in capitals. */
static void add_file(struct ui_text *out, const char *mark, size_t len)
{
	char name[16];

	snprintf(name, sizeof(name), "%.*s", (int)len, mark);
	for (char *c = name; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	ui_text_add(out, "%s", embedded_text(name));
}

static bool add_piece(struct ui_text *out, const char *mark, size_t len, const json_t *data)
{
	if (strncmp(mark, "DATA@", len + 1) == 0)
		return add_data(out, data);
	if (strncmp(mark, "TITLE@", len + 1) == 0)
		add_title(out, sim_text_at(data, "title"));
	else if (strncmp(mark, "VERSION@", len + 1) == 0)
		ui_text_add(out, "%s", SOFTMRC_VERSION);
	else
		add_file(out, mark, len);
	return true;
}

bool sim_page_make(const json_t *data, struct ui_text *out)
{
	const char *at = embedded_text("page"), *mark, *end;

	while ((mark = strchr(at, '@')) && (end = strchr(mark + 1, '@'))) {
		ui_text_add(out, "%.*s", (int)(mark - at), at);
		if (!add_piece(out, mark + 1, (size_t)(end - mark - 1), data))
			return false;
		at = end + 1;
	}
	ui_text_add(out, "%s", at);
	return true;
}

bool sim_page_write(const json_t *data, const char *path, struct ms_file_error *error)
{
	struct ui_text page = {0};
	FILE *f;
	bool ok;

	if (!sim_page_make(data, &page)) {
		ui_text_fini(&page);
		return ms_file_set_no_memory(error, "the page");
	}
	f = fopen(path, "we");
	ok = f && fwrite(page.data, 1, page.len, f) == page.len;
	if (f && fclose(f))
		ok = false;
	if (!ok)
		ms_file_set_error(error, path, 0, "cannot be written: %s", strerror(errno));
	ui_text_fini(&page);
	return ok;
}
