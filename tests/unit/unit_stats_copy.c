/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_stats_copy.c - segments out of files: src/stats/stats_copy.c. */
#include "support/test.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stats/stats_copy.h"
#include "stats/stats_reader.h"
#include "unit/stats_fixture.h"

static struct mrc_stats_segment segment, loaded;

static int file_with(size_t size)
{
	int fd = memfd_create("segment", MFD_CLOEXEC);

	assert_i_eq(pwrite(fd, &segment, size, 0), (ssize_t)size);
	return fd;
}

/* What was interrupted before is no matter, and what cannot be read is not tried for ever. */
TEST(stats_kind_of, ends)
{
	int fd;

	fixture_segment(&segment, 5);
	fd = file_with(sizeof(segment));
	alarm(60);
	errno = EINTR;
	assert_int_equal(stats_kind_of(fd), STATS_SEGMENT);
	assert_int_equal(stats_kind_of(-1), STATS_NONE);
	alarm(0);
	close(fd);
}

TEST(stats_segment_load, within_bounds_and_printable)
{
	const struct mrc_stats_qp *last = &loaded.qp[MRC_STATS_QPS - 1];
	int fd;

	fixture_segment(&segment, 5);
	segment.ports = MRC_STATS_PORTS + 1;
	memset(segment.port[MRC_STATS_PORTS - 1].interface, 7, 3);
	memset(&segment.node, 7, sizeof(segment.node));
	segment.qp[MRC_STATS_QPS - 1].evs = MRC_STATS_EVS + 1;
	memset(segment.qp[MRC_STATS_QPS - 1].state, 7, 3);
	memset(segment.event, 7, sizeof(segment.event)); /* they have no text */
	segment.events = UINT64_MAX / 2;
	fd = file_with(sizeof(segment));
	assert_i_eq(stats_segment_load(fd, &loaded), 0);
	close(fd);
	assert_u_eq(loaded.ports, MRC_STATS_PORTS);
	assert_string_equal(loaded.port[MRC_STATS_PORTS - 1].interface, "???");
	assert_u_eq(strlen(loaded.node.store), sizeof(loaded.node.store) - 1);
	assert_u_eq(strlen(loaded.node.refused), sizeof(loaded.node.refused) - 1);
	assert_u_eq(strlen(loaded.node.writer), sizeof(loaded.node.writer) - 1);
	assert_int_equal(loaded.node.store[0], '?');
	assert_u_eq(last->evs, MRC_STATS_EVS);
	assert_string_equal(last->state, "???");
	assert_u_eq(loaded.events, UINT64_MAX / 2);
	assert_bytes_eq(loaded.event, segment.event, sizeof(segment.event));
}

TEST(stats_segment_load, nothing_else)
{
	int fd;

	fixture_segment(&segment, 5);
	fd = file_with(sizeof(segment) - 1);
	assert_i_eq(stats_segment_load(fd, &loaded), EINVAL);
	close(fd);
	segment.version++;
	fd = file_with(sizeof(segment));
	assert_i_eq(stats_segment_load(fd, &loaded), EINVAL);
	close(fd);
}
