/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc perf - bandwidth and latency between two machines. The client leads: it sends its plan, both
 * make their QPs and swap what these need, then the client names phase after phase and both run it.
 */
#include "cli/perf/perf.h"
#include "ui/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* A server that was started at the same time may be there so late on a busy machine. */
#define CALL_PATIENCE_MS 10000u
/* For the other end to make its QPs and buffers. */
#define ANSWER_MS 30000
/* 1 B to 1 GiB in powers of two. */
#define ROWS_MAX 32u
#define PROTOCOL 1

struct perf {
	struct perf_options o;
	struct perf_link link;
	struct perf_connection conn;
	struct perf_measure measure;
	struct stats_reader stats;
	struct perf_health start;
	struct perf_row row[ROWS_MAX];
	size_t rows;
	bool live;
	char error[300];
};

static int set_error(struct perf *p, const char *text)
{
	snprintf(p->error, sizeof(p->error), "%s", text);
	return -1;
}

/* Puts the live line, or nothing, where the cursor is. */
static void put_live(const char *line)
{
	printf("\r\033[K%s", line);
	fflush(stdout);
}

static void on_tick(void *context, const struct perf_measure *m, uint64_t ns)
{
	struct perf *p = context;
	struct ui_text line = {0};

	(void)ns;
	perf_report_tick(m->size, &m->out, p->o.plan.duration_ns, &line);
	put_live(line.data);
	ui_text_fini(&line);
}

static void put_text(void (*write)(const struct perf_plan *plan, const struct perf_row *row,
				   struct ui_text *out),
		     const struct perf *p, const struct perf_row *row)
{
	struct ui_text text = {0};

	write(&p->o.plan, row, &text);
	if (p->live)
		put_live("");
	fputs(text.data, stdout);
	fflush(stdout);
	ui_text_fini(&text);
}

static void write_head(const struct perf_plan *plan, const struct perf_row *row,
		       struct ui_text *out)
{
	(void)row;
	perf_report_head(plan, out);
}

/* Makes this end's objects and swaps descriptions; the client's comes first. */
static int set_up(struct perf *p, json_t *peer)
{
	json_t *mine;
	int rc;

	if (perf_connection_open(&p->conn, &p->o.plan, p->o.events))
		return set_error(p, p->conn.error);
	mine = perf_connection_describe(&p->conn);
	if (!mine)
		return set_error(p, p->conn.error);
	if (p->o.host) {
		if (perf_link_send(&p->link,
				   json_pack("{s:i,s:o,s:o}", "mrc_perf", PROTOCOL, "plan",
					     perf_plan_json(&p->o.plan), "end", mine)))
			return set_error(p, p->link.error);
		peer = perf_link_receive(&p->link, ANSWER_MS, NULL);
		if (!peer)
			return set_error(p, p->link.error);
		rc = perf_connection_connect(&p->conn, json_object_get(peer, "end"));
		json_decref(peer);
		return rc ? set_error(p, p->conn.error) : 0;
	}
	if (perf_connection_connect(&p->conn, json_object_get(peer, "end"))) {
		json_decref(mine);
		return set_error(p, p->conn.error);
	}
	return perf_link_send(&p->link, json_pack("{s:o}", "end", mine))
		       ? set_error(p, p->link.error)
		       : 0;
}

static int run_phase(struct perf *p, bool latency, uint64_t size)
{
	struct perf_measure *m = &p->measure;

	m->conn = &p->conn;
	m->link = &p->link;
	m->client = p->o.host != NULL;
	m->size = size;
	m->tick = p->live ? on_tick : NULL;
	m->context = p;
	return (latency ? perf_measure_latency(m) : perf_measure_bandwidth(m))
		       ? set_error(p, m->error)
		       : 0;
}

/* The client names a phase and waits until the server is ready for it. */
static int lead_phase(struct perf *p, bool latency, uint64_t size)
{
	json_t *ready;

	if (perf_link_send(&p->link,
			   json_pack("{s:s,s:I}", "phase", latency ? "latency" : "bandwidth",
				     "bytes", (json_int_t)size)))
		return set_error(p, p->link.error);
	ready = perf_link_receive(&p->link, ANSWER_MS, NULL);
	if (!ready)
		return set_error(p, p->link.error);
	json_decref(ready);
	return run_phase(p, latency, size);
}

static int lead_size(struct perf *p, uint64_t size)
{
	struct perf_row *row = &p->row[p->rows];
	struct perf_health before, after;

	*row = (struct perf_row){.bytes = size};
	perf_health_read(&p->stats, &before);
	if (p->o.plan.bandwidth) {
		if (lead_phase(p, false, size))
			return -1;
		row->out = p->measure.out;
		row->in = p->measure.in;
		perf_row_times(row, &p->measure.times);
	}
	if (p->o.plan.latency) {
		if (lead_phase(p, true, size))
			return -1;
		row->rounds = p->measure.out.messages;
		perf_row_times(row, &p->measure.times);
	}
	perf_health_read(&p->stats, &after);
	row->health = perf_health_since(&after, &before);
	p->rows++;
	if (!p->o.json)
		put_text(perf_report_row, p, row);
	return 0;
}

static void print_results(struct perf *p)
{
	struct perf_health now, all;
	struct ui_text text = {0};
	json_t *json;

	perf_health_read(&p->stats, &now);
	all = perf_health_since(&now, &p->start);
	if (p->o.json) {
		json = perf_report_json(&p->o.plan, p->o.host, p->row, p->rows, &all);
		if (p->o.events)
			json_object_set_new(json, "cq_events",
					    json_integer((json_int_t)p->conn.cq_events));
		ui_json_print(json, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
		return;
	}
	perf_report_tail(&all, &text);
	if (p->o.events)
		ui_text_add(&text, "CQ events: %" PRIu64 "\n", p->conn.cq_events);
	ui_text_print(&text, stdout);
}

static int run_client_phases(struct perf *p)
{
	if (perf_link_connect(&p->link, p->o.host, (uint16_t)p->o.port, CALL_PATIENCE_MS))
		return set_error(p, p->link.error);
	if (set_up(p, NULL))
		return -1;
	stats_reader_open_own(&p->stats);
	perf_health_read(&p->stats, &p->start);
	if (!p->o.json)
		put_text(write_head, p, NULL);
	for (uint64_t size = p->o.plan.min; size <= p->o.plan.max; size *= 2)
		if (lead_size(p, size))
			return -1;
	print_results(p);
	return perf_link_send(&p->link, json_pack("{s:s}", "phase", "end"))
		       ? set_error(p, p->link.error)
		       : 0;
}

static int follow_phase(struct perf *p, json_t *json, bool *end)
{
	const char *phase;
	json_int_t bytes = 0;

	if (json_unpack(json, "{s:s,s?I}", "phase", &phase, "bytes", &bytes))
		return set_error(p, "the client asks for something unknown");
	*end = strcmp(phase, "end") == 0;
	if (*end)
		return 0;
	if (bytes < 1 || (uint64_t)bytes > p->o.plan.max)
		return set_error(p, "the client asks for a size outside its plan");
	if (perf_link_send(&p->link, json_pack("{s:b}", "ready", 1)))
		return set_error(p, p->link.error);
	return run_phase(p, strcmp(phase, "latency") == 0, (uint64_t)bytes);
}

/* Serves one client to its end. */
static int run_server_phases(struct perf *p)
{
	json_t *json = perf_link_receive(&p->link, ANSWER_MS, NULL);
	bool end = false;
	int rc;

	if (!json)
		return set_error(p, p->link.error);
	if (json_integer_value(json_object_get(json, "mrc_perf")) != PROTOCOL)
		rc = set_error(p, "the client is no mrc perf of this version");
	else if (perf_plan_read(json_object_get(json, "plan"), &p->o.plan, p->error,
				sizeof(p->error)))
		rc = -1;
	else
		rc = set_up(p, json);
	json_decref(json);
	while (!rc && !end) {
		json = perf_link_receive(&p->link, -1, NULL);
		if (!json)
			return set_error(p, p->link.error);
		rc = follow_phase(p, json, &end);
		json_decref(json);
	}
	return rc;
}

/* The peer hears why this end gives up; it may have gone itself. */
static void give_up(struct perf *p)
{
	if (p->live)
		put_live("");
	fprintf(stderr, "mrc perf: %s\n", p->error);
	if (p->link.fd >= 0)
		(void)perf_link_send(&p->link, json_pack("{s:s}", "error", p->error));
}

static void clear_results(struct perf *p)
{
	perf_link_close(&p->link);
	perf_connection_close(&p->conn);
	stats_reader_close(&p->stats);
}

static int serve_client(struct perf *p)
{
	int listener = perf_link_listen(&p->link, (uint16_t)p->o.port), rc = 0;

	if (listener < 0) {
		fprintf(stderr, "mrc perf: %s\n", p->link.error);
		return EXIT_FAILED;
	}
	printf("waiting for mrc perf HOST, TCP port %u\n", p->o.port);
	fflush(stdout);
	do {
		rc = 0;
		if (perf_link_accept(&p->link, listener)) {
			rc = p->link.error[0] ? set_error(p, p->link.error) : 0;
			break;
		}
		rc = run_server_phases(p);
		if (rc)
			give_up(p);
		clear_results(p);
	} while (!p->o.once && !ui_term_caught());
	close(listener);
	return rc ? EXIT_FAILED : EXIT_GOOD;
}

int perf_main(int argc, char **argv)
{
	static struct perf p;
	int rc;

	rc = perf_options_parse(&p.o, argc, argv);
	if (rc != UI_FLAGS_OK)
		return rc;
	p.link.fd = -1;
	ui_term_catch();
	if (!p.o.host)
		return serve_client(&p);
	p.live = !p.o.plain && !p.o.json && ui_term_fits();
	rc = run_client_phases(&p);
	if (rc)
		give_up(&p);
	clear_results(&p);
	return rc ? EXIT_FAILED : EXIT_GOOD;
}
