/* SPDX-License-Identifier: BSD-2-Clause */
/* stat.h - the parts of mrc stat: text, JSON, the exposition for Prometheus, and its HTTP port. */
#ifndef SOFTMRC_CLI_STAT_STAT_H
#define SOFTMRC_CLI_STAT_STAT_H

#include "stats/metrics.h"
#include "stats/stats_reader.h"
#include "ui/text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- for eyes: stat_text.c ---- */

struct stat_view {
	bool zeros;  /* counters that are 0, too */
	bool growth; /* of counters: since the reading before */
};

/* stat_text_render appends processes, planes, QPs and counters with unit and meaning. */
void stat_text_render(const struct stat_view *view, const struct stats_reader *stats,
		      struct ui_text *out);

/* stat_catalogue_render appends the catalogue of metrics as Markdown: docs/metrics.md. */
void stat_catalogue_render(struct ui_text *out);

/* ---- for programs: stat_json.c ---- */

/* stat_json_make returns a new object with all processes of a reading. */
json_t *stat_json_make(const struct stats_reader *stats);

/* ---- for Prometheus: exposition.c ---- */

enum stat_format {
	STAT_PROMETHEUS,  /* text format 0.0.4 */
	STAT_OPENMETRICS, /* 1.0.0 */
};

#define STAT_PREFIX "softmrc_"
/* Processes of which there are series: at most this many, unless it is said otherwise. */
#define STAT_PROCESSES 64u

/*
 * stat_exposition_render appends all metrics of at most `processes` processes, those that run
 * longest, for a series that comes and goes is of no use. How many are left out is a metric, too.
 */
void stat_exposition_render(const struct stats_reader *stats, uint32_t processes,
			    enum stat_format format, struct ui_text *out);

/*
 * stat_exposition_write puts a text into a file, whole or not at all: a collector that reads it
 * meanwhile sees the one before. 0, or an errno value.
 */
int stat_exposition_write(const char *path, const struct ui_text *text);

/* ---- requests over HTTP: http_request.c ---- */

#define STAT_REQUEST_MAX 4096u

enum stat_http {
	STAT_HTTP_MORE,	   /* the head is not whole yet */
	STAT_HTTP_METRICS, /* GET or HEAD of /metrics */
	STAT_HTTP_ROOT,	   /* of / */
	STAT_HTTP_NOT_FOUND,
	STAT_HTTP_BAD_METHOD,
	STAT_HTTP_BAD,
};

struct stat_request {
	bool head;	  /* HEAD: without a body */
	bool openmetrics; /* that is what the client wants most */
};

/*
 * stat_http_read judges what a client has sent so far, `len` bytes, which may be any. What has no
 * end within STAT_REQUEST_MAX is STAT_HTTP_BAD.
 */
enum stat_http stat_http_read(const char *bytes, size_t len, struct stat_request *request);

/* ---- the port: http_server.c ---- */

struct stat_server {
	const char *address; /* for messages */
	uint32_t processes;
	struct stats_reader *stats;
};

/*
 * stat_server_open listens on ADDR:PORT, [ADDR]:PORT or :PORT, which is loopback. Returns the
 * descriptor; -1: error says what is wrong and what is allowed.
 */
int stat_server_open(const char *address, char *error, size_t size);
/* stat_server_run answers until a signal ends it, and closes fd. 0, or an errno value. */
int stat_server_run(const struct stat_server *server, int fd);

#endif
