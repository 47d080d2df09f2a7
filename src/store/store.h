/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store.h - the state of a device (node/node_state.h) in a file that all processes of a host read
 * and one writes.
 *
 * The file is DIR/DEVICE.state. A change is a new file that takes the place of the old one by
 * rename(2), so that there is always a whole one, whenever its writer dies, and a reader has what
 * it opened. It is copied and never mapped, and counts only with its magic, version, size, checksum
 * and if its state is sound.
 *
 * Whom a reader believes: folder and file must belong to root or to the user of this process, and
 * nobody else may write to either; the file must be a regular one. A writer holds a lock on
 * DIR/DEVICE.lock, which only its user can open, so there is one at a time.
 *
 * Functions return 0 or a positive errno value, and `error` says then in words what is wrong with
 * which file. None blocks but for the file system. Objects: one thread at a time.
 */
#ifndef SOFTMRC_STORE_STORE_H
#define SOFTMRC_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "node/node_state.h"

/* Where the stores of a host are unless a setting names another folder. */
#define STORE_DIR_DEFAULT "/run/softmrc/node"
#define STORE_DIR_MAX 256u
/* In a store's folder, where its writer answers those who want something changed. */
#define STORE_SOCKET_NAME "mrcd.sock"
#define STORE_DEVICE_MAX 16u
#define STORE_BY_MAX 40u
/* Of a header, see store_format.h. */
#define STORE_SEEN_BYTES 96u
#define STORE_NAME_MAX (STORE_DEVICE_MAX + 16u)

struct store_error {
	char text[STORE_DIR_MAX + 160];
};

/* Who wrote a state, and when. */
struct store_info {
	uint64_t generation; /* from 1, one more with each commit, whoever makes it */
	uint64_t written_ns; /* CLOCK_REALTIME */
	uint32_t pid, uid;
	char by[STORE_BY_MAX]; /* a program and its version; printable */
};

/* ---- the writer: store_write.c ---- */

struct store_writer {
	int dir, lock;
	char path[STORE_DIR_MAX];
	char device[STORE_DEVICE_MAX];
	struct store_info info; /* of the last commit, or of what was found */
};

/*
 * store_writer_open becomes the one writer of a device's store, and copies what is there to *s; a
 * state in which nothing is decided and generation 0 if there is none. What is there and does not
 * count is replaced by the next commit: *s is as if there were none, but generations go on above
 * that of a file that has one, and `lost` says why; else its text is empty. The folder, and those
 * above it, are made if they are not there. `by` names the program, printable.
 * EBUSY: another process is the writer. EPERM: the folder is another user's, or others may write to
 * it. EINVAL: a device name of other characters than letters and digits, a path or name that is too
 * long. Others of mkdir(2), open(2).
 */
int store_writer_open(struct store_writer *w, const char *dir, const char *device, const char *by,
		      struct mn_state *s, struct store_error *lost, struct store_error *error);
/*
 * store_writer_commit makes *s the state of the device: readers see it whole, or, after an error,
 * the one before. EINVAL: it is not sound. ENOSPC and others of open(2), write(2), rename(2).
 */
int store_writer_commit(struct store_writer *w, const struct mn_state *s,
			struct store_error *error);
/* store_writer_close gives up the lock; the store stays. */
void store_writer_close(struct store_writer *w);

/* ---- a state for the writer, from another process: store_offer.c ---- */

/*
 * store_offer_make puts a sound state into a file of memory, whose descriptor it returns; -1 and
 * the error. info.generation is of the state that it was made from.
 */
int store_offer_make(const struct mn_state *s, const struct store_info *info,
		     struct store_error *error);
/*
 * store_offer_read copies what another process put there. EINVAL: it is no such file; others as
 * store_read. Never blocks.
 */
int store_offer_read(int fd, struct mn_state *s, struct store_info *info,
		     struct store_error *error);

/* ---- readers: store_read.c ---- */

/*
 * store_read copies the state of a device. ENOENT: there is no such folder or file. EPERM: it is
 * not to be believed. EPROTONOSUPPORT: of another version or build. EBADMSG: cut off, damaged, or
 * not sound. After an error *s is of no use.
 */
int store_read(const char *dir, const char *device, struct mn_state *s, struct store_info *info,
	       struct store_error *error);

/* ---- readers that follow what changes: store_watch.c ---- */

/*
 * inotify(7) tells of a new file. A user has a number of instances of it, 128 in many kernels, and
 * there may be more processes: what then is to be looked at again and again is cheap to look at.
 */
struct store_watch {
	char dir[STORE_DIR_MAX], name[STORE_NAME_MAX];
	int fd;				/* of inotify, to be polled; -1: there is none */
	int wd;				/* in it, of the folder; -1 */
	uint64_t watched[2];		/* device and number of that folder */
	struct store_error refused;	/* what was said last, or empty */
	uint8_t seen[STORE_SEEN_BYTES]; /* the header of the state that was taken last */
};

/* store_watch_open: EINVAL as store_read. Of a store that is not there nothing is heard, too. */
int store_watch_open(struct store_watch *w, const char *dir, const char *device,
		     struct store_error *error);
/*
 * store_watch_look copies the state that is in force to *s if it is another one than the last time.
 * EAGAIN: it is not, there is none, or it is refused and this was said before: what the caller has
 * stays good. Other errors as store_read; after any *s is of no use.
 */
int store_watch_look(struct store_watch *w, struct mn_state *s, struct store_info *info,
		     struct store_error *error);
/*
 * store_watch_hears says whether the descriptor will tell of the next change. It is to be looked
 * once a second all the same, for a folder that is made again.
 */
bool store_watch_hears(const struct store_watch *w);
/* store_watch_close closes descriptors; in a forked child its copies of them. */
void store_watch_close(struct store_watch *w);

#endif
