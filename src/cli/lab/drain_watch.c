/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drain_watch.c - whether anything still crosses a part that is drained: see drain.h.
 *
 * Two things are looked at. Which processes of the lab have taken the state that holds the denials:
 * they say so in their statistics, and whose hosts they are on says their network namespace. And
 * what the part's ports were given to send, in either direction, whoever sends it: a process whose
 * statistics are elsewhere, a ping, TCP.
 */
#include "cli/lab/drain.h"

#include "ui/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct drain_watch {
	struct ml_lab *lab;
	const struct mf_topology *t;
	struct mf_target part;
	const uint64_t *generation; /* of each host */
	struct stat *netns;	    /* of each host; owned */
	struct ml_counters *now;    /* n_links; owned */
	uint64_t *before;	    /* packets of n_links; owned */
	uint64_t quiet_since_ns;
	bool looked;
	struct stats_reader stats;
};

static int find_netns(struct drain_watch *w, struct ml_error *e)
{
	for (uint32_t host = 0; host < w->t->n_hosts; host++) {
		int fd = ml_lab_netns(w->lab, host, e), failed;

		if (fd < 0)
			return -1;
		failed = fstat(fd, &w->netns[host]);
		close(fd);
		if (failed)
			return ml_error_set(e, "the namespace of host%u: %s", host,
					    strerror(errno));
	}
	return 0;
}

/* Processes that are not seen are not waited for: so it is looked before anything is denied. */
static int try_stats(struct drain_watch *w, struct ml_error *e)
{
	int err = stats_reader_read(&w->stats, ui_clock_ns());

	if (!err)
		return 0;
	if (w->stats.error[0])
		return ml_error_set(e, "the statistics of processes: %s", w->stats.error);
	return ml_error_set(e, "the statistics of processes: %s: %s", w->stats.dir, strerror(err));
}

struct drain_watch *drain_watch_open(struct ml_lab *lab, const struct mf_target *part,
				     const uint64_t *generation, struct ml_error *e)
{
	struct drain_watch *w = calloc(1, sizeof(*w));
	const struct mf_topology *t = ml_lab_topology(lab);

	if (!w) {
		ml_error_set(e, "no memory");
		return NULL;
	}
	w->lab = lab;
	w->t = t;
	w->part = *part;
	w->generation = generation;
	w->netns = calloc(t->n_hosts, sizeof(*w->netns));
	w->now = calloc(t->n_links, sizeof(*w->now));
	w->before = calloc(t->n_links, sizeof(*w->before));
	ui_raise_files(); /* one for each process */
	stats_reader_open(&w->stats, NULL, 0);
	if (!w->netns || !w->now || !w->before)
		ml_error_set(e, "no memory");
	else if (find_netns(w, e) == 0 && try_stats(w, e) == 0)
		return w;
	drain_watch_close(w);
	return NULL;
}

void drain_watch_close(struct drain_watch *w)
{
	if (!w)
		return;
	stats_reader_close(&w->stats);
	free(w->netns);
	free(w->now);
	free(w->before);
	free(w);
}

/* ---- who follows ---- */

/* The host in whose namespace a process is; MF_HOST_NONE: it is not of this lab, or has ended. */
static uint32_t host_of(const struct drain_watch *w, uint32_t pid)
{
	struct stat st;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%u/ns/net", pid);
	if (stat(path, &st) != 0)
		return MF_HOST_NONE;
	for (uint32_t host = 0; host < w->t->n_hosts; host++)
		if (st.st_ino == w->netns[host].st_ino && st.st_dev == w->netns[host].st_dev)
			return host;
	return MF_HOST_NONE;
}

/* By the path, for a process may be told to look elsewhere. */
static bool follows(const struct drain_watch *w, const struct mrc_stats_node *node, uint32_t host)
{
	char dir[ML_HOST_PATH_MAX];
	size_t len = strlen(ml_host_node_dir(w->lab, host, dir));

	return strncmp(node->store, dir, len) == 0 && node->store[len] == '/' &&
	       node->generation >= w->generation[host];
}

static void look_at_processes(struct drain_watch *w, uint64_t now_ns, struct drain_seen *seen)
{
	/* Statistics that cannot be read any more say nothing; the ports do. */
	if (stats_reader_read(&w->stats, now_ns))
		return;
	for (uint32_t i = 0; i < w->stats.n; i++) {
		const struct stats_process *p = &w->stats.process[i];
		uint32_t host = p->gone ? MF_HOST_NONE : host_of(w, p->pid);

		if (host == MF_HOST_NONE || !w->generation[host])
			continue;
		seen->processes++;
		if (follows(w, &p->now->node, host))
			continue;
		seen->behind++;
		seen->behind_pid = p->pid;
		seen->behind_host = host;
		snprintf(seen->behind_command, sizeof(seen->behind_command), "%s", p->command);
	}
}

/* ---- what crosses ---- */

static void count_link(struct drain_watch *w, uint32_t link, uint64_t *most,
		       struct drain_seen *seen)
{
	uint64_t packets = w->now[link].packets;

	/* A switch that was rebooted counts from 0 again. */
	if (packets >= w->before[link])
		packets -= w->before[link];
	w->before[link] = w->now[link].packets;
	if (!w->looked)
		return;
	seen->packets += packets;
	if (packets > *most) {
		*most = packets;
		seen->busiest = link;
	}
}

int drain_watch_look(struct drain_watch *w, uint64_t now_ns, struct drain_seen *seen,
		     struct ml_error *e)
{
	uint64_t most = 0;

	*seen = (struct drain_seen){.busiest = MF_LINK_NONE};
	if (ml_lab_counters(w->lab, w->now, e))
		return -1;
	for (uint32_t link = 0; link < w->t->n_links; link++)
		if (mf_part_has(w->t, &w->part, link))
			count_link(w, link, &most, seen);
	look_at_processes(w, now_ns, seen);
	if (!w->looked || seen->packets)
		w->quiet_since_ns = now_ns;
	w->looked = true;
	seen->quiet_ns = now_ns - w->quiet_since_ns;
	return 0;
}
