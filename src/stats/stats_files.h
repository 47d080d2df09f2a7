/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats_files.h - where the files of statistics are, and which can be trusted: for the process that
 * writes one, and for those that read them.
 *
 * /dev/shm is open to all users. A folder there counts only if it is a folder and no link, belongs
 * to its user, and nobody else can write to it; a group may read it that the user has named
 * (MRC_STATS_GROUP), others may not. A file counts only if it is a regular file of the folder's
 * user. Then nobody else can put a FIFO in the way, exchange a file or shorten one.
 */
#ifndef SOFTMRC_STATS_STATS_FILES_H
#define SOFTMRC_STATS_STATS_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define STATS_DIR_MAX 64u
/* Devices of a process, each with a file of its own: MRC_DEVICES. */
#define STATS_DEVICES_MAX 8u

/*
 * stats_dir_default writes the folder of the user of this process, MRC_STATS_DIR_PREFIX and a
 * number: the user's outside of a user namespace, so that the root of a namespace does not take the
 * folder of the host's root. Returns out.
 */
char *stats_dir_default(char out[STATS_DIR_MAX]);

/*
 * stats_dir_open opens a folder at the descriptor `at` (AT_FDCWD: as open does) that only its user
 * can write to, and at most a group read, and writes who that is. -1 and errno: EPERM if it is a
 * folder that others may use.
 */
int stats_dir_open(int at, const char *path, uid_t *owner);

#define STATS_ANY_OWNER ((uid_t)-1)

/*
 * stats_file_open opens a regular file in a folder for reading, and waits for nobody. *owner is
 * whose it must be, or STATS_ANY_OWNER, and becomes whose it is. -1 and errno: EPERM if it is
 * another user's, or no regular file.
 */
int stats_file_open(int dir, const char *name, uid_t *owner);

/* stats_file_name reads "1234.mrcstats" or "1234.1.mrcstats". False: it is another name. */
bool stats_file_name(const char *name, uint32_t *pid, uint32_t *device);

#endif
