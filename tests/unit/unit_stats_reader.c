/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading statistics segments: src/stats/stats_reader.h. */
#include "stats/stats_reader.h"

#include "support/test.h"
#include "unit/stats_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/mrc-read-XXXXXX";
static struct mrc_stats_segment segment;
static struct stats_reader stats;

static int dir_setup(void **state)
{
	(void)state;
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int dir_teardown(void **state)
{
	(void)state;
	stats_reader_close(&stats);
	return rmdir(dir);
}

#define STATS_TEST(name) TEST_WITH(dir_setup, dir_teardown, stats_reader_read, name)

static void path_of(char path[64], uint32_t pid)
{
	snprintf(path, 64, "%s/%u" MRC_STATS_SUFFIX, dir, pid);
}

/* Writes the segment as process pid would and holds its lock, if it is to look alive. */
static int publish(uint32_t pid, bool alive)
{
	char path[64];
	int fd;

	path_of(path, pid);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_i_eq(pwrite(fd, &segment, sizeof(segment), 0), (ssize_t)sizeof(segment));
	if (alive)
		assert_i_eq(flock(fd, LOCK_EX), 0);
	return fd;
}

static void withdraw(int fd, uint32_t pid)
{
	char path[64];

	path_of(path, pid);
	assert_i_eq(unlink(path), 0);
	close(fd);
}

STATS_TEST(growth_between_two_readings)
{
	const struct stats_process *p = &stats.process[0];
	int fd;

	fixture_segment(&segment, 5);
	fd = publish(5, true);
	stats_reader_open(&stats, dir, 0);
	assert_i_eq(stats_reader_read(&stats, 1000000000), 0);
	assert_u_eq(stats.n, 1);
	assert_true(stats_per_second(p, 10, 4) == 0);
	segment.counter[1].value += 8;
	publish(5, false);
	assert_i_eq(stats_reader_read(&stats, 3000000000), 0);
	assert_u_eq(stats_counter(p->now, "tx_retransmits"), 13);
	assert_u_eq(stats_counter(p->before, "tx_retransmits"), 5);
	assert_u_eq(stats_counter(p->now, "no such"), 0);
	assert_true(stats_per_second(p, 13, 5) == 4);
	withdraw(fd, 5);
}

STATS_TEST(a_process_that_went_is_shown_once_more)
{
	int fd;

	fixture_segment(&segment, 5);
	fd = publish(5, true);
	stats_reader_open(&stats, dir, 0);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	withdraw(fd, 5);
	assert_i_eq(stats_reader_read(&stats, 2), 0);
	assert_u_eq(stats.n, 1);
	assert_true(stats.process[0].gone);
	assert_i_eq(stats_reader_read(&stats, 3), 0);
	assert_u_eq(stats.n, 0);
}

STATS_TEST(what_crashed_is_not_shown)
{
	int fd;

	fixture_segment(&segment, 5);
	fd = publish(5, false);
	stats_reader_open(&stats, dir, 0);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	assert_u_eq(stats.n, 0);
	withdraw(fd, 5);
}

/* Anybody may put one into the folder: opening it for reading would wait for a writer, for ever. */
STATS_TEST(a_fifo_is_not_waited_for)
{
	char path[64];

	path_of(path, 5);
	assert_i_eq(mkfifo(path, 0666), 0);
	alarm(10);
	stats_reader_open(&stats, dir, 0);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	alarm(0);
	assert_u_eq(stats.n, 0);
	assert_i_eq(unlink(path), 0);
}

STATS_TEST(only_one_process_when_asked)
{
	int five, six;

	fixture_segment(&segment, 5);
	five = publish(5, true);
	six = publish(6, true);
	stats_reader_open(&stats, dir, 6);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	assert_u_eq(stats.n, 1);
	assert_u_eq(stats.process[0].pid, 6);
	withdraw(five, 5);
	withdraw(six, 6);
}

STATS_TEST(another_version_is_counted)
{
	int fd;

	fixture_segment(&segment, 5);
	segment.version++;
	fd = publish(5, true);
	stats_reader_open(&stats, dir, 0);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	assert_u_eq(stats.n, 0);
	assert_u_eq(stats.other_version, 1);
	withdraw(fd, 5);
}

STATS_TEST(bounds_are_kept)
{
	int fd;

	fixture_segment(&segment, 5);
	segment.ports = 4000;
	segment.qp[0].evs = 100000;
	memset(segment.qp[0].state, 'x', sizeof(segment.qp[0].state));
	fd = publish(5, true);
	stats_reader_open(&stats, dir, 0);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	assert_u_eq(stats.process[0].now->ports, MRC_STATS_PORTS);
	assert_u_eq(stats.process[0].now->qp[0].evs, MRC_STATS_EVS);
	assert_u_eq(strlen(stats.process[0].now->qp[0].state), 7);
	withdraw(fd, 5);
}

/* A segment without events, written by a process that has ended. */
static void write_ended(uint32_t pid, size_t size)
{
	char path[64];
	FILE *f;

	path_of(path, pid);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_u_eq(fwrite(&segment, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static int ended_setup(void **state)
{
	fixture_segment(&segment, 5);
	if (dir_setup(state))
		return -1;
	stats_reader_open(&stats, dir, 0);
	stats.with_ended = true;
	return 0;
}

static int ended_teardown(void **state)
{
	char path[64];

	for (uint32_t pid = 1; pid <= 3; pid++) {
		path_of(path, pid);
		unlink(path);
	}
	return dir_teardown(state);
}

#define ENDED_TEST(function, name) TEST_WITH(ended_setup, ended_teardown, function, name)

ENDED_TEST(stats_reader_find, maps_each_segment_once)
{
	char other[64];
	FILE *f;

	assert_int_equal(stats_reader_find(&stats), 0);
	assert_u_eq(stats.n, 0);
	write_ended(1, sizeof(segment));
	write_ended(2, sizeof(segment));
	snprintf(other, sizeof(other), "%s/other.txt", dir);
	f = fopen(other, "we");
	assert_non_null(f);
	fclose(f);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(stats_reader_find(&stats), 0);
		assert_u_eq(stats.n, 2);
	}
	assert_int_equal(unlink(other), 0);
}

ENDED_TEST(stats_reader_find, leaves_what_is_not_ready)
{
	write_ended(1, sizeof(segment) - 1);
	segment.magic[0] = 0;
	write_ended(2, sizeof(segment));
	segment.magic[0] = MRC_STATS_MAGIC[0];
	segment.version++;
	write_ended(3, sizeof(segment));
	assert_int_equal(stats_reader_find(&stats), 0);
	assert_u_eq(stats.n, 0);
}

static uint64_t stamps[8];
static uint32_t taken;

static void take_stamp(void *context, const struct mrc_stats_event *event)
{
	assert_ptr_equal(context, &taken);
	if (taken < 8)
		stamps[taken] = event->at_ns;
	taken++;
}

ENDED_TEST(stats_reader_events, gives_each_event_once)
{
	segment.events = 2;
	segment.event[0].at_ns = 10;
	segment.event[1].at_ns = 11;
	write_ended(1, sizeof(segment));
	stats_reader_find(&stats);
	taken = 0;
	assert_u_eq(stats_reader_events(&stats, take_stamp, &taken), 0);
	assert_u_eq(stats_reader_events(&stats, take_stamp, &taken), 0);
	assert_u_eq(taken, 2);
	assert_u_eq(stamps[1], 11);
	segment.event[2].at_ns = 12;
	segment.events = 3;
	close(publish(1, false));
	assert_u_eq(stats_reader_events(&stats, take_stamp, &taken), 0);
	assert_u_eq(taken, 3);
	assert_u_eq(stamps[2], 12);
}

ENDED_TEST(stats_reader_events, counts_what_was_overwritten)
{
	segment.events = MRC_STATS_EVENTS + 5;
	write_ended(1, sizeof(segment));
	stats_reader_find(&stats);
	taken = 0;
	/* The writer may be at work on one more, in the place of the oldest. */
	assert_u_eq(stats_reader_events(&stats, take_stamp, &taken), 6);
	assert_u_eq(taken, MRC_STATS_EVENTS - 1);
}

TEST(stats_reader_read, a_folder_that_is_not_there_is_empty)
{
	stats_reader_open(&stats, "/nowhere/at/all", 0);
	assert_i_eq(stats_reader_read(&stats, 1), 0);
	assert_u_eq(stats.n, 0);
	stats_reader_open(&stats, "/dev/null", 0);
	assert_i_eq(stats_reader_read(&stats, 1), ENOTDIR);
}
