/* SPDX-License-Identifier: BSD-2-Clause */
/* text_save.c - a text in a file, of which readers see all or nothing. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ui/text.h"

static int write_all(int fd, const struct ui_text *text)
{
	for (size_t at = 0; at < text->len;) {
		ssize_t n = write(fd, text->data + at, text->len - at);

		if (n < 0 && errno != EINTR)
			return errno;
		at += n > 0 ? (size_t)n : 0;
	}
	return fsync(fd) && errno != EINVAL ? errno : 0;
}

/* The name until then has an end of its own, so that who looks for names like `path` finds none. */
int ui_text_save(const struct ui_text *text, const char *path)
{
	char temporary[PATH_MAX];
	struct stat there;
	int fd, err;

	/* Root would have a file in the place of /dev/null, or of the link that is /dev/stdout. */
	if (lstat(path, &there) == 0 && !S_ISREG(there.st_mode))
		return S_ISDIR(there.st_mode) ? EISDIR : EEXIST;
	if (snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >= (int)sizeof(temporary))
		return ENAMETOOLONG;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return errno;
	/* Readers are other users, too. */
	err = fchmod(fd, 0644) ? errno : write_all(fd, text);
	if (close(fd) && !err)
		err = errno;
	if (!err && rename(temporary, path))
		err = errno;
	if (err)
		unlink(temporary);
	return err;
}

const char *ui_text_save_error(int err)
{
	return err == EEXIST ? "a device, a pipe or a link; want the name of a file"
			     : strerror(err);
}
