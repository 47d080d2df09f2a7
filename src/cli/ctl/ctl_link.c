/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl_link.c - the connection to mrcd: see ctl.h. */
#include "cli/ctl/ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "store/store.h"

#define SOCKET_NAME "mrcd.sock"

static const char *find_path(const char *path, char *room, size_t size)
{
	const char *dir = getenv("MRC_NODE_DIR");

	if (path)
		return path;
	snprintf(room, size, "%s/%s", dir && dir[0] == '/' ? dir : STORE_DIR_DEFAULT, SOCKET_NAME);
	return room;
}

static int fail(const char *path, int err)
{
	const char *hint = "";

	if (err == ENOENT || err == ECONNREFUSED)
		hint = "; does mrcd run? --socket PATH and MRC_NODE_DIR say where";
	else if (err == EAGAIN)
		hint = "; too many wait for mrcd, which does not answer";
	else if (err == EACCES)
		hint = "; access.group of mrcd's configuration says who may connect";
	fprintf(stderr, "mrc ctl: %s: %s%s\n", path, strerror(err), hint);
	return 1;
}

/* How long sending or receiving waits; 0: for ever. */
static void be_patient(int fd, int option, time_t seconds)
{
	struct timeval limit = {.tv_sec = seconds};

	setsockopt(fd, SOL_SOCKET, option, &limit, sizeof(limit));
}

int ctl_link_open(struct ctl_link *link, const char *path)
{
	static char room[STORE_DIR_MAX + sizeof(SOCKET_NAME)];
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd;

	*link = (struct ctl_link){.path = find_path(path, room, sizeof(room))};
	if (strlen(link->path) >= sizeof(at.sun_path))
		return fail(link->path, ENAMETOOLONG);
	strcpy(at.sun_path, link->path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail(link->path, errno);
	be_patient(fd, SO_SNDTIMEO, CTL_PATIENCE_S);
	if (connect(fd, (struct sockaddr *)&at, sizeof(at))) {
		fail(link->path, errno);
		close(fd);
		return 1;
	}
	link->f = fdopen(fd, "r+");
	if (link->f)
		return 0;
	fail(link->path, errno);
	close(fd);
	return 1;
}

void ctl_link_close(struct ctl_link *link)
{
	fclose(link->f);
}

struct line {
	FILE *f;
	size_t bytes;
	bool whole, too_long, late;
};

/* The next piece of a line, for jansson; 0 behind its end. */
static size_t take_piece(void *to, size_t size, void *ctx)
{
	struct line *line = ctx;
	char *piece = to;
	size_t n = 0;

	line->too_long = line->bytes == CTL_LINE_MAX && !line->whole;
	while (n < size && line->bytes < CTL_LINE_MAX && !line->whole) {
		int c = getc_unlocked(line->f);

		if (c == EOF) {
			line->late = ferror_unlocked(line->f) && errno == EAGAIN;
			break;
		}
		piece[n++] = (char)c;
		line->bytes++;
		line->whole = c == '\n';
	}
	return n;
}

json_t *ctl_link_next(struct ctl_link *link)
{
	struct line line = {.f = link->f};
	json_t *value = json_load_callback(take_piece, &line, 0, NULL);

	_Static_assert(CTL_LINE_MAX == 16777216 && CTL_PATIENCE_S == 5, "what messages say");
	if (line.too_long) {
		json_decref(value);
		value = NULL;
		link->wrong = "a line of more than 16777216 bytes";
	} else if (line.late) {
		json_decref(value);
		value = NULL;
		link->wrong = "no answer within 5 s";
	} else if (!value && line.bytes) {
		link->wrong = "a line that is no JSON";
	}
	return value;
}

int ctl_link_refuse(const struct ctl_link *link)
{
	fprintf(stderr, "mrc ctl: %s: %s\n", link->path,
		link->wrong ? link->wrong : "mrcd ended the connection");
	return 1;
}

json_t *ctl_link_ask(struct ctl_link *link, json_t *request)
{
	char *text = json_dumps(request, JSON_COMPACT);
	json_t *answer = NULL;

	json_decref(request);
	be_patient(fileno(link->f), SO_RCVTIMEO, CTL_PATIENCE_S);
	if (text && fprintf(link->f, "%s\n", text) > 0 && fflush(link->f) == 0)
		answer = ctl_link_next(link);
	be_patient(fileno(link->f), SO_RCVTIMEO, 0); /* events come when they come */
	free(text);
	if (!answer)
		ctl_link_refuse(link);
	return answer;
}
