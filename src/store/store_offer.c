/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_offer.c - a state on its way to the one writer of a store: the bytes that the store would
 * have, in a file of memory alone that is handed over a unix socket.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store_format.h"

#define NAME "offered state"

int store_offer_make(const struct mn_state *s, const struct store_info *info,
		     struct store_error *error)
{
	int fd = memfd_create("softmrc-state", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct store_header h;
	int err;

	if (fd < 0) {
		store_fail(error, NAME, "", errno, NULL);
		return -1;
	}
	store_header_make(&h, s, info);
	err = store_put(fd, &h, s);
	if (!err)
		return fd;
	close(fd);
	store_fail(error, NAME, "", err, NULL);
	return -1;
}

/* Only a file of memory has seals; reading from another one may take as long as its owner likes. */
int store_offer_read(int fd, struct mn_state *s, struct store_info *info, struct store_error *error)
{
	struct store_header h = {.version = 0};
	const char *why = NULL;
	struct stat st;
	int err;

	if (fcntl(fd, F_GET_SEALS) < 0 || fstat(fd, &st))
		return store_fail(error, NAME, "", EINVAL, "must be a file of memfd_create(2)");
	err = store_load_fd(fd, (uint64_t)st.st_size, s, &h, &why);
	if (err)
		return store_fail(error, NAME, "", err, why);
	*info = h.info;
	return 0;
}
