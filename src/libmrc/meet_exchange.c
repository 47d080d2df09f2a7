/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * meet_exchange.c - lines between two ends: one of ours out, one of theirs in.
 *
 * Both ends write first; a line is shorter than what any pipe or socket takes at once. What comes
 * in is looked at as it comes, so that noise is refused at its first byte and not at the time
 * limit.
 */
#include "libmrc/meet.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char ready_line[] = MA_MEET_HEAD "ready\n";

/* As much as goes now. A socket whose peer is gone is an error here and no signal. */
static ssize_t write_some(int fd, const char *text, size_t n)
{
	ssize_t done = send(fd, text, n, MSG_NOSIGNAL | MSG_DONTWAIT);

	return done < 0 && errno == ENOTSOCK ? write(fd, text, n) : done;
}

static bool is_passing(int err)
{
	return err == EINTR || err == EAGAIN || err == EWOULDBLOCK;
}

static int write_line(int fd, const char *line, struct ma_meet_limit limit)
{
	size_t left = strlen(line);

	while (left > 0) {
		int err = ma_meet_wait(fd, POLLOUT, limit);
		ssize_t n = err ? 0 : write_some(fd, line, left);

		if (err)
			return err;
		if (n < 0 && !is_passing(errno))
			return errno;
		if (n > 0) {
			line += n;
			left -= (size_t)n;
		}
	}
	return 0;
}

/* Reads exactly n characters, which begin as a line does, and ends them with a zero. */
static int read_line(int fd, char *line, size_t n, struct ma_meet_limit limit)
{
	size_t have = 0;

	while (have < n) {
		int err = ma_meet_wait(fd, POLLIN, limit);
		ssize_t got = err ? 0 : read(fd, line + have, n - have);
		const char *end;

		if (err)
			return err;
		if (got == 0)
			return ECONNRESET;
		if (got < 0 && !is_passing(errno))
			return errno;
		if (got > 0)
			have += (size_t)got;
		err = ma_meet_head_check(line, have);
		if (err)
			return err;
		/* After a line that ends too soon nothing may come any more. */
		end = memchr(line, '\n', have);
		if (end && end != line + n - 1)
			return EPROTO;
	}
	line[n] = '\0';
	return 0;
}

int mrc_meet_sync(int in_fd, int out_fd, int timeout_ms)
{
	char line[sizeof(ready_line)] = "";
	struct ma_meet_limit limit;
	int err = ma_meet_limit_init(&limit, timeout_ms);

	if (!err)
		err = write_line(out_fd, ready_line, limit);
	if (!err)
		err = read_line(in_fd, line, sizeof(ready_line) - 1, limit);
	if (!err && strcmp(line, ready_line) != 0)
		err = EPROTO;
	return ma_errno(err);
}

int mrc_meet(struct mrc_qp *qp, const struct ibv_mr *mr, int in_fd, int out_fd, int timeout_ms,
	     struct mrc_meet_end *theirs)
{
	char line[MRC_MEET_LINE_BYTES] = "";
	struct ma_meet_limit limit;
	struct mrc_meet_end mine, peer;
	int err = theirs ? ma_meet_limit_init(&limit, timeout_ms) : EINVAL;

	if (!err)
		err = mrc_meet_describe(qp, mr, &mine);
	if (!err)
		err = mrc_meet_print(&mine, line);
	if (!err)
		err = write_line(out_fd, line, limit);
	if (!err)
		err = read_line(in_fd, line, sizeof(line) - 1, limit);
	if (!err)
		err = mrc_meet_parse(line, &peer);
	if (!err)
		err = mrc_meet_connect(qp, &mine, &peer);
	if (!err)
		*theirs = peer;
	return ma_errno(err);
}
