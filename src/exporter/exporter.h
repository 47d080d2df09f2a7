/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exporter.h - the statistics of processes as Prometheus reads them, as a file or over HTTP. One
 * implementation for `mrc stat` and mrcd.
 */
#ifndef SOFTMRC_EXPORTER_EXPORTER_H
#define SOFTMRC_EXPORTER_EXPORTER_H

#include "stats/metrics.h"
#include "stats/stats_reader.h"
#include "ui/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
 * Others may follow, then stat_exposition_end.
 */
void stat_exposition_render(const struct stats_reader *stats, uint32_t processes,
			    enum stat_format format, struct ui_text *out);
/* stat_exposition_end appends what comes after the last metric. */
void stat_exposition_end(enum stat_format format, struct ui_text *out);

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
	uint32_t processes;
	struct stats_reader *stats;
	int stop_fd; /* ends the server when it can be read; -1: signals alone do */
	/* Appends metrics that are not of processes, before the end of the text; or NULL. */
	void (*more)(void *ctx, enum stat_format format, struct ui_text *out);
	void *ctx;
};

/*
 * stat_server_open listens on ADDR:PORT, [ADDR]:PORT or :PORT, which is loopback. Returns the
 * descriptor; -1: error says what is wrong and what is allowed.
 */
int stat_server_open(const char *address, char *error, size_t size);
/*
 * stat_server_run answers until stop_fd or a signal (ui_term_catch) ends it, and closes fd. With no
 * descriptor left for a client it lets the oldest go, or waits. 0, or an errno value.
 */
int stat_server_run(const struct stat_server *server, int fd);

#endif
