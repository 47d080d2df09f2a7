/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats.h - what the process tells of itself: its counters, and a file with these, its QPs and EVs
 * that other processes read (mrc/stats.h).
 */
#ifndef SOFTMRC_HOST_STATS_STATS_H
#define SOFTMRC_HOST_STATS_STATS_H

#include "host/state/nic_context.h"
#include "io/io_port.h"

#include <mrc/stats.h>
#include <stdbool.h>
#include <sys/types.h>

/* ---- all counters in one list: nic_counters.c ---- */

#define MH_COUNTERS_MAX 128u

/* mh_counters_read fills in the list and returns its length. Under nic->lock. */
uint32_t mh_counters_read(const struct mh_nic *nic, struct mh_counter counters[MH_COUNTERS_MAX]);

/* ---- what the file shows: stats_segment.c ---- */

/*
 * mh_segment_create makes the file in env.stats_dir and shows the NIC's state; error says what
 * failed. Without a folder the default one is used, and it is no error when that cannot be; that
 * another user has taken its name is said once on stderr. Under the process's lock.
 */
int mh_segment_create(struct mh_nic *nic, struct mio_error *error);
/*
 * mh_segment_finish stores the last numbers, for readers that have the file open and files that
 * are kept. Under nic->lock, or when no other thread uses the NIC; without a segment nothing
 * happens.
 */
void mh_segment_finish(struct mh_nic *nic);
/* mh_segment_destroy removes the file, if it is not kept, and frees all; NULL is ignored. */
void mh_segment_destroy(struct mh_segment *segment);
/* mh_segment_deadline returns when the next refresh is due, UINT64_MAX without a segment. */
uint64_t mh_segment_deadline(const struct mh_segment *segment);
/* mh_segment_refresh stores new numbers if that is due. Under nic->lock. */
void mh_segment_refresh(struct mh_nic *nic, uint64_t now_ns);
/* mh_segment_event logs an EV or PORT event at once; NULL is ignored. Under nic->lock. */
void mh_segment_event(struct mh_segment *segment, const struct mt_event *event, uint64_t now_ns);

/* ---- messages: event_log.c ---- */

/* mh_event_log makes a message of level DEBUG of an EV or PORT event. Under nic->lock. */
void mh_event_log(const struct mt_event *event);

/* ---- the file: made, locked, mapped, removed: stats_file.c ---- */

struct mh_stats_file {
	struct mrc_stats_segment *map;
	int dir;       /* the folder */
	int fd;	       /* holds the lock */
	pid_t owner;   /* a forked child must not remove its parent's file */
	bool keep;     /* the file stays when it is closed; the user sets it */
	char name[40]; /* in the folder */
};

/*
 * mh_stats_file_open makes DIR/<pid>.mrcstats, for a device other than the first
 * DIR/<pid>.<device>.mrcstats, locked, mapped and zero; error says what failed. The folder is one
 * that the user named: what lies there is of anybody.
 * EEXIST: a living process, of another PID namespace, has a file of this name.
 */
int mh_stats_file_open(struct mh_stats_file *file, const char *dir, uint32_t device,
		       struct mio_error *error);

/*
 * mh_stats_file_open_own does the same in a folder for this user alone, which it makes where there
 * is none, and removes what crashed processes have left there. EPERM: what is called so is not for
 * this user alone, which error says, with what to do.
 */
int mh_stats_file_open_own(struct mh_stats_file *file, const char *dir, uint32_t device,
			   struct mio_error *error);

/* mh_stats_file_close removes the file, if it is the process that made it, unless it is kept. */
void mh_stats_file_close(struct mh_stats_file *file);

#endif
