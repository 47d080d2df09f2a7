/* SPDX-License-Identifier: BSD-2-Clause */
/* Adding up statistics segments: src/demo/measure.h. */
#include "demo/measure.h"

#include "demo/demo.h"
#include "demo/stage.h"

#include "support/test.h"

#include <stdio.h>
#include <unistd.h>

static struct demo_rundir dir;
static struct stats_reader stats;
static struct mrc_stats_segment segment;

static int open_stats(void **state)
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
	stats_reader_open(&stats, dir.path, 0);
	stats.with_ended = true;
	return 0;
}

static int close_stats(void **state)
{
	(void)state;
	stats_reader_close(&stats);
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

#define SUM_TEST(function, name) TEST_WITH(open_stats, close_stats, function, name)

SUM_TEST(demo_counters_sum, keeps_the_values_of_a_process_that_ended)
{
	struct demo_sums sums;
	char path[300];

	write_segment("1.mrcstats", sizeof(segment));
	write_segment("2.mrcstats", sizeof(segment));
	stats_reader_find(&stats);
	snprintf(path, sizeof(path), "%s/1.mrcstats", dir.path);
	unlink(path);
	stats_reader_copy(&stats, 1);
	demo_counters_sum(&stats, 8, &sums);
	assert_u_eq(sums.counters.tx_data_packets, 200);
	assert_u_eq(sums.counters.evs_retired, 14);
	assert_u_eq(sums.counters.drop_icrc, 0);
	assert_u_eq(sums.tx_bytes[1], 10000);
	assert_u_eq(sums.overruns, 4);
}

SUM_TEST(demo_counters_sum, counts_evs_by_plane_and_path)
{
	struct mrc_stats_qp *qp = &segment.qp[0];
	const struct demo_fault hit = {.target = {"plane1.t1-1"}, .targets = 1};
	struct demo_sums sums;

	qp->qpn = 77;
	qp->evs = 3;
	qp->ev[0] = (struct mrc_stats_ev){.value = 49152, .port = 0, .state = MRC_STATS_EV_GOOD};
	qp->ev[1] =
		(struct mrc_stats_ev){.value = 49153, .port = 1, .state = MRC_STATS_EV_ASSUMED_BAD};
	qp->ev[2] = (struct mrc_stats_ev){.value = 49152, .port = 200};
	segment.qp[1] = *qp;
	segment.qp[1].qpn = 0;
	write_segment("1.mrcstats", sizeof(segment));
	stats_reader_find(&stats);
	stats_reader_copy(&stats, 1);
	demo_counters_sum(&stats, 8, &sums);
	assert_u_eq(sums.path[0][0].good, 1);
	assert_u_eq(sums.path[1][1].bad, 1);
	assert_u_eq(sums.path[1][0].good, 0);
	assert_u_eq(demo_sums_out(&sums, &hit), 1);
}

TEST(demo_sums_out, counts_ports_that_are_left_still)
{
	const struct demo_sums sums = {.counters = {.uplinks_left = 5, .uplinks_restored = 3},
				       .path[0][1].bad = 4,
				       .path[1][0].skip = 7};

	const struct demo_fault host = {.target = {"host1.e1", "host1.e2"}, .targets = 2};

	assert_u_eq(demo_sums_out(&sums, &host), 6);
}

TEST(demo_sums_out, counts_evs_over_what_is_hit)
{
	const struct demo_sums sums = {
		.path[0][1].bad = 4, .path[0][2].bad = 16, .path[1][1].bad = 64};
	const struct demo_fault plane = {.target = {"plane0"}, .targets = 1};
	const struct demo_fault t1 = {.target = {"plane0.t1-1"}, .targets = 1};
	const struct demo_fault well = {.target = {"plane1.t1-0", "plane2"}, .targets = 2};

	assert_u_eq(demo_sums_out(&sums, &plane), 20);
	assert_u_eq(demo_sums_out(&sums, &t1), 4);
	assert_u_eq(demo_sums_out(&sums, &well), 0);
}

SUM_TEST(demo_counters_missing, names_a_missing_counter)
{
	assert_null(demo_counters_missing(&stats));
	write_segment("1.mrcstats", sizeof(segment));
	stats_reader_find(&stats);
	stats_reader_copy(&stats, 1);
	assert_string_equal(demo_counters_missing(&stats), "tx_retransmits");
}

TEST(demo_counters_difference, subtracts_each_counter)
{
	const struct demo_counters later = {.tx_data_packets = 10, .evs_revived = 5};
	const struct demo_counters earlier = {.tx_data_packets = 4, .evs_revived = 5};
	struct demo_counters d = demo_counters_difference(&later, &earlier);

	assert_u_eq(d.tx_data_packets, 6);
	assert_u_eq(d.evs_revived, 0);
}
