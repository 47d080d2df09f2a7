/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters of a program that has ended: see run.h. */
#include "cli/run/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "stats/metrics.h"
#include "stats/stats_reader.h"
#include "ui/terminal.h"
#include "ui/text.h"

int run_report_open(struct run_report *r)
{
	*r = (struct run_report){.dir = "/tmp/softmrc-run-XXXXXX", .begin_ns = ui_clock_ns()};
	if (!mkdtemp(r->dir))
		return errno;
	if (setenv("MRC_STATS_DIR", r->dir, 1) || setenv("MRC_STATS_KEEP", "on", 1)) {
		rmdir(r->dir);
		return ENOMEM;
	}
	return 0;
}

/* Events of EVs that are still in the segment: the last MRC_STATS_EVENTS. */
static int add_events(struct run_report *r, const struct mrc_stats_segment *s)
{
	uint64_t first = s->events > MRC_STATS_EVENTS ? s->events - MRC_STATS_EVENTS : 0;

	for (uint64_t n = first; n < s->events; n++) {
		const struct mrc_stats_event *event = &s->event[n % MRC_STATS_EVENTS];

		if (event->kind != MRC_STATS_EVENT_EV)
			continue;
		if (r->events == r->room) {
			size_t room = r->room ? 2 * r->room : 64;
			void *more = realloc(r->event, room * sizeof(*r->event));

			if (!more)
				return ENOMEM;
			r->event = more;
			r->room = room;
		}
		r->event[r->events].e = *event;
		memcpy(r->event[r->events++].gid, s->gid, sizeof(s->gid));
	}
	return 0;
}

int run_report_add(struct run_report *r, const struct mrc_stats_segment *s)
{
	uint32_t ports = s->ports < MRC_STATS_PORTS ? s->ports : MRC_STATS_PORTS;

	r->processes++;
	r->ports = ports > r->ports ? ports : r->ports;
	/* All processes are of one release, so their lists are the same. */
	for (uint32_t i = 0; i < MRC_STATS_COUNTERS && s->counter[i].name[0]; i++) {
		memcpy(r->counter[i].name, s->counter[i].name, sizeof(r->counter[i].name) - 1);
		r->counter[i].value += s->counter[i].value;
	}
	for (uint32_t i = 0; i < ports; i++) {
		r->port[i].tx_bytes += s->port[i].tx_bytes;
		r->port[i].rx_bytes += s->port[i].rx_bytes;
	}
	return add_events(r, s);
}

/* The program may have put anything there, and what root runs may change its user. */
static int add_file(struct run_report *r, const char *path, struct mrc_stats_segment *s)
{
	uid_t owner = geteuid() ? geteuid() : STATS_ANY_OWNER;
	int fd = stats_file_open(AT_FDCWD, path, &owner);
	bool good = fd >= 0 && stats_segment_load(fd, s) == 0;

	if (fd >= 0)
		close(fd);
	if (good)
		return run_report_add(r, s);
	r->unreadable++;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct run_event *x = a, *y = b;

	return (x->e.at_ns > y->e.at_ns) - (x->e.at_ns < y->e.at_ns);
}

/* Calls fn for every file of statistics in the folder, until one returns an error. */
static int each_file(struct run_report *r, struct mrc_stats_segment *s,
		     int (*fn)(struct run_report *r, const char *path, struct mrc_stats_segment *s))
{
	DIR *dir = opendir(r->dir);
	const struct dirent *entry;
	int err = 0;

	if (!dir)
		return errno;
	while (!err && (entry = readdir(dir))) {
		char path[RUN_REPORT_DIR_MAX + 256 + 1];

		if (!strstr(entry->d_name, MRC_STATS_SUFFIX))
			continue;
		snprintf(path, sizeof(path), "%s/%s", r->dir, entry->d_name);
		err = fn(r, path, s);
	}
	closedir(dir);
	return err;
}

int run_report_read(struct run_report *r)
{
	struct mrc_stats_segment *s = malloc(sizeof(*s));
	int err = s ? each_file(r, s, add_file) : ENOMEM;

	free(s);
	r->end_ns = ui_clock_ns();
	if (r->events)
		qsort(r->event, r->events, sizeof(r->event[0]), by_time);
	return err;
}

static int remove_file(struct run_report *r, const char *path, struct mrc_stats_segment *s)
{
	(void)r;
	(void)s;
	unlink(path); /* what stays keeps the folder, and that is said */
	return 0;
}

void run_report_close(struct run_report *r)
{
	each_file(r, NULL, remove_file);
	if (rmdir(r->dir))
		fprintf(stderr, "mrc run: %s is left: %s\n", r->dir, strerror(errno));
	free(r->event);
	*r = (struct run_report){0};
}

/* ---- as text and as JSON ---- */

/* Lines of events for eyes; more are in the JSON. */
#define EVENTS_SHOWN 40u

static uint64_t counter_sum(const struct run_report *r, const char *name)
{
	for (uint32_t i = 0; i < MRC_STATS_COUNTERS; i++)
		if (strcmp(r->counter[i].name, name) == 0)
			return r->counter[i].value;
	return 0;
}

static const char *cause_name(uint8_t cause)
{
	static const char *const name[] = {
		[MRC_STATS_EV_BY_LOSS] = "packets lost",
		[MRC_STATS_EV_BY_MARK] = "the receiver said so",
		[MRC_STATS_EV_BY_PROBE] = "probes answered",
		[MRC_STATS_EV_BY_FLOOR] = "too few others",
		[MRC_STATS_EV_BY_OPERATOR] = "by hand",
		[MRC_STATS_EV_BY_PORT] = "its port is back",
		[MRC_STATS_EV_BY_LATE] = "packets late",
		[MRC_STATS_EV_BY_HINT] = "bad for another process",
	};

	return cause < sizeof(name) / sizeof(name[0]) ? name[cause] : "?";
}

static double to_seconds(const struct run_report *r, uint64_t at_ns)
{
	return (double)(int64_t)(at_ns - r->begin_ns) / 1e9;
}

static void show_data(const struct run_report *r, const char *way, const char *prefix, FILE *to)
{
	char name[32], bytes[UI_UNITS_MAX], packets[UI_UNITS_MAX];

	snprintf(name, sizeof(name), "%s_data_bytes", prefix);
	ui_units_bytes(bytes, counter_sum(r, name));
	snprintf(name, sizeof(name), "%s_data_packets", prefix);
	fprintf(to, "  %-8s %s in %s packets", way, bytes,
		ui_units_count(packets, (double)counter_sum(r, name)));
}

/* What UD QPs did, where there was one that did anything. */
static void show_datagrams(const struct run_report *r, FILE *to)
{
	static const char drop[] = "ud_drop_";
	char tx[UI_UNITS_MAX], rx[UI_UNITS_MAX];
	uint64_t dropped = 0;

	for (uint32_t i = 0; i < MRC_STATS_COUNTERS && r->counter[i].name[0]; i++)
		if (strncmp(r->counter[i].name, drop, sizeof(drop) - 1) == 0)
			dropped += r->counter[i].value;
	if (counter_sum(r, "ud_tx") == 0 && counter_sum(r, "ud_rx") == 0 && dropped == 0)
		return;
	fprintf(to, "  datagrams: sent %s, received %s, %" PRIu64 " dropped\n",
		ui_units_bytes(tx, counter_sum(r, "ud_tx_bytes")),
		ui_units_bytes(rx, counter_sum(r, "ud_rx_bytes")), dropped);
}

static const char *cable_of(const struct run_report *r, const struct run_event *event, char *out)
{
	return r->fabric ? cli_fabric_ev(r->fabric, event->gid, event->e.peer, event->e.port,
					 event->e.ev, out)
			 : NULL;
}

static void show_events(const struct run_report *r, FILE *to)
{
	char ev[UI_UNITS_MAX], room[CLI_EV_NAME_BYTES];

	for (size_t i = 0; i < r->events && i < EVENTS_SHOWN; i++) {
		const struct mrc_stats_event *e = &r->event[i].e;
		const char *cable = cable_of(r, &r->event[i], room);

		fprintf(to, "  %9.3f s  plane %u  EV %s is %s: %s%s%s\n", to_seconds(r, e->at_ns),
			e->port, ui_units_ev(ev, e->ev), stats_ev_state_name(e->state),
			cause_name(e->cause), cable ? "; " : "", cable ? cable : "");
	}
	if (r->events > EVENTS_SHOWN)
		fprintf(to, "  and %zu more\n", r->events - EVENTS_SHOWN);
}

void run_report_show(const struct run_report *r, const char *program, FILE *to)
{
	char tx[UI_UNITS_MAX], rx[UI_UNITS_MAX];

	fprintf(to, "mrc run: %s: %.1f s, %u process%s over MRC\n", program,
		to_seconds(r, r->end_ns), r->processes, r->processes == 1 ? "" : "es");
	if (r->unreadable)
		fprintf(to, "  %u files of statistics are of another release, or not whole\n",
			r->unreadable);
	if (!r->processes)
		return;
	show_data(r, "sent", "tx", to);
	fprintf(to, ", %" PRIu64 " of them again\n", counter_sum(r, "tx_retransmits"));
	show_data(r, "received", "rx", to);
	fprintf(to, ", %" PRIu64 " trimmed\n", counter_sum(r, "rx_trimmed"));
	show_datagrams(r, to);
	for (uint32_t i = 0; i < r->ports; i++)
		fprintf(to, "  plane %-2u sent %s, received %s on the wire\n", i,
			ui_units_bytes(tx, r->port[i].tx_bytes),
			ui_units_bytes(rx, r->port[i].rx_bytes));
	fprintf(to, "  EVs      %" PRIu64 " retired, %" PRIu64 " revived\n",
		counter_sum(r, "evs_retired"), counter_sum(r, "evs_revived"));
	show_events(r, to);
}

static json_t *json_planes(const struct run_report *r)
{
	json_t *all = json_array();

	for (uint32_t i = 0; i < r->ports; i++)
		json_array_append_new(all, json_pack("{sI sI}", "tx_bytes",
						     (json_int_t)r->port[i].tx_bytes, "rx_bytes",
						     (json_int_t)r->port[i].rx_bytes));
	return all;
}

static json_t *json_events(const struct run_report *r)
{
	json_t *all = json_array();

	for (size_t i = 0; i < r->events; i++) {
		const struct mrc_stats_event *e = &r->event[i].e;
		char room[CLI_EV_NAME_BYTES];

		json_array_append_new(
			all, json_pack("{sf si sI ss ss ss*}", "at_s", to_seconds(r, e->at_ns),
				       "plane", (int)e->port, "ev", (json_int_t)e->ev, "state",
				       stats_ev_state_name(e->state), "cause", cause_name(e->cause),
				       "cable", cable_of(r, &r->event[i], room)));
	}
	return all;
}

int run_report_json(const struct run_report *r, const char *path)
{
	json_t *counters = json_object();
	json_t *all;
	int err = 0;

	for (uint32_t i = 0; i < MRC_STATS_COUNTERS && r->counter[i].name[0]; i++)
		json_object_set_new(counters, r->counter[i].name,
				    json_integer((json_int_t)r->counter[i].value));
	all = json_pack("{sf sI so so so}", "seconds", to_seconds(r, r->end_ns), "processes",
			(json_int_t)r->processes, "counters", counters, "planes", json_planes(r),
			"events", json_events(r));
	errno = 0;
	if (!all || json_dump_file(all, path, JSON_INDENT(2)))
		err = errno ? errno : EIO;
	json_decref(all);
	return err;
}
