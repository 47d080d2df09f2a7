/* SPDX-License-Identifier: BSD-2-Clause */
/* One page: see study.h. */
#include "study/study.h"

#include "sim/import/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The files of page/. */
extern const struct mb_named_text sim_page_texts[];

static const char *embedded_text(const char *name)
{
	return mb_named_text_find(sim_page_texts, name)->text;
}

bool sim_page_has_library(const char *library, struct ms_file_error *error)
{
	if (access(library, R_OK) == 0)
		return true;
	return ms_file_set_error(error, library, 0,
				 "%s; pages draw with Chart.js: apt-get install libjs-chart.js",
				 strerror(errno));
}

/* add_escaped appends text with each `from` replaced, so that it cannot end the element it is
 * in. */
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

static bool add_piece(struct ui_text *out, const char *name, size_t len, const json_t *data,
		      const char *library)
{
	const char *title = json_string_value(json_object_get(data, "title"));
	char *json;

	if (len == 5 && memcmp(name, "TITLE", len) == 0) {
		add_title(out, title ? title : "");
	} else if (len == 5 && memcmp(name, "STYLE", len) == 0) {
		ui_text_add(out, "%s", embedded_text("style"));
	} else if (len == 6 && memcmp(name, "CHARTS", len) == 0) {
		ui_text_add(out, "%s", embedded_text("charts"));
	} else if (len == 7 && memcmp(name, "LIBRARY", len) == 0) {
		add_escaped(out, library, "</script", "<\\/script");
	} else {
		json = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(9));
		if (!json)
			return false;
		add_escaped(out, json, "<", "\\u003c");
		free(json);
	}
	return true;
}

/* fill_template appends the page's frame with a piece for each @NAME@ in it. */
static bool fill_template(struct ui_text *out, const json_t *data, const char *library)
{
	const char *at = embedded_text("page"), *mark, *end;

	while ((mark = strchr(at, '@')) && (end = strchr(mark + 1, '@'))) {
		ui_text_add(out, "%.*s", (int)(mark - at), at);
		if (!add_piece(out, mark + 1, (size_t)(end - mark - 1), data, library))
			return false;
		at = end + 1;
	}
	ui_text_add(out, "%s", at);
	return true;
}

bool sim_page_make(const json_t *data, const char *library, struct ui_text *out,
		   struct ms_file_error *error)
{
	char *script;
	bool ok;

	if (!sim_page_has_library(library, error))
		return false;
	script = ms_file_load(library, error);
	if (!script)
		return false;
	ok = fill_template(out, data, script);
	free(script);
	return ok || ms_file_set_no_memory(error, "the page");
}

bool sim_page_write(const json_t *data, const char *library, const char *path,
		    struct ms_file_error *error)
{
	struct ui_text page = {0};
	FILE *f;
	bool ok = sim_page_make(data, library, &page, error);

	if (ok) {
		f = fopen(path, "we");
		ok = f && fwrite(page.data, 1, page.len, f) == page.len;
		if (f && fclose(f))
			ok = false;
		if (!ok)
			ms_file_set_error(error, path, 0, "cannot be written: %s", strerror(errno));
	}
	ui_text_fini(&page);
	return ok;
}
