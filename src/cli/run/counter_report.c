/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters of a program that has ended: see run.h. */
#include "cli/run/run.h"

#include "stats/stats_reader.h"
#include "ui/terminal.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
			void *more = realloc(r->event, room * sizeof(*event));

			if (!more)
				return ENOMEM;
			r->event = more;
			r->room = room;
		}
		r->event[r->events++] = *event;
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

static bool is_segment(const struct mrc_stats_segment *s)
{
	return memcmp(s->magic, MRC_STATS_MAGIC, sizeof(s->magic)) == 0 &&
	       s->version == MRC_STATS_VERSION;
}

static int add_file(struct run_report *r, const char *path, struct mrc_stats_segment *s)
{
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(s, sizeof(*s), 1, f) : 0;

	if (f)
		fclose(f);
	if (n == 1 && is_segment(s))
		return run_report_add(r, s);
	r->unreadable++;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct mrc_stats_event *x = a, *y = b;

	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
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
