/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_file.h - the file of the statistics segment: made, locked, mapped, removed. */
#ifndef SOFTMRC_HOST_STATS_FILE_H
#define SOFTMRC_HOST_STATS_FILE_H

#include <mrc/stats.h>
#include <stdbool.h>
#include <sys/types.h>

#include "io/io_port.h"

#define MH_STATS_PATH_MAX 4096u

struct mh_stats_file {
	struct mrc_stats_segment *map;
	int fd;	     /* holds the lock */
	pid_t owner; /* a forked child must not remove its parent's file */
	bool keep;   /* the file stays when it is closed; the user sets it */
	char path[MH_STATS_PATH_MAX];
};

/*
 * mh_stats_file_open makes DIR/<pid>.mrcstats, for a device other than the first
 * DIR/<pid>.<device>.mrcstats, locked, mapped and zero; error says what failed.
 * EEXIST: a living process, of another PID namespace, has a file of this name.
 */
int mh_stats_file_open(struct mh_stats_file *file, const char *dir, uint32_t device,
		       struct mio_error *error);
/* mh_stats_file_close removes the file, if it is the process that made it, unless it is kept. */
void mh_stats_file_close(struct mh_stats_file *file);

/*
 * mh_stats_file_default makes MRC_STATS_DEFAULT_DIR, if it is not there, for everybody to put files
 * in, and removes what crashed processes have left there. Returns the folder.
 */
const char *mh_stats_file_default(void);

#endif
