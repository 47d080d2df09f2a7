/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node_share.c - how a change of this process comes to all processes of the host: through mrcd, the
 * writer of the store; or, where none lives, into the store itself, if that is this user's.
 *
 * The change is made of the state that is in force and counts only if it still is then, so that
 * nothing is lost of what others decide meanwhile. Everything here is called without nic->lock, for
 * it waits for another process.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "host/node/node.h"

#define ANSWER_MAX 2048u
/* mrcd writes a file and answers; it is hung if that takes so long. */
#define ANSWER_S 5
/* Another process writes the store for the moment that a change takes. */
#define BUSY_NS 1000000L
/* This user's connections to mrcd are too many at once: a second is waited in all. */
#define FULL_NS 10000000L

int mh_node_share_read(struct mh_nic *nic, struct mn_state *s, struct store_info *info)
{
	struct store_error error;
	int err;

	if (!nic->node->store.used)
		return ENOENT;
	err = store_read(nic->env.node_dir, nic->attr.name, s, info, &error);
	if (err && err != ENOENT)
		mh_log(MRC_LOG_WARNING, "%s: %s; nothing can be changed", nic->attr.name,
		       error.text);
	return err && err != ENOENT ? EIO : err;
}

/* ---- through mrcd ---- */

/* The folder is its owner's alone, so that nobody else can listen there. */
int mh_node_dial(const struct mh_nic *nic)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct timeval patience = {.tv_sec = ANSWER_S};
	int n = snprintf(at.sun_path, sizeof(at.sun_path), "%s/" STORE_SOCKET_NAME,
			 nic->env.node_dir);
	int fd, err;

	errno = ENOENT;
	if (n >= (int)sizeof(at.sun_path))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) == 0 &&
	    connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0)
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

static bool send_line(int fd, const char *line, int passed)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec text = {(void *)(uintptr_t)line, strlen(line)};
	struct msghdr message = {.msg_iov = &text,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *m = CMSG_FIRSTHDR(&message);

	m->cmsg_level = SOL_SOCKET;
	m->cmsg_type = SCM_RIGHTS;
	m->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(m), &passed, sizeof(passed));
	/* Far less than any socket's buffer. */
	return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)text.iov_len;
}

/* One line, terminated. */
static bool receive_line(int fd, char line[ANSWER_MAX])
{
	size_t got = 0;

	while (got < ANSWER_MAX - 1) {
		ssize_t n = recv(fd, line + got, ANSWER_MAX - 1 - got, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		got += (size_t)n;
		line[got] = '\0';
		if (line[got - 1] == '\n')
			return true;
	}
	return false;
}

/*
 * mrcd writes JSON without blanks, and a quotation mark within a text has a backslash before it, so
 * that these are members and nothing else. All that is neither a lack of rights nor a race, nor
 * that QPs of other processes use a profile, is EIO.
 */
static int read_answer(const struct mh_nic *nic, const char *line, uint64_t *generation)
{
	static const char member[] = "\"error\":\"";
	const struct timespec busy = {0, FULL_NS};
	const char *at = strstr(line, "\"generation\":"), *error = strstr(line, member), *end;

	if (strstr(line, "\"ok\":true") && at) {
		*generation = strtoull(at + strlen("\"generation\":"), NULL, 10);
		return 0;
	}
	if (strstr(line, "\"errno\":\"EAGAIN\"")) {
		/* Another state is in force, to be read at once; else mrcd has no place. */
		if (!strstr(line, "\"key\":\"generation\""))
			nanosleep(&busy, NULL);
		return EAGAIN;
	}
	/* It is the last member, and so ends with the last quotation mark. */
	error = error ? error + strlen(member) : "for no reason";
	end = strrchr(error, '"');
	mh_log(MRC_LOG_WARNING, "%s: mrcd refuses a change: %.*s", nic->attr.name,
	       (int)(end ? (size_t)(end - error) : strlen(error)), error);
	if (strstr(line, "\"errno\":\"EBUSY\""))
		return EBUSY;
	return strstr(line, "\"errno\":\"EPERM\"") ? EPERM : EIO;
}

static int ask(const struct mh_nic *nic, int fd, const struct mn_state *s, struct store_info *info)
{
	char line[ANSWER_MAX];
	struct store_error error;
	int offer = store_offer_make(s, info, &error);
	bool heard;

	if (offer < 0)
		return EIO;
	snprintf(line, sizeof(line), "{\"do\":\"state.put\",\"generation\":%" PRIu64 "}\n",
		 info->generation);
	heard = send_line(fd, line, offer) && receive_line(fd, line);
	close(offer);
	return heard ? read_answer(nic, line, &info->generation) : ETIMEDOUT;
}

/* ---- without mrcd ---- */

static int write_self(const struct mh_nic *nic, const struct mn_state *s, struct store_info *info)
{
	const struct timespec busy = {0, BUSY_NS};
	struct mn_state *found = malloc(sizeof(*found));
	struct store_error error, lost;
	struct store_writer w;
	int err = found ? store_writer_open(&w, nic->env.node_dir, nic->attr.name, "libmrc", found,
					    &lost, &error)
			: EIO;

	free(found);
	if (err == EBUSY)
		nanosleep(&busy, NULL);
	if (err)
		return err == EBUSY ? EAGAIN : err == EPERM || err == EACCES ? EPERM : EIO;
	err = w.info.generation == info->generation ? 0 : EAGAIN;
	if (!err && store_writer_commit(&w, s, &error))
		err = EIO;
	info->generation = w.info.generation;
	store_writer_close(&w);
	return err;
}

/* REQ(ctl.privilege) */
int mh_node_share_send(struct mh_nic *nic, const struct mn_state *s, struct store_info *info)
{
	int fd = mh_node_dial(nic), err;

	/* As many as may wait to be let in do so. */
	if (fd < 0 && errno == EAGAIN)
		return ETIMEDOUT;
	if (fd < 0)
		return errno == EACCES ? EPERM : write_self(nic, s, info);
	err = ask(nic, fd, s, info);
	close(fd);
	return err;
}
