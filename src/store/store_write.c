/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_write.c - the one writer of a store. A commit writes a file of another name and renames it:
 * a writer that is ended at any moment leaves the old state or the new one, and perhaps a file that
 * the next one removes. Nothing is synced to a disk, for after a machine has gone down so have the
 * processes that the state was for.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/store_format.h"

#define DIR_MODE 0755
#define FILE_MODE 0644
#define LOCK_MODE 0600
#define NS_PER_S UINT64_C(1000000000)

/* Makes the folder and those above it; which mode the user's mask leaves them is seen to here. */
static int make_dirs(const char *dir)
{
	char path[STORE_DIR_MAX];
	size_t len = strlen(dir);

	for (size_t i = 1; i <= len; i++) {
		if (dir[i] != '/' && dir[i] != '\0')
			continue;
		memcpy(path, dir, i);
		path[i] = '\0';
		if (mkdir(path, DIR_MODE) == 0) {
			if (chmod(path, DIR_MODE))
				return errno;
		} else if (errno != EEXIST) {
			return errno;
		}
	}
	return 0;
}

/* Another owner's folder is none for a writer, and be it root: that owner could exchange files. */
static int open_dir(const char *dir, int *fd)
{
	uid_t owner;
	int err = make_dirs(dir);

	if (err)
		return err;
	*fd = store_dir_open(dir, &owner);
	if (*fd < 0)
		return errno;
	if (owner == geteuid())
		return 0;
	close(*fd);
	return EPERM;
}

static int take_lock(int dir, const char *name, int *fd)
{
	int err = 0;

	*fd = openat(dir, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, LOCK_MODE);
	if (*fd < 0)
		return errno;
	if (flock(*fd, LOCK_EX | LOCK_NB))
		err = errno == EWOULDBLOCK ? EBUSY : errno;
	if (err)
		close(*fd);
	return err;
}

static bool is_fit(const char *dir, const char *device, const char *by, char lock[STORE_NAME_MAX])
{
	return strlen(dir) > 0 && strlen(dir) < STORE_DIR_MAX && strlen(by) < STORE_BY_MAX &&
	       store_name(device, ".lock", lock);
}

/*
 * Of a state that does not count the number is taken all the same, so that those who watch it see
 * it grow; whoever made it up, far from the end of what is counted.
 */
static uint64_t generation_of(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct store_header h;
	bool known;

	if (fd < 0)
		return 0;
	known = pread(fd, &h, sizeof(h), 0) == (ssize_t)sizeof(h) &&
		memcmp(h.magic, STORE_MAGIC, sizeof(h.magic)) == 0 && h.version == STORE_VERSION &&
		h.info.generation <= UINT64_MAX / 2;
	close(fd);
	return known ? h.info.generation : 0;
}

static void find(struct store_writer *w, struct mn_state *s, struct store_error *lost)
{
	struct store_header h = {.version = 0};
	char name[STORE_NAME_MAX];
	const char *why;
	int err;

	store_name(w->device, ".state", name);
	lost->text[0] = '\0';
	err = store_load(w->dir, name, s, &h, &why);
	w->info = h.info;
	if (!err)
		return;
	mn_state_init(s);
	if (err == ENOENT)
		return;
	store_fail(lost, w->path, name, err, why);
	w->info.generation = generation_of(w->dir, name);
}

int store_writer_open(struct store_writer *w, const char *dir, const char *device, const char *by,
		      struct mn_state *s, struct store_error *lost, struct store_error *error)
{
	char lock[STORE_NAME_MAX];
	int err;

	*w = (struct store_writer){.dir = -1, .lock = -1};
	if (!is_fit(dir, device, by, lock))
		return store_fail(error, dir, device, EINVAL, "a name that no store can have");
	snprintf(w->path, sizeof(w->path), "%s", dir);
	snprintf(w->device, sizeof(w->device), "%s", device);
	err = open_dir(dir, &w->dir);
	if (err)
		return store_fail(error, dir, "", err, NULL);
	err = take_lock(w->dir, lock, &w->lock);
	if (err) {
		close(w->dir);
		return store_fail(error, dir, lock, err,
				  err == EBUSY ? "another process writes this store" : NULL);
	}
	find(w, s, lost);
	snprintf(w->info.by, sizeof(w->info.by), "%s", by);
	return 0;
}

int store_write_all(int fd, const void *from, size_t len)
{
	const char *at = from;

	while (len > 0) {
		ssize_t put = write(fd, at, len);

		if (put < 0 && errno != EINTR)
			return errno;
		if (put > 0) {
			at += put;
			len -= (size_t)put;
		}
	}
	return 0;
}

int store_put(int fd, const struct store_header *h, const struct mn_state *s)
{
	int err = store_write_all(fd, h, sizeof(*h));

	return err ? err : store_write_all(fd, s, h->state_bytes);
}

static int write_file(int dir, const char *name, const struct store_header *h,
		      const struct mn_state *s)
{
	int fd, err;

	/* What an earlier writer left. */
	if (unlinkat(dir, name, 0) && errno != ENOENT)
		return errno;
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
	if (fd < 0)
		return errno;
	err = store_put(fd, h, s);
	if (!err && fchmod(fd, FILE_MODE))
		err = errno;
	if (close(fd) && !err)
		err = errno;
	return err;
}

int store_writer_commit(struct store_writer *w, const struct mn_state *s, struct store_error *error)
{
	char name[STORE_NAME_MAX], other[STORE_NAME_MAX];
	struct store_header h;
	struct store_info info = w->info;
	struct timespec now;
	const char *why;
	int err;

	store_name(w->device, ".state", name);
	store_name(w->device, ".state.new", other);
	if (s->n_evs > MN_EVS_MAX || !mn_state_check(s, &why))
		return store_fail(error, w->path, name, EINVAL, "the new state is not sound");
	clock_gettime(CLOCK_REALTIME, &now);
	info.generation++;
	info.written_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
	info.pid = (uint32_t)getpid();
	info.uid = geteuid();
	store_header_make(&h, s, &info);
	err = write_file(w->dir, other, &h, s);
	if (!err && renameat(w->dir, other, w->dir, name))
		err = errno;
	if (err) {
		unlinkat(w->dir, other, 0);
		return store_fail(error, w->path, other, err, NULL);
	}
	w->info = info;
	return 0;
}

void store_writer_close(struct store_writer *w)
{
	close(w->lock);
	close(w->dir);
}
