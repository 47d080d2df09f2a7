/* SPDX-License-Identifier: BSD-2-Clause */
/* report.h - what came of a run, for eyes, programs and as a page; and the packets of each case. */
#ifndef SOFTMRC_CONFORM_REPORT_H
#define SOFTMRC_CONFORM_REPORT_H

#include <stdio.h>

#include "conform/run.h"
#include "ui/text.h"

struct cf_row {
	const char *name, *asks;
	const char *const *checks;
	size_t n_checks;
	struct cf_result result;
};

struct cf_report {
	const char *target; /* as it was asked for */
	size_t n;
	struct cf_row *row; /* owned by the caller */
};

/* How many rows have a verdict. */
size_t cf_report_count(const struct cf_report *report, enum cf_verdict verdict);
/* cf_report_row appends a row for a terminal, cf_report_sum the last lines. */
void cf_report_row(const struct cf_row *row, struct ui_text *out);
void cf_report_sum(const struct cf_report *report, struct ui_text *out);
/* cf_report_json returns a new object. */
json_t *cf_report_json(const struct cf_report *report);
/* cf_report_html appends a page that needs nothing beside it. */
void cf_report_html(const struct cf_report *report, struct ui_text *out);

/* Captures: a file a case, raw IP packets with nanoseconds, as tshark reads. */
struct cf_pcap {
	FILE *file;
	bool failed;
	uint64_t offset_ns; /* from the clock of packets to that of the calendar */
};

/* cf_pcap_open begins a file. Returns 0, or -1 with errno. */
int cf_pcap_open(struct cf_pcap *p, const char *path, uint64_t now_ns);
void cf_pcap_write(struct cf_pcap *p, uint64_t now_ns, const struct cf_frame *f);
/* cf_pcap_close returns 0, or -1 when not all was written. */
int cf_pcap_close(struct cf_pcap *p);

#endif
