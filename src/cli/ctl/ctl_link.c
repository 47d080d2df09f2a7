/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl_link.c - the connection to mrcd: see ctl.h. */
#include "cli/ctl/ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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
	else if (err == EACCES)
		hint = "; access.group of mrcd's configuration says who may connect";
	fprintf(stderr, "mrc ctl: %s: %s%s\n", path, strerror(err), hint);
	return 1;
}

int ctl_link_open(struct ctl_link *link, const char *path)
{
	static char room[STORE_DIR_MAX + sizeof(SOCKET_NAME)];
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd;

	link->path = find_path(path, room, sizeof(room));
	if (strlen(link->path) >= sizeof(at.sun_path))
		return fail(link->path, ENAMETOOLONG);
	strcpy(at.sun_path, link->path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail(link->path, errno);
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

json_t *ctl_link_next(struct ctl_link *link)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n = getline(&line, &room, link->f);
	json_t *answer = n > 0 ? json_loadb(line, (size_t)n, 0, NULL) : NULL;

	free(line);
	return answer;
}

json_t *ctl_link_ask(struct ctl_link *link, json_t *request)
{
	char *text = json_dumps(request, JSON_COMPACT);
	json_t *answer = NULL;

	json_decref(request);
	if (text && fprintf(link->f, "%s\n", text) > 0 && fflush(link->f) == 0)
		answer = ctl_link_next(link);
	free(text);
	if (!answer)
		fprintf(stderr, "mrc ctl: %s: mrcd ended the connection\n", link->path);
	return answer;
}
