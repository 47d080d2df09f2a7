/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc stat - all that the MRC processes of this machine count, with name, unit and meaning: as
 * text, as JSON, for Prometheus as text, as a file, or over HTTP.
 */
#include "cli/cli_verbs.h"
#include "cli/stat/stat.h"
#include "exporter/exporter.h"
#include "ui/terminal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#define MS_NS UINT64_C(1000000)

struct stat_options {
	uint32_t pid, processes;
	uint64_t interval_ns;
	const char *dir, *out, *listen;
	bool others, zeros, json, prometheus, openmetrics, describe;
	const char *fabric_name;
	struct cli_fabric fabric;
	struct stats_reader stats;
};

static const struct ui_flag flags[] = {
	{"--pid", UI_FLAG_U32, "N", "this process only", offsetof(struct stat_options, pid), 1,
	 4194304},
	UI_TEXT("--dir", stat_options, dir, "DIR", "where the processes publish"),
	UI_SWITCH("--others", stat_options, others,
		  "what other users let this one read, too (MRC_STATS_GROUP); root sees all"),
	UI_SWITCH("--zeros", stat_options, zeros, "counters that are 0, too"),
	{"--interval", UI_FLAG_TIME, "TIME", "counters: what is added in this time",
	 offsetof(struct stat_options, interval_ns), 50 * MS_NS, UINT64_C(3600000) * MS_NS},
	CLI_FABRIC_FLAG(stat_options, fabric_name),
	UI_SWITCH("--json", stat_options, json, "one JSON object"),
	UI_SWITCH("--prometheus", stat_options, prometheus, "Prometheus' text format 0.0.4"),
	UI_SWITCH("--openmetrics", stat_options, openmetrics, "OpenMetrics 1.0.0"),
	UI_TEXT("--out", stat_options, out, "FILE",
		"--prometheus into a file, whole or not at all, for node_exporter's textfile "
		"collector"),
	UI_TEXT("--listen", stat_options, listen, "ADDR:PORT",
		"answer scrapes of http://ADDR:PORT/metrics until a signal comes"),
	{"--processes", UI_FLAG_U32, "N",
	 "for Prometheus: series of at most so many processes, those that run longest (64)",
	 offsetof(struct stat_options, processes), 1, STATS_PROCESSES_MAX},
	UI_SWITCH("--describe", stat_options, describe,
		  "the catalogue of all metrics, as Markdown"),
};

static int read_stats(struct stat_options *s)
{
	int err = stats_reader_read(&s->stats, ui_clock_ns());

	if (!err)
		return EXIT_GOOD;
	if (s->stats.error[0])
		fprintf(stderr, "mrc stat: %s\n", s->stats.error);
	else
		fprintf(stderr, "mrc stat: %s: %s\n", s->stats.dir,
			err == EPERM ? "not a folder that its user alone writes to"
				     : strerror(err));
	return EXIT_FAILED;
}

static int show_exposition(struct stat_options *s)
{
	enum stat_format format = s->openmetrics ? STAT_OPENMETRICS : STAT_PROMETHEUS;
	struct ui_text text = {0};
	int err;

	stat_exposition_render(&s->stats, s->processes, format, &text);
	stat_exposition_end(format, &text);
	if (!s->out) {
		ui_text_print(&text, stdout);
		return EXIT_GOOD;
	}
	err = ui_text_save(&text, s->out);
	if (err)
		fprintf(stderr, "mrc stat: --out %s: %s\n", s->out, ui_text_save_error(err));
	ui_text_fini(&text);
	return err ? EXIT_FAILED : EXIT_GOOD;
}

static int show(struct stat_options *s)
{
	struct stat_view view = {
		.zeros = s->zeros, .growth = s->interval_ns > 0, .fabric = &s->fabric};
	struct ui_text text = {0};

	if (s->prometheus || s->openmetrics || s->out)
		return show_exposition(s);
	if (s->json) {
		ui_json_print(stat_json_make(&s->stats, &s->fabric), JSON_INDENT(2));
		return EXIT_GOOD;
	}
	stat_text_render(&view, &s->stats, &text);
	ui_text_print(&text, stdout);
	return EXIT_GOOD;
}

static int read_and_show(struct stat_options *s)
{
	if (read_stats(s))
		return EXIT_FAILED;
	if (s->interval_ns) {
		poll(NULL, 0, (int)(s->interval_ns / MS_NS));
		if (read_stats(s))
			return EXIT_FAILED;
	}
	if (s->pid && !s->stats.n) {
		fprintf(stderr, "mrc stat: --pid %u: no MRC process of this number in %s\n", s->pid,
			s->stats.dir);
		return EXIT_FAILED;
	}
	return show(s);
}

static int listen_and_answer(struct stat_options *s)
{
	struct stat_server server = {.processes = s->processes, .stats = &s->stats, .stop_fd = -1};
	char error[160];
	int fd = stat_server_open(s->listen, error, sizeof(error));
	int err;

	if (fd < 0) {
		fprintf(stderr, "mrc stat: --listen %s: %s\n", s->listen, error);
		return EXIT_USAGE;
	}
	ui_term_catch();
	err = stat_server_run(&server, fd);
	if (err)
		fprintf(stderr, "mrc stat: --listen %s: %s\n", s->listen, strerror(err));
	return err ? EXIT_FAILED : EXIT_GOOD;
}

/* Two of them would each want standard output. */
static int check_flags(const struct stat_options *s)
{
	int forms = s->json + (s->prometheus || s->out) + s->openmetrics + (s->listen != NULL) +
		    s->describe;

	if (forms <= 1 || (forms == 2 && s->openmetrics && s->out))
		return EXIT_GOOD;
	fprintf(stderr, "mrc stat: one of --json, --prometheus, --openmetrics, --listen and "
			"--describe\n");
	return EXIT_USAGE;
}

static int cli_stat_main(int argc, char **argv)
{
	static struct stat_options s;
	struct ui_text text = {0};
	int status;

	s = (struct stat_options){.processes = STAT_PROCESSES};
	status = ui_verb_parse(&cli_stat_verb, &s, argc, argv, NULL, 0, NULL);
	if (status != UI_FLAGS_OK)
		return status;
	if (check_flags(&s))
		return EXIT_USAGE;
	if (cli_fabric_find(&cli_stat_verb, s.fabric_name, &s.fabric))
		return EXIT_FAILED;
	if (s.describe) {
		stat_catalogue_render(&text);
		ui_text_print(&text, stdout);
		return EXIT_GOOD;
	}
	ui_raise_files();
	stats_reader_open(&s.stats, s.dir, s.pid);
	if (s.others)
		stats_reader_open_others(&s.stats);
	status = s.listen ? listen_and_answer(&s) : read_and_show(&s);
	stats_reader_close(&s.stats);
	return status;
}

const struct ui_verb cli_stat_verb = {
	.name = "mrc stat",
	.summary = "all counters of the MRC processes of this machine, also for Prometheus",
	.usage = "[FLAG...]",
	.about =
		"Prints what the MRC processes of this machine count: QPs by state, planes with "
		"the "
		"state of their EVs and how unequally they are used, and every counter that is not "
		"0, with its unit and meaning. --prometheus, --openmetrics and --listen give the "
		"same to Prometheus.",
	.notes = "Processes publish where `mrc top` looks for them. docs/metrics.md describes each "
		 "number; share/softmrc/prometheus has rules and alerts.",
	.examples = "mrc stat --interval 1s\n"
		    "mrc stat --out /var/lib/prometheus/node-exporter/softmrc.prom\n"
		    "mrc stat --listen 127.0.0.1:9891",
	.exits = "0 good, 1 nothing to read, 2 wrong usage",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = cli_stat_main,
};
