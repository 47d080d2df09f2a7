/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * html_page.h - results as one HTML file that needs nothing else: its data, its style, the script
 * that draws (page/charts.js) and the library that script draws with (Chart.js) all stand in it.
 *
 * The data is an object:
 *	title, command (strings)
 *	text	[[label, text], ...] (may be absent)
 *	runs	[{name, result}, ...]; a member of a family of runs has family and x too
 *	claims	[{text, holds, value, min, max, note}, ...] (may be absent)
 *	charts	[{kind, title, figure, runs: [names], x, y, log}, ...]; absent: what is worth a look
 */
#ifndef SOFTMRC_STUDY_HTML_PAGE_H
#define SOFTMRC_STUDY_HTML_PAGE_H

#include "base/named_text.h"
#include "sim/import/file_error.h"
#include "ui/text_buffer.h"

#include <jansson.h>

/* Where Debian's package libjs-chart.js puts it. */
#define SIM_PAGE_LIBRARY "/usr/share/javascript/chart.js/chart.min.js"

/*
 * sim_page_make appends the page; `library` is the file of the library. false: *error says what
 * cannot be read, and how to get it.
 */
bool sim_page_make(const json_t *data, const char *library, struct ui_text *out,
		   struct ms_file_error *error);
/* sim_page_write makes the page and writes it to a file; false: *error says what went wrong. */
bool sim_page_write(const json_t *data, const char *library, const char *path,
		    struct ms_file_error *error);
/* sim_page_has_library says whether the library can be read, before a long run; else *error. */
bool sim_page_has_library(const char *library, struct ms_file_error *error);

#endif
