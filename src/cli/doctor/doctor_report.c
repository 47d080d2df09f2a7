/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings for eyes and programs: see doctor.h. */
#include "cli/doctor/doctor.h"

#include <string.h>

#define SUBJECT_WIDTH 20u
#define LABEL_WIDTH 8u
#define TEXT_WIDTH 70u

static const char *colour_of(enum doctor_severity severity)
{
	static const char *const colour[] = {"\033[32m", "\033[36m", "\033[33m", "\033[31m"};

	return colour[severity];
}

/* Text cut at blanks into lines of at most TEXT_WIDTH columns, each indented. */
static void put_folded(const char *text, struct ui_text *out)
{
	while (*text) {
		size_t n = strlen(text);

		if (n > TEXT_WIDTH) {
			n = TEXT_WIDTH;
			while (n && text[n] != ' ')
				n--;
			if (!n)
				n = strcspn(text, " ");
		}
		ui_text_add(out, "%*s%.*s\n", (int)LABEL_WIDTH + 1, "", (int)n, text);
		text += n + strspn(text + n, " ");
	}
}

static void put_finding(const struct doctor_finding *f, bool colour, struct ui_text *out)
{
	if (colour)
		ui_text_add(out, "%s", colour_of(f->severity));
	ui_text_pad(out, doctor_severity_name(f->severity), LABEL_WIDTH);
	if (colour)
		ui_text_add(out, "\033[0m");
	ui_text_add(out, " ");
	ui_text_add(out, "%-*s  %s\n", (int)SUBJECT_WIDTH, f->subject, f->text);
	put_folded(f->why, out);
	/* A command stays in one line, to be copied. */
	if (f->fix[0])
		ui_text_add(out, "%*s$ %s\n", (int)LABEL_WIDTH + 1, "", f->fix);
}

static size_t count_severity(const struct doctor_findings *all, enum doctor_severity severity)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		n += all->finding[i].severity == severity;
	return n;
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

void doctor_show(const struct doctor_findings *all, bool good_too, bool colour, struct ui_text *out)
{
	size_t notes = count_severity(all, DOCTOR_NOTE);
	size_t warnings = count_severity(all, DOCTOR_WARN);
	size_t failures = count_severity(all, DOCTOR_FAIL);

	for (int severity = good_too ? DOCTOR_GOOD : DOCTOR_NOTE; severity <= DOCTOR_FAIL;
	     severity++)
		for (size_t i = 0; i < all->n; i++)
			if (all->finding[i].severity == (enum doctor_severity)severity)
				put_finding(&all->finding[i], colour, out);
	ui_text_add(out, "%zu good, %zu note%s, %zu warning%s, %zu failure%s%s\n",
		    count_severity(all, DOCTOR_GOOD), notes, plural(notes), warnings,
		    plural(warnings), failures, plural(failures),
		    good_too ? "" : " (--all shows the good ones)");
}

json_t *doctor_json(const struct doctor_findings *all)
{
	json_t *list = json_array();

	for (size_t i = 0; i < all->n; i++) {
		const struct doctor_finding *f = &all->finding[i];

		json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s,s:s}", "severity",
						      doctor_severity_name(f->severity), "subject",
						      f->subject, "text", f->text, "why", f->why,
						      "fix", f->fix));
	}
	return json_pack("{s:i,s:s,s:o}", "version", 1, "worst",
			 doctor_severity_name(doctor_worst(all)), "findings", list);
}
