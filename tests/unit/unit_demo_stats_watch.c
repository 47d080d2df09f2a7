/* SPDX-License-Identifier: BSD-2-Clause */
/* Adding up statistics segments: src/demo/measure.h. */
#include "demo/measure.h"

#include "demo/stage.h"

#include "support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static struct demo_rundir dir;
static struct demo_watch watch;
static struct mrc_stats_segment segment;

static int open_watch(void **state)
{
	(void)state;
	memset(&segment, 0, sizeof(segment));
	memcpy(segment.magic, MRC_STATS_MAGIC, sizeof(segment.magic));
	segment.version = MRC_STATS_VERSION;
	segment.ports = 2;
	strcpy(segment.counter[0].name, "tx_data_packets");
	segment.counter[0].value = 100;
	strcpy(segment.counter[1].name, "evs_retired");
	segment.counter[1].value = 7;
	segment.port[1].tx_bytes = 5000;
	segment.port[1].rx_overruns = 2;
	assert_int_equal(demo_rundir_create(&dir), 0);
	demo_watch_open(&watch, dir.path);
	return 0;
}

static int close_watch(void **state)
{
	(void)state;
	demo_watch_close(&watch);
	demo_rundir_remove(&dir);
	return 0;
}

static void write_segment(const char *name, size_t size)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir.path, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_u_eq(fwrite(&segment, 1, size, f), size);
	fclose(f);
}

static struct mrc_stats_segment *open_segment(const char *name)
{
	char path[300];
	void *map;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir.path, name);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	map = mmap(NULL, sizeof(segment), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	assert_ptr_not_equal(map, MAP_FAILED);
	return map;
}

#define WATCH_TEST(function, name) TEST_WITH(open_watch, close_watch, function, name)

WATCH_TEST(demo_watch_find, maps_each_segment_once)
{
	assert_u_eq(demo_watch_find(&watch), 0);
	write_segment("1.mrcstats", sizeof(segment));
	write_segment("2.mrcstats", sizeof(segment));
	write_segment("other.txt", 10);
	assert_u_eq(demo_watch_find(&watch), 2);
	assert_u_eq(demo_watch_find(&watch), 2);
}

WATCH_TEST(demo_watch_find, leaves_what_is_not_ready)
{
	write_segment("1.mrcstats", sizeof(segment) - 1);
	segment.magic[0] = 0;
	write_segment("2.mrcstats", sizeof(segment));
	assert_u_eq(demo_watch_find(&watch), 0);
	segment.magic[0] = MRC_STATS_MAGIC[0];
	segment.version++;
	write_segment("3.mrcstats", sizeof(segment));
	assert_u_eq(demo_watch_find(&watch), 0);
}

WATCH_TEST(demo_watch_sum, keeps_the_values_of_a_process_that_ended)
{
	struct demo_sums sums;
	char path[300];

	write_segment("1.mrcstats", sizeof(segment));
	write_segment("2.mrcstats", sizeof(segment));
	demo_watch_find(&watch);
	snprintf(path, sizeof(path), "%s/1.mrcstats", dir.path);
	unlink(path);
	demo_watch_sum(&watch, 8, &sums);
	assert_u_eq(sums.counters.tx_data_packets, 200);
	assert_u_eq(sums.counters.evs_retired, 14);
	assert_u_eq(sums.counters.drop_icrc, 0);
	assert_u_eq(sums.tx_bytes[1], 10000);
	assert_u_eq(sums.overruns, 4);
}

WATCH_TEST(demo_watch_sum, counts_evs_by_plane_and_path)
{
	struct mrc_stats_qp *qp = &segment.qp[3];
	struct demo_sums sums;

	qp->qpn = 77;
	qp->evs = 3;
	qp->ev[0] = (struct mrc_stats_ev){.value = 49152, .port = 0, .state = MRC_STATS_EV_GOOD};
	qp->ev[1] =
		(struct mrc_stats_ev){.value = 49153, .port = 1, .state = MRC_STATS_EV_ASSUMED_BAD};
	qp->ev[2] = (struct mrc_stats_ev){.value = 49152, .port = 200};
	segment.qp[4] = *qp;
	segment.qp[4].qpn = 0;
	write_segment("1.mrcstats", sizeof(segment));
	demo_watch_find(&watch);
	demo_watch_sum(&watch, 8, &sums);
	assert_u_eq(sums.path[0][0].good, 1);
	assert_u_eq(sums.path[1][1].bad, 1);
	assert_u_eq(sums.path[1][0].good, 0);
}

static uint64_t stamps[8];
static uint32_t told;

static void take_stamp(void *arg, const struct mrc_stats_event *event)
{
	assert_ptr_equal(arg, &told);
	if (told < 8)
		stamps[told] = event->at_ns;
	told++;
}

WATCH_TEST(demo_watch_events, tells_of_each_event_once)
{
	struct mrc_stats_segment *map;

	segment.events = 2;
	segment.event[0].at_ns = 10;
	segment.event[1].at_ns = 11;
	write_segment("1.mrcstats", sizeof(segment));
	demo_watch_find(&watch);
	told = 0;
	assert_u_eq(demo_watch_events(&watch, take_stamp, &told), 0);
	assert_u_eq(demo_watch_events(&watch, take_stamp, &told), 0);
	assert_u_eq(told, 2);
	assert_u_eq(stamps[1], 11);
	map = open_segment("1.mrcstats");
	map->event[2].at_ns = 12;
	map->events = 3;
	munmap(map, sizeof(*map));
	assert_u_eq(demo_watch_events(&watch, take_stamp, &told), 0);
	assert_u_eq(told, 3);
	assert_u_eq(stamps[2], 12);
}

WATCH_TEST(demo_watch_events, counts_what_was_overwritten)
{
	segment.events = MRC_STATS_EVENTS + 5;
	write_segment("1.mrcstats", sizeof(segment));
	demo_watch_find(&watch);
	told = 0;
	/* The writer may be at work on one more, in the place of the oldest. */
	assert_u_eq(demo_watch_events(&watch, take_stamp, &told), 6);
	assert_u_eq(told, MRC_STATS_EVENTS - 1);
}

WATCH_TEST(demo_watch_missing, names_a_missing_counter)
{
	assert_null(demo_watch_missing(&watch));
	write_segment("1.mrcstats", sizeof(segment));
	demo_watch_find(&watch);
	assert_string_equal(demo_watch_missing(&watch), "tx_retransmits");
}

TEST(demo_watch_differences, subtracts_each_counter)
{
	const struct demo_counters later = {.tx_data_packets = 10, .evs_revived = 5};
	const struct demo_counters earlier = {.tx_data_packets = 4, .evs_revived = 5};
	struct demo_counters d = demo_watch_differences(&later, &earlier);

	assert_u_eq(d.tx_data_packets, 6);
	assert_u_eq(d.evs_revived, 0);
}
