/* SPDX-License-Identifier: BSD-2-Clause */
/* store_hints.c - hints about EVs in a file for each user: see store_hints.h. */
#include "store/store_hints.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "store/store_format.h"
#include "wire/icrc.h"

#define FOLDER "hints"
#define FOLDER_MODE 0755
#define FILE_MODE 0400
#define ACL_NAME "system.posix_acl_access"
#define MAGIC "mrchint"
#define VERSION 1u
/* "mrc0.4294967295.new" */
#define NAME_MAX_BYTES (STORE_DEVICE_MAX + 20u)

struct header {
	char magic[8];
	uint32_t version, n;
	uint32_t zero;
	uint32_t crc; /* of all before it, and of the hints */
};

_Static_assert(sizeof(struct header) == 24 && sizeof(struct store_hint) == 56,
	       "a file is written byte by byte, so it has no bytes between fields");

static uint32_t checksum(const struct header *h, const struct store_hint *hints)
{
	uint32_t crc = mw_crc32_update(UINT32_MAX, h, offsetof(struct header, crc));

	return mw_crc32_update(crc, hints, h->n * sizeof(*hints));
}

static bool name_of(const char *device, uid_t uid, const char *suffix, char name[NAME_MAX_BYTES])
{
	char state[STORE_NAME_MAX];

	if (!store_name(device, "", state))
		return false;
	snprintf(name, NAME_MAX_BYTES, "%s.%u%s", device, (unsigned)uid, suffix);
	return true;
}

/* Its owner must be that of the folder above, which is to be believed. -1 and errno. */
static int open_folder(const char *dir, bool make, uid_t *owner)
{
	int above = store_dir_open(dir, owner), fd, err;
	struct stat st;
	bool made;

	if (above < 0)
		return -1;
	made = make && mkdirat(above, FOLDER, FOLDER_MODE) == 0;
	err = make && !made ? errno : 0;
	fd = openat(above, FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	/* Why there is none, if it could not be made. */
	err = fd < 0 && (!err || err == EEXIST) ? errno : err;
	close(above);
	if (fd < 0) {
		errno = err;
		return -1;
	}
	/* The mask of the user who makes it may have left less. */
	if (fstat(fd, &st) == 0 && st.st_uid == *owner && !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
	    (!made || fchmod(fd, FOLDER_MODE) == 0))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

/* ---- writing ---- */

/*
 * A user reads his file by an ACL and does not own it: what he owned he could write to, and fill
 * the file system of the store.
 */
static int let_read(int fd, uid_t uid)
{
	const __le16 reads = htole16(ACL_READ);
	const __le32 nobody = htole32((uint32_t)ACL_UNDEFINED_ID);
	const struct {
		struct posix_acl_xattr_header head;
		struct posix_acl_xattr_entry entry[5];
	} acl = {{htole32(POSIX_ACL_XATTR_VERSION)},
		 {{htole16(ACL_USER_OBJ), reads, nobody},
		  {htole16(ACL_USER), reads, htole32(uid)},
		  {htole16(ACL_GROUP_OBJ), 0, nobody},
		  {htole16(ACL_MASK), reads, nobody},
		  {htole16(ACL_OTHER), 0, nobody}}};

	return fsetxattr(fd, ACL_NAME, &acl, sizeof(acl), 0) ? errno : 0;
}

static int write_file(int folder, const char *name, uid_t uid, const struct store_hint *hints,
		      uint32_t n)
{
	struct header h = {.magic = MAGIC, .version = VERSION, .n = n};
	int fd, err;

	/* What an earlier writer left. */
	if (unlinkat(folder, name, 0) && errno != ENOENT)
		return errno;
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
	if (fd < 0)
		return errno;
	h.crc = checksum(&h, hints);
	err = store_write_all(fd, &h, sizeof(h));
	if (!err)
		err = store_write_all(fd, hints, n * sizeof(*hints));
	if (!err && fchmod(fd, FILE_MODE))
		err = errno;
	if (!err && uid != geteuid())
		err = let_read(fd, uid);
	if (close(fd) && !err)
		err = errno;
	return err;
}

int store_hints_save(const char *dir, const char *device, uid_t uid, const struct store_hint *hints,
		     uint32_t n)
{
	char name[NAME_MAX_BYTES], other[NAME_MAX_BYTES];
	uid_t owner;
	int folder, err = 0;

	if (n > STORE_HINTS_MAX || !name_of(device, uid, "", name) ||
	    !name_of(device, uid, ".new", other))
		return EINVAL;
	folder = open_folder(dir, n > 0, &owner);
	if (folder < 0)
		return n == 0 && errno == ENOENT ? 0 : errno;
	if (n == 0 && unlinkat(folder, name, 0) && errno != ENOENT)
		err = errno;
	if (n > 0)
		err = write_file(folder, other, uid, hints, n);
	if (n > 0 && !err && renameat(folder, other, folder, name))
		err = errno;
	if (err)
		unlinkat(folder, other, 0);
	close(folder);
	return err;
}

int store_hints_clear(const char *dir, const char *device)
{
	char begin[STORE_NAME_MAX];
	const struct dirent *entry;
	uid_t owner;
	int folder, err = 0;
	DIR *list;

	if (!store_name(device, ".", begin))
		return EINVAL;
	folder = open_folder(dir, false, &owner);
	if (folder < 0)
		return errno == ENOENT ? 0 : errno;
	list = fdopendir(folder);
	if (!list) {
		err = errno;
		close(folder);
		return err;
	}
	while ((entry = readdir(list)))
		if (strncmp(entry->d_name, begin, strlen(begin)) == 0 &&
		    unlinkat(folder, entry->d_name, 0))
			err = errno;
	closedir(list);
	return err;
}

/* ---- reading ---- */

static int open_file(int folder, const char *name, uid_t owner, uint64_t *bytes)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
	    st.st_uid == owner) {
		*bytes = (uint64_t)st.st_size;
		return fd;
	}
	close(fd);
	errno = EPERM;
	return -1;
}

static bool is_sound(const struct store_hint *h)
{
	return h->profile < MN_EV_PROFILES && h->index < MN_EVS_PROFILE_MAX && h->port >= 1 &&
	       h->port <= MN_PORTS_MAX;
}

static bool is_young(const struct store_hint *h, uint64_t now_ns)
{
	return h->heard_ns <= now_ns && now_ns - h->heard_ns < STORE_HINT_AGE_NS;
}

/* Those that count come to the beginning. */
static uint32_t keep(struct store_hint *hints, uint32_t n, uint64_t now_ns)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (is_sound(&hints[i]) && is_young(&hints[i], now_ns))
			hints[kept++] = hints[i];
	return kept;
}

/* Files are replaced and not changed, so that one which is shorter than it was is none of ours. */
static bool read_file(int fd, uint64_t bytes, struct header *h, struct store_hint *hints)
{
	return store_read_all(fd, h, sizeof(*h), 0) &&
	       memcmp(h->magic, MAGIC, sizeof(h->magic)) == 0 && h->version == VERSION &&
	       h->n <= STORE_HINTS_MAX && bytes == sizeof(*h) + h->n * sizeof(*hints) &&
	       store_read_all(fd, hints, h->n * sizeof(*hints), sizeof(*h)) &&
	       checksum(h, hints) == h->crc;
}

int store_hints_load(const char *dir, const char *device, uint64_t now_ns,
		     struct store_hint hints[STORE_HINTS_MAX], uint32_t *n)
{
	char name[NAME_MAX_BYTES];
	struct header h;
	uint64_t bytes = 0;
	uid_t owner;
	int folder, fd, err = 0;

	*n = 0;
	if (!name_of(device, geteuid(), "", name))
		return EINVAL;
	folder = open_folder(dir, false, &owner);
	if (folder < 0)
		return errno;
	fd = open_file(folder, name, owner, &bytes);
	if (fd < 0)
		err = errno;
	close(folder);
	if (err)
		return err;
	if (read_file(fd, bytes, &h, hints))
		*n = keep(hints, h.n, now_ns);
	else
		err = EBADMSG;
	close(fd);
	return err;
}
