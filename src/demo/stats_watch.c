/* SPDX-License-Identifier: BSD-2-Clause */
/* Adding up statistics segments: see measure.h. */
#include "demo/measure.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".mrcstats"

/* The name of a counter and where it goes in struct demo_counters. */
static const struct {
	const char *name;
	size_t offset;
} wanted[] = {
#define DEMO_COUNTER_ROW(name) {#name, offsetof(struct demo_counters, name)},
	DEMO_COUNTERS(DEMO_COUNTER_ROW)
#undef DEMO_COUNTER_ROW
};

#define WANTED (sizeof(wanted) / sizeof(wanted[0]))

void demo_watch_open(struct demo_watch *w, const char *dir)
{
	*w = (struct demo_watch){0};
	snprintf(w->dir, sizeof(w->dir), "%s", dir);
}

void demo_watch_close(struct demo_watch *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		munmap((void *)(uintptr_t)w->segment[i], sizeof(*w->segment[i]));
	w->n = 0;
}

static bool is_mapped(const struct demo_watch *w, const char *name)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (strcmp(w->name[i], name) == 0)
			return true;
	return false;
}

static bool is_segment_name(const char *name)
{
	size_t len = strlen(name), suffix = strlen(SUFFIX);

	return len > suffix && len < sizeof(((struct demo_watch *)0)->name[0]) &&
	       strcmp(name + len - suffix, SUFFIX) == 0;
}

static void map_segment(struct demo_watch *w, int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	const struct mrc_stats_segment *segment = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof(*segment))
		segment = mmap(NULL, sizeof(*segment), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (segment == MAP_FAILED)
		return;
	/* The magic is stored last: without it the process is still at work on the rest. */
	if (memcmp(segment->magic, MRC_STATS_MAGIC, sizeof(segment->magic)) != 0 ||
	    segment->version != MRC_STATS_VERSION) {
		munmap((void *)(uintptr_t)segment, sizeof(*segment));
		return;
	}
	w->segment[w->n] = segment;
	memcpy(w->name[w->n], name, strlen(name) + 1); /* is_segment_name has checked its length */
	w->n++;
}

uint32_t demo_watch_find(struct demo_watch *w)
{
	DIR *dir = opendir(w->dir);
	const struct dirent *entry;

	if (!dir)
		return w->n;
	while (w->n < DEMO_PROCESSES_MAX && (entry = readdir(dir)))
		if (is_segment_name(entry->d_name) && !is_mapped(w, entry->d_name))
			map_segment(w, dirfd(dir), entry->d_name);
	closedir(dir);
	return w->n;
}

static const struct mrc_stats_counter *find_counter(const struct mrc_stats_segment *s,
						    const char *name)
{
	for (uint32_t i = 0; i < MRC_STATS_COUNTERS && s->counter[i].name[0]; i++)
		if (strncmp(s->counter[i].name, name, sizeof(s->counter[i].name)) == 0)
			return &s->counter[i];
	return NULL;
}

static void add_counters(struct demo_sums *sums, const struct mrc_stats_segment *s)
{
	for (size_t i = 0; i < WANTED; i++) {
		const struct mrc_stats_counter *c = find_counter(s, wanted[i].name);
		uint64_t *to = (uint64_t *)(void *)((uint8_t *)&sums->counters + wanted[i].offset);

		if (c)
			*to += __atomic_load_n(&c->value, __ATOMIC_RELAXED);
	}
}

static void add_ev(struct demo_sums *sums, const struct mrc_stats_ev *ev, uint32_t paths)
{
	uint32_t path = ev->value % paths;
	struct demo_path_state *state;

	if (ev->port >= DEMO_PLANES_MAX || path >= DEMO_PATHS_MAX)
		return;
	state = &sums->path[ev->port][path];
	if (ev->state == MRC_STATS_EV_GOOD)
		state->good++;
	else if (ev->state == MRC_STATS_EV_SKIP)
		state->skip++;
	else
		state->bad++;
}

static void add_segment(struct demo_sums *sums, const struct mrc_stats_segment *s, uint32_t paths)
{
	add_counters(sums, s);
	for (uint32_t p = 0; p < DEMO_PLANES_MAX && p < s->ports; p++) {
		sums->tx_bytes[p] += s->port[p].tx_bytes;
		sums->overruns += s->port[p].rx_overruns;
	}
	for (uint32_t q = 0; q < MRC_STATS_QPS; q++) {
		const struct mrc_stats_qp *qp = &s->qp[q];

		if (!qp->qpn)
			continue;
		for (uint32_t i = 0; i < qp->evs && i < MRC_STATS_EVS; i++)
			add_ev(sums, &qp->ev[i], paths);
	}
}

void demo_watch_sum(const struct demo_watch *w, uint32_t paths, struct demo_sums *sums)
{
	*sums = (struct demo_sums){0};
	for (uint32_t i = 0; i < w->n; i++)
		add_segment(sums, w->segment[i], paths);
}

_Static_assert(sizeof(struct mrc_stats_event) % sizeof(uint64_t) == 0, "copied word by word");

/*
 * False: the event was overwritten before or while it was copied. Each word is loaded with acquire,
 * so that the count behind them is read last.
 */
static bool copy_event(const struct mrc_stats_segment *s, uint64_t number,
		       struct mrc_stats_event *event)
{
	const uint64_t *from = (const void *)&s->event[number % MRC_STATS_EVENTS];
	uint64_t words[sizeof(*event) / sizeof(uint64_t)];

	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
	memcpy(event, words, sizeof(words));
	return __atomic_load_n(&s->events, __ATOMIC_RELAXED) - number < MRC_STATS_EVENTS;
}

uint64_t demo_watch_events(struct demo_watch *w, demo_watch_event_fn fn, void *arg)
{
	struct mrc_stats_event event;
	uint64_t missed = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		uint64_t end = __atomic_load_n(&w->segment[i]->events, __ATOMIC_ACQUIRE);

		for (; w->events[i] < end; w->events[i]++)
			if (copy_event(w->segment[i], w->events[i], &event))
				fn(arg, &event);
			else
				missed++;
	}
	return missed;
}

const char *demo_watch_missing(const struct demo_watch *w)
{
	for (size_t i = 0; i < WANTED; i++)
		for (uint32_t s = 0; s < w->n; s++)
			if (!find_counter(w->segment[s], wanted[i].name))
				return wanted[i].name;
	return NULL;
}

struct demo_counters demo_watch_differences(const struct demo_counters *later,
					    const struct demo_counters *earlier)
{
	struct demo_counters d;

#define DEMO_COUNTER_MINUS(name) d.name = later->name - earlier->name;
	DEMO_COUNTERS(DEMO_COUNTER_MINUS)
#undef DEMO_COUNTER_MINUS
	return d;
}
