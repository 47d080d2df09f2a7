/* SPDX-License-Identifier: BSD-2-Clause */
/* doctor_hints.c - whether processes learn from each other which EVs are bad: by mrcd's files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"
#include "store/store_hints.h"
#include "ui/terminal.h"

static bool answers(const char *dir)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd, n = snprintf(at.sun_path, sizeof(at.sun_path), "%s/" STORE_SOCKET_NAME, dir);
	bool connected;

	if (n < 0 || (size_t)n >= sizeof(at.sun_path))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	connected = fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0;
	if (fd >= 0)
		close(fd);
	return connected;
}

/* A store is called DIR/DEVICE.state. */
void doctor_facts_hints(struct doctor_node *node)
{
	char path[sizeof(node->store)], *device, *end;
	struct store_hint *hints;
	int err;

	snprintf(path, sizeof(path), "%s", node->store);
	device = strrchr(path, '/');
	end = strrchr(path, '.');
	if (!device || !end || end < device)
		return;
	*device++ = *end = '\0';
	node->mrcd = answers(path);
	hints = calloc(STORE_HINTS_MAX, sizeof(*hints));
	if (!hints)
		return;
	err = store_hints_load(path, device, ui_clock_ns(), hints, &node->hints);
	node->hints_refused = err && err != ENOENT;
	free(hints);
}
