/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_watch.c - follows a store: its changes, its writer's successors, a folder that is removed
 * and made again. A state that is gone changes nothing for those who have it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store_format.h"

/* A state comes by a rename, and no other way; or the folder is another one by now. */
#define EVENTS (IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW)

_Static_assert(sizeof(struct store_header) == STORE_SEEN_BYTES, "room for a header");

int store_watch_open(struct store_watch *w, const char *dir, const char *device,
		     struct store_error *error)
{
	*w = (struct store_watch){.fd = -1, .wd = -1};
	if (strlen(dir) >= sizeof(w->dir) || !store_name(device, ".state", w->name))
		return store_fail(error, dir, device, EINVAL, "a name that no store can have");
	snprintf(w->dir, sizeof(w->dir), "%s", dir);
	return 0;
}

static void forget_folder(struct store_watch *w)
{
	if (w->wd >= 0)
		inotify_rm_watch(w->fd, w->wd);
	w->wd = -1;
}

/*
 * That something happened is enough: all is looked at again. But a folder that is gone is to be
 * forgotten, for the next one may get its number.
 */
static void drain(struct store_watch *w)
{
	_Alignas(struct inotify_event) char events[4096];
	const struct inotify_event *event;
	ssize_t got;

	while ((got = read(w->fd, events, sizeof(events))) > 0)
		for (size_t at = 0; at < (size_t)got; at += sizeof(*event) + event->len) {
			event = (const struct inotify_event *)(const void *)(events + at);
			if (event->mask & ~(uint32_t)IN_MOVED_TO)
				forget_folder(w);
		}
}

/*
 * The folder is watched before its file is read, so that no change falls between the two. One that
 * is no longer at the path, or never was watched, is looked for.
 */
static void hear(struct store_watch *w)
{
	struct stat st;
	bool there = stat(w->dir, &st) == 0;

	if (w->fd < 0)
		w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (w->fd < 0)
		return;
	drain(w);
	if (there && w->wd >= 0 && w->watched[0] == st.st_dev && w->watched[1] == st.st_ino)
		return;
	forget_folder(w);
	if (!there)
		return;
	w->watched[0] = st.st_dev;
	w->watched[1] = st.st_ino;
	w->wd = inotify_add_watch(w->fd, w->dir, EVENTS);
}

/*
 * A reason is given once, until there is another, none, for what is in force lies there again or
 * nothing does, or a state that counts.
 */
static int refuse(struct store_watch *w, const struct store_error *error, int err)
{
	if (err == ENOENT || err == EAGAIN) {
		w->refused.text[0] = '\0';
		return EAGAIN;
	}
	if (strcmp(w->refused.text, error->text) == 0)
		return EAGAIN;
	w->refused = *error;
	return err;
}

int store_watch_look(struct store_watch *w, struct mn_state *s, struct store_info *info,
		     struct store_error *error)
{
	struct store_header h;
	const char *why;
	uid_t owner;
	int fd, err;

	hear(w);
	fd = store_dir_open(w->dir, &owner);
	if (fd < 0)
		return refuse(w, error, store_fail(error, w->dir, "", errno, NULL));
	memcpy(&h, w->seen, sizeof(h));
	err = store_load(fd, w->name, s, &h, &why);
	close(fd);
	if (err)
		return refuse(w, error, store_fail(error, w->dir, w->name, err, why));
	memcpy(w->seen, &h, sizeof(h));
	*info = h.info;
	w->refused.text[0] = '\0';
	return 0;
}

bool store_watch_hears(const struct store_watch *w)
{
	return w->wd >= 0;
}

void store_watch_close(struct store_watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = w->wd = -1;
}
