/* SPDX-License-Identifier: BSD-2-Clause */
/* store_read.c - reads a state, and says why there is none. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "store/store_format.h"

/* Files are replaced and not changed: fewer bytes than fstat(2) told of are none of the store. */
bool store_read_all(int fd, void *to, size_t len, off_t at)
{
	char *out = to;

	while (len > 0) {
		ssize_t got = pread(fd, out, len, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		out += got;
		len -= (size_t)got;
		at += got;
	}
	return true;
}

int store_load_fd(int fd, uint64_t bytes, struct mn_state *s, struct store_header *seen,
		  const char **why)
{
	struct store_header h;
	int err;

	*why = "is cut off or cannot be read";
	if (bytes < sizeof(h) || !store_read_all(fd, &h, sizeof(h), 0))
		return EBADMSG;
	err = store_header_check(&h, bytes, why);
	if (err)
		return err;
	if (memcmp(&h, seen, sizeof(h)) == 0)
		return EAGAIN;
	if (!store_read_all(fd, s, h.state_bytes, sizeof(h)))
		return EBADMSG;
	err = store_state_check(&h, s, why);
	if (!err)
		*seen = h;
	return err;
}

int store_load(int dir, const char *name, struct mn_state *s, struct store_header *seen,
	       const char **why)
{
	uint64_t bytes;
	uid_t owner;
	int fd = store_file_open(dir, name, &owner, &bytes);
	int err;

	*why = NULL;
	if (fd < 0)
		return errno;
	err = store_load_fd(fd, bytes, s, seen, why);
	close(fd);
	return err;
}

int store_read(const char *dir, const char *device, struct mn_state *s, struct store_info *info,
	       struct store_error *error)
{
	struct store_header h = {.version = 0};
	char name[STORE_NAME_MAX];
	const char *why;
	uid_t owner;
	int fd, err;

	if (!store_name(device, ".state", name))
		return store_fail(error, dir, device, EINVAL, "is no name of a device");
	fd = store_dir_open(dir, &owner);
	if (fd < 0)
		return store_fail(error, dir, "", errno, NULL);
	err = store_load(fd, name, s, &h, &why);
	close(fd);
	if (err)
		return store_fail(error, dir, name, err, why);
	*info = h.info;
	return 0;
}
