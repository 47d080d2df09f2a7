/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading statistics segments: src/cli/stats_reader.h. */
#include "cli/stats_reader.h"

#include "support/test.h"
#include "unit/stats_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

static char dir[] = "/tmp/mrc-read-XXXXXX";
static struct mrc_stats_segment segment;
static struct cli_stats stats;

static int dir_setup(void **state)
{
	(void)state;
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int dir_teardown(void **state)
{
	(void)state;
	cli_stats_close(&stats);
	return rmdir(dir);
}

#define STATS_TEST(name) TEST_WITH(dir_setup, dir_teardown, cli_stats_read, name)

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
	const struct cli_stats_process *p = &stats.process[0];
	int fd;

	fixture_segment(&segment, 5);
	fd = publish(5, true);
	cli_stats_open(&stats, dir, 0);
	assert_i_eq(cli_stats_read(&stats, 1000000000), 0);
	assert_u_eq(stats.n, 1);
	assert_true(cli_stats_per_second(p, 10, 4) == 0);
	segment.counter[1].value += 8;
	publish(5, false);
	assert_i_eq(cli_stats_read(&stats, 3000000000), 0);
	assert_u_eq(cli_stats_counter(p->now, "tx_retransmits"), 13);
	assert_u_eq(cli_stats_counter(p->before, "tx_retransmits"), 5);
	assert_u_eq(cli_stats_counter(p->now, "no such"), 0);
	assert_true(cli_stats_per_second(p, 13, 5) == 4);
	withdraw(fd, 5);
}

STATS_TEST(a_process_that_went_is_shown_once_more)
{
	int fd;

	fixture_segment(&segment, 5);
	fd = publish(5, true);
	cli_stats_open(&stats, dir, 0);
	assert_i_eq(cli_stats_read(&stats, 1), 0);
	withdraw(fd, 5);
	assert_i_eq(cli_stats_read(&stats, 2), 0);
	assert_u_eq(stats.n, 1);
	assert_true(stats.process[0].gone);
	assert_i_eq(cli_stats_read(&stats, 3), 0);
	assert_u_eq(stats.n, 0);
}

STATS_TEST(what_crashed_is_not_shown)
{
	int fd;

	fixture_segment(&segment, 5);
	fd = publish(5, false);
	cli_stats_open(&stats, dir, 0);
	assert_i_eq(cli_stats_read(&stats, 1), 0);
	assert_u_eq(stats.n, 0);
	withdraw(fd, 5);
}

STATS_TEST(only_one_process_when_asked)
{
	int five, six;

	fixture_segment(&segment, 5);
	five = publish(5, true);
	six = publish(6, true);
	cli_stats_open(&stats, dir, 6);
	assert_i_eq(cli_stats_read(&stats, 1), 0);
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
	cli_stats_open(&stats, dir, 0);
	assert_i_eq(cli_stats_read(&stats, 1), 0);
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
	cli_stats_open(&stats, dir, 0);
	assert_i_eq(cli_stats_read(&stats, 1), 0);
	assert_u_eq(stats.process[0].now->ports, MRC_STATS_PORTS);
	assert_u_eq(stats.process[0].now->qp[0].evs, MRC_STATS_EVS);
	assert_u_eq(strlen(stats.process[0].now->qp[0].state), 7);
	withdraw(fd, 5);
}

TEST(cli_stats_read, a_folder_that_is_not_there_is_empty)
{
	cli_stats_open(&stats, "/nowhere/at/all", 0);
	assert_i_eq(cli_stats_read(&stats, 1), 0);
	assert_u_eq(stats.n, 0);
	cli_stats_open(&stats, "/dev/null", 0);
	assert_i_eq(cli_stats_read(&stats, 1), ENOTDIR);
}
