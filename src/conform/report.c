/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c - see report.h. What a target sent stands in these texts, so HTML is escaped. */
#include "conform/report.h"

#include <string.h>
#include <time.h>

#define PCAP_NS_MAGIC 0xA1B23C4Du
#define LINKTYPE_RAW 101u

static const char *word_of(enum cf_verdict verdict)
{
	static const char *const words[] = {"not run", "pass", "FAIL", "answer"};

	return words[verdict];
}

size_t cf_report_count(const struct cf_report *report, enum cf_verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < report->n; i++)
		n += report->row[i].result.verdict == verdict;
	return n;
}

static void add_checks(const struct cf_row *row, struct ui_text *out)
{
	for (size_t i = 0; i < row->n_checks; i++)
		ui_text_add(out, "%s%s", i ? " " : "", row->checks[i]);
}

void cf_report_row(const struct cf_row *row, struct ui_text *out)
{
	const struct cf_result *r = &row->result;

	ui_text_add(out, "%-8s %-26s %s\n", word_of(r->verdict), row->name,
		    r->verdict == CF_ANSWERED || r->verdict == CF_NOT_RUN ? r->why : row->asks);
	if (r->verdict != CF_FAIL)
		return;
	ui_text_add(out, "         requirements: ");
	add_checks(row, out);
	ui_text_add(out, "\n         %s\n", r->why);
}

void cf_report_sum(const struct cf_report *report, struct ui_text *out)
{
	ui_text_add(out, "%zu passed, %zu failed, %zu answered, %zu not run\n",
		    cf_report_count(report, CF_PASS), cf_report_count(report, CF_FAIL),
		    cf_report_count(report, CF_ANSWERED), cf_report_count(report, CF_NOT_RUN));
}

static json_t *row_json(const struct cf_row *row)
{
	json_t *checks = json_array();

	for (size_t i = 0; i < row->n_checks; i++)
		json_array_append_new(checks, json_string(row->checks[i]));
	return json_pack("{s:s,s:s,s:o,s:s,s:s,s:I,s:i,s:i}", "name", row->name, "asks", row->asks,
			 "checks", checks, "verdict", word_of(row->result.verdict), "why",
			 row->result.why, "took_us", (json_int_t)(row->result.took_ns / 1000),
			 "sent", (int)row->result.sent, "received", (int)row->result.got);
}

json_t *cf_report_json(const struct cf_report *report)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < report->n; i++)
		json_array_append_new(rows, row_json(&report->row[i]));
	return json_pack("{s:i,s:s,s:i,s:i,s:i,s:i,s:o}", "version", 1, "target", report->target,
			 "passed", (int)cf_report_count(report, CF_PASS), "failed",
			 (int)cf_report_count(report, CF_FAIL), "answered",
			 (int)cf_report_count(report, CF_ANSWERED), "not_run",
			 (int)cf_report_count(report, CF_NOT_RUN), "cases", rows);
}

/* ---- the page ---- */

static void escape(struct ui_text *out, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&':
			ui_text_add(out, "&amp;");
			break;
		case '<':
			ui_text_add(out, "&lt;");
			break;
		case '>':
			ui_text_add(out, "&gt;");
			break;
		case '"':
			ui_text_add(out, "&quot;");
			break;
		default:
			ui_text_add(out, "%c", *text);
		}
}

static void html_row(const struct cf_row *row, struct ui_text *out)
{
	static const char *const class[] = {"none", "pass", "fail", "answer"};

	ui_text_add(out, "<tr class=\"%s\"><td>%s</td><td><code>", class[row->result.verdict],
		    word_of(row->result.verdict));
	escape(out, row->name);
	ui_text_add(out, "</code></td><td>");
	escape(out, row->asks);
	if (*row->result.why) {
		ui_text_add(out, "<pre>");
		escape(out, row->result.why);
		ui_text_add(out, "</pre>");
	}
	ui_text_add(out, "</td><td><small>");
	for (size_t i = 0; i < row->n_checks; i++) {
		escape(out, row->checks[i]);
		ui_text_add(out, "<br>");
	}
	ui_text_add(out, "</small></td><td>%u</td><td>%u</td></tr>\n", row->result.sent,
		    row->result.got);
}

void cf_report_html(const struct cf_report *report, struct ui_text *out)
{
	ui_text_add(out,
		    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		    "<title>mrc conform</title>\n<style>\n"
		    "body{font:15px/1.45 system-ui,sans-serif;max-width:72rem;margin:2rem auto;"
		    "padding:0 1rem;color:#1b1b1b;background:#fff}\n"
		    "table{border-collapse:collapse;width:100%%}\n"
		    "td,th{text-align:left;vertical-align:top;padding:.35rem .6rem;"
		    "border-bottom:1px solid #ddd}\n"
		    "pre{margin:.3rem 0 0;white-space:pre-wrap;font-size:13px}\n"
		    ".pass td:first-child{color:#0a6b2d}.fail td:first-child{color:#b00020;"
		    "font-weight:bold}.none td:first-child{color:#666}\n"
		    ".answer td:first-child{color:#0b4f9c}\n</style></head><body>\n"
		    "<h1>Conformance of ");
	escape(out, report->target);
	ui_text_add(out, "</h1>\n<p>");
	cf_report_sum(report, out);
	ui_text_add(out, "</p>\n<table><tr><th>verdict</th><th>case</th><th>what is asked</th>"
			 "<th>requirements</th><th>sent</th><th>received</th></tr>\n");
	for (size_t i = 0; i < report->n; i++)
		html_row(&report->row[i], out);
	ui_text_add(out,
		    "</table>\n<p>An answer is how this endpoint reads what the public sources "
		    "leave open or disagree about; it is no fault. Ids are those of "
		    "docs/requirements.toml of softmrc.</p>\n</body></html>\n");
}

/* ---- captures ---- */

int cf_pcap_open(struct cf_pcap *p, const char *path, uint64_t now_ns)
{
	/* In this machine's byte order, which the magic number tells. */
	const struct {
		uint32_t magic;
		uint16_t major, minor;
		uint32_t zone, accuracy, most, link;
	} head = {PCAP_NS_MAGIC, 2, 4, 0, 0, 65535, LINKTYPE_RAW};
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	*p = (struct cf_pcap){.file = fopen(path, "wb"),
			      .offset_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec -
					   now_ns};
	if (!p->file)
		return -1;
	p->failed = fwrite(&head, sizeof(head), 1, p->file) != 1;
	return 0;
}

void cf_pcap_write(struct cf_pcap *p, uint64_t now_ns, const struct cf_frame *f)
{
	uint64_t t = now_ns + p->offset_ns;
	const uint32_t head[] = {(uint32_t)(t / 1000000000u), (uint32_t)(t % 1000000000u),
				 (uint32_t)f->len, (uint32_t)f->len};

	p->failed = p->failed || fwrite(head, sizeof(head), 1, p->file) != 1 ||
		    fwrite(f->bytes, f->len, 1, p->file) != 1;
}

int cf_pcap_close(struct cf_pcap *p)
{
	bool failed = fclose(p->file) != 0 || p->failed;

	p->file = NULL;
	return failed ? -1 : 0;
}
