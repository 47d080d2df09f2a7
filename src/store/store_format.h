/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_format.h - the bytes of a store: this header, then a state as far as it is in use. Numbers
 * are the machine's own, for the file never leaves it. Private to src/store.
 */
#ifndef SOFTMRC_STORE_STORE_FORMAT_H
#define SOFTMRC_STORE_STORE_FORMAT_H

#include "store/store.h"

#define STORE_MAGIC "mrcnode"
#define STORE_VERSION 1u

struct store_header {
	char magic[8];
	uint32_t version;
	uint32_t layout; /* bytes of a whole struct mn_state */
	uint32_t state_bytes;
	uint32_t zero;
	struct store_info info;
	uint32_t zero_too;
	uint32_t crc; /* of all before it, and of the state */
};

/* store_header_make fills in the header of a sound state. */
void store_header_make(struct store_header *h, const struct mn_state *s,
		       const struct store_info *info);
/*
 * store_header_check says whether a state may follow in a file of so many bytes, and how long it
 * is: h->state_bytes. EPROTONOSUPPORT, EBADMSG, and *why.
 */
int store_header_check(const struct store_header *h, uint64_t file_bytes, const char **why);
/* store_state_check says whether it is the one that the header is of. EBADMSG and *why. */
int store_state_check(const struct store_header *h, const struct mn_state *s, const char **why);

/* ---- where the files are, and who may write there: store_dir.c ---- */

/*
 * store_dir_open opens a folder that only its owner can write to, and writes who that is. -1 and
 * errno.
 */
int store_dir_open(const char *path, uid_t *owner);
/* store_file_open opens a regular file that only its owner can write to. -1 and errno. */
int store_file_open(int dir, const char *name, uid_t *owner, uint64_t *bytes);
/* store_name writes "mrc0.state"; false: no device is called so. */
bool store_name(const char *device, const char *suffix, char name[STORE_NAME_MAX]);
/*
 * store_load is store_read, of what a folder that is open has; seen->info says whose it is. A file
 * that begins with what *seen is, the header of one that was taken, is not read: EAGAIN. It becomes
 * the header of what was read.
 */
int store_load(int dir, const char *name, struct mn_state *s, struct store_header *seen,
	       const char **why);
/* store_load_fd is store_load, of a file that is open and has so many bytes. */
int store_load_fd(int fd, uint64_t bytes, struct mn_state *s, struct store_header *seen,
		  const char **why);
/* store_write_all writes all, or returns an errno value; store_read_all reads all from a place. */
int store_write_all(int fd, const void *from, size_t len);
bool store_read_all(int fd, void *to, size_t len, off_t at);
/* store_put writes a header and the state that it is of. 0, or an errno value. */
int store_put(int fd, const struct store_header *h, const struct mn_state *s);
/* store_fail puts path, name and reason into words and returns code; why NULL: that of errno. */
int store_fail(struct store_error *error, const char *dir, const char *name, int code,
	       const char *why);

#endif
