/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc top - what the MRC processes of this machine do: processes, planes, QPs, EVs; live on a
 * terminal, as text elsewhere, or as JSON.
 */
#include "cli/cli_verbs.h"
#include "cli/top/top.h"
#include "stats/stats_reader.h"
#include "ui/terminal.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#define MS_NS UINT64_C(1000000)

struct top {
	uint32_t pid;
	uint64_t interval_ns, count;
	const char *dir;
	bool json, plain, live, others;
	const char *fabric_name;
	struct cli_fabric fabric;
	struct stats_reader stats;
	struct ui_term term;
};

/* Waits for the next reading; true when the user wants to go. */
static bool wait_quits(const struct top *top, uint64_t until_ns)
{
	struct pollfd keys = {.fd = top->live ? STDIN_FILENO : -1, .events = POLLIN};
	char key;

	for (;;) {
		uint64_t now = ui_clock_ns();

		if (ui_term_caught())
			return true;
		if (now >= until_ns)
			return false;
		if (poll(&keys, 1, (int)((until_ns - now + MS_NS - 1) / MS_NS)) <= 0)
			continue;
		if (read(STDIN_FILENO, &key, 1) != 1)
			keys.fd = -1; /* standard input has ended */
		else if (key == 'q' || key == 'Q')
			return true;
	}
}

static void show_live(const struct top *top)
{
	struct top_view view = {.colour = ui_term_colour(), .fabric = &top->fabric};
	struct ui_text picture = {0};
	time_t seconds = time(NULL);
	char clock[16] = "";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	view.clock = clock;
	ui_term_size(&view.width, &view.height);
	top_view_render(&view, &top->stats, &picture);
	ui_term_show(&picture);
	ui_text_fini(&picture);
}

static void print_once(const struct top *top)
{
	struct top_view view = {.width = 80, .fabric = &top->fabric};
	struct ui_text text = {0};

	if (top->json) {
		json_t *json = top_json_make(&top->stats, &top->fabric);

		ui_json_print(json, top->count == 1 ? JSON_INDENT(2) : JSON_COMPACT);
	} else if (top->live) {
		show_live(top);
	} else {
		top_view_render(&view, &top->stats, &text);
		ui_text_print(&text, stdout);
	}
	fflush(stdout);
}

static int read_stats(struct top *top)
{
	int err = stats_reader_read(&top->stats, ui_clock_ns());

	if (!err)
		return 0;
	if (top->live)
		ui_term_leave(&top->term);
	if (top->stats.error[0])
		fprintf(stderr, "mrc top: %s\n", top->stats.error);
	else
		fprintf(stderr, "mrc top: %s: %s\n", top->stats.dir,
			err == EPERM ? "not a folder for this user alone" : strerror(err));
	return -1;
}

/* Rates need two readings, so the first picture comes one interval late, but for the live one. */
static int run_loop(struct top *top)
{
	uint64_t shown = 0, due = ui_clock_ns();

	if (read_stats(top))
		return EXIT_FAILED;
	if (top->live)
		print_once(top);
	while (!top->count || shown < top->count) {
		due += top->interval_ns;
		if (wait_quits(top, due))
			break;
		if (read_stats(top))
			return EXIT_FAILED;
		if (top->pid && !top->stats.n) {
			ui_term_leave(&top->term);
			fprintf(stderr, "mrc top: --pid %u: no MRC process of this number in %s\n",
				top->pid, top->stats.dir);
			return EXIT_FAILED;
		}
		print_once(top);
		shown++;
	}
	return EXIT_GOOD;
}

static const struct ui_flag flags[] = {
	{"--pid", UI_FLAG_U32, "N", "this process only", offsetof(struct top, pid), 1, 4194304},
	{"--interval", UI_FLAG_TIME, "TIME", "between readings (1s)",
	 offsetof(struct top, interval_ns), 50 * MS_NS, UINT64_C(3600000) * MS_NS},
	{"--count", UI_FLAG_U64, "N",
	 "readings to show (1; no end on a terminal); rates are of the interval before",
	 offsetof(struct top, count), 1, UINT64_MAX},
	UI_TEXT("--dir", top, dir, "DIR", "where the processes publish"),
	UI_SWITCH("--others", top, others,
		  "what other users let this one read, too (MRC_STATS_GROUP); root sees all"),
	CLI_FABRIC_FLAG(top, fabric_name),
	UI_SWITCH("--plain", top, plain, "text below text instead of a live screen"),
	UI_SWITCH("--json", top, json, "one JSON object a reading"),
};

static int cli_top_main(int argc, char **argv)
{
	static struct top top;
	int status;

	top = (struct top){.interval_ns = 1000 * MS_NS};
	status = ui_verb_parse(&cli_top_verb, &top, argc, argv, NULL, 0, NULL);
	if (status != UI_FLAGS_OK)
		return status;
	if (cli_fabric_find(&cli_top_verb, top.fabric_name, &top.fabric))
		return EXIT_FAILED;
	top.live = !top.json && !top.plain && ui_term_fits();
	if (!top.live && !top.count)
		top.count = 1;
	ui_raise_files();
	stats_reader_open(&top.stats, top.dir, top.pid);
	if (top.others)
		stats_reader_open_others(&top.stats);
	ui_term_catch();
	if (top.live)
		ui_term_enter(&top.term);
	status = run_loop(&top);
	ui_term_leave(&top.term);
	stats_reader_close(&top.stats);
	return status;
}

const struct ui_verb cli_top_verb = {
	.name = "mrc top",
	.summary = "show processes, planes, QPs and EVs of this machine, live",
	.usage = "[FLAG...]",
	.about = "Shows what the MRC processes of this machine do: bytes, retransmissions, losses, "
		 "trims and timeouts a second of each process; each plane; each QP with window, "
		 "bytes in flight, RTT and the state of its EVs (# good, - skip, x assumed bad, d "
		 "denied). Live on a terminal, where q quits; text elsewhere.",
	.notes = "Processes publish in MRC_STATS_DIR, or statistics.dir of the configuration file, "
		 "otherwise in " MRC_STATS_DIR_PREFIX
		 "UID, the folder of their user. Root sees those of all users.",
	.exits = "0 good, 1 nothing to read, 2 wrong usage",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = cli_top_main,
};
