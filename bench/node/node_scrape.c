/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node_scrape.c - what a scrape costs: one process with 64 QPs of 256 EVs each on 8 ports, read
 * from its statistics and written for Prometheus as `mrc stat --prometheus` and mrcd do.
 */
#include "node/bench_node.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "exporter/exporter.h"
#include "stats/stats_reader.h"

#define SCRAPES 100u
#define PORTS 8u

static void fill(struct mrc_stats_segment *s)
{
	memcpy(s->magic, MRC_STATS_MAGIC, sizeof(s->magic));
	s->version = MRC_STATS_VERSION;
	s->pid = (uint32_t)getpid();
	s->ports = PORTS;
	s->updated_ns = bn_now_ns(CLOCK_MONOTONIC);
	s->qps.shown = MRC_STATS_QPS;
	s->qps.of_state[MRC_STATS_QP_RTS] = MRC_STATS_QPS;
	for (uint32_t i = 0; i < PORTS; i++) {
		s->port[i].up = 1;
		s->port[i].evs[MRC_STATS_EV_GOOD] = MRC_STATS_QPS * MRC_STATS_EVS / PORTS;
	}
	for (uint32_t i = 0; i < MRC_STATS_QPS; i++) {
		struct mrc_stats_qp *qp = &s->qp[i];

		*qp = (struct mrc_stats_qp){.qpn = i + 1, .state = "RTS", .evs = MRC_STATS_EVS};
		for (uint32_t k = 0; k < MRC_STATS_EVS; k++)
			qp->ev[k] = (struct mrc_stats_ev){.value = BN_EV_BASE + k,
							  .port = (uint8_t)(k % PORTS)};
	}
}

/* As a process keeps it while it lives. */
static int publish(const char *dir)
{
	struct mrc_stats_segment *s = calloc(1, sizeof(*s));
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/%d" MRC_STATS_SUFFIX, dir, (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (!s || fd < 0)
		bn_die(path);
	fill(s);
	if (write(fd, s, sizeof(*s)) != (ssize_t)sizeof(*s) || flock(fd, LOCK_EX))
		bn_die(path);
	free(s);
	return fd;
}

void bn_measure_scrapes(void)
{
	struct stats_reader *reader = calloc(1, sizeof(*reader));
	char dir[] = "/tmp/mrc-bench-scrape-XXXXXX", command[64];
	struct ui_text text = {0};
	uint64_t ns[SCRAPES];
	int fd;

	if (!reader || !mkdtemp(dir))
		bn_die("a folder");
	fd = publish(dir);
	stats_reader_open(reader, dir, 0);
	for (uint32_t i = 0; i < SCRAPES; i++) {
		uint64_t begin = bn_now_ns(CLOCK_MONOTONIC);

		ui_text_clear(&text);
		if (stats_reader_read(reader, begin))
			bn_die(dir);
		stat_exposition_render(reader, 1, STAT_OPENMETRICS, &text);
		stat_exposition_end(STAT_OPENMETRICS, &text);
		ns[i] = bn_now_ns(CLOCK_MONOTONIC) - begin;
	}
	bn_print_times("scrape of 64 QPs x 256 EVs x 8 ports", ns, SCRAPES);
	printf("%-44s %zu\n", "bytes of it", text.len);
	ui_text_fini(&text);
	stats_reader_close(reader);
	free(reader);
	close(fd);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	if (system(command))
		bn_die(dir);
}
