/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats_reader.h - the statistics segments (mrc/stats.h) of processes: found in folders and copied.
 *
 * The files are of other processes, for root of other users: they may hold anything, and change or
 * get shorter at any moment. So nothing of them is mapped. What is copied has counts within their
 * bounds and texts that end and are printable; numbers may be anything. A file stays open after its
 * process has removed it, so its last values are not lost.
 */
#ifndef SOFTMRC_STATS_STATS_READER_H
#define SOFTMRC_STATS_STATS_READER_H

#include "stats/stats_config.h"
#include "stats/stats_files.h"

#include <mrc/stats.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Processes beyond this many are not seen: one for each slot of a host. */
#define STATS_PROCESSES_MAX 1024u
/* Of one user where all are shown: nobody alone can hide all others from root. */
#define STATS_PROCESSES_OF_USER_MAX 512u

/* One process: its segment as it was when last read, and the time before. */
struct stats_process {
	uint32_t pid;	  /* of the name of the file */
	uint32_t device;  /* of several; 0: the first */
	uid_t uid;	  /* whose file it is */
	char command[32]; /* of /proc/PID/comm; "?" where that cannot be read */
	int fd;
	struct mrc_stats_segment *now,
		*before;		  /* without events; before->updated_ns is 0 at first */
	uint64_t read_ns, read_before_ns; /* CLOCK_MONOTONIC */
	uint64_t events;		  /* taken by stats_reader_events */
	uint8_t gid[16];		  /* as far as events were taken: its device's */
	bool gone; /* its process has ended, or its file is no longer a segment */
};

struct stats_reader {
	const char *dir;    /* that is read, for messages; the caller's, or one of those below */
	const char *prefix; /* of default folders: MRC_STATS_DIR_PREFIX */
	bool all;	    /* the default folders of all users: for root, and who asks for them */
	bool others;	    /* files of other users, too, as far as they let this one read them */
	bool with_ended;    /* processes that have ended too */
	uint32_t only_pid;  /* 0: all */
	uint32_t n;
	struct stats_process process[STATS_PROCESSES_MAX];
	uint32_t unreadable; /* files that may not be read */
	uint32_t refused;    /* files and folders that are not what they should be */
	uint32_t unseen;     /* files beyond the bounds above, or beyond what we may open */
	uint32_t other_version;
	int config_err;		     /* of the configuration file, an errno value; else 0 */
	char error[STATS_ERROR_MAX]; /* what is wrong with that file; empty: nothing */
	char config_dir[MB_CONFIG_PATH];
	char default_dir[STATS_DIR_MAX];
};

/*
 * stats_reader_open begins to watch: the folder dir; or, where that is NULL, the one that
 * MRC_STATS_DIR names; or that statistics.dir of the configuration file names; or else the default
 * folder of this user, for root those of all users. Of these only the configuration file is read
 * now; stats_reader_find says what is wrong with it.
 */
void stats_reader_open(struct stats_reader *s, const char *dir, uint32_t only_pid);
/*
 * stats_reader_open_others makes a reader that was just opened look for what other users let the
 * groups of this one read (MRC_STATS_GROUP), as root does without this call.
 */
void stats_reader_open_others(struct stats_reader *s);
/* stats_reader_open_own begins to watch what this process itself publishes. */
void stats_reader_open_own(struct stats_reader *s);
void stats_reader_close(struct stats_reader *s);

/*
 * stats_reader_find opens segments that are new. 0, or an errno value: the folder cannot be read;
 * EPERM: it is the default one and not for this user alone. Where `error` is not empty it is the
 * configuration file that cannot be read, and no folder is looked into.
 */
int stats_reader_find(struct stats_reader *s);

/* stats_reader_copy copies what every segment found shows, at one moment. 0, or ENOMEM. */
int stats_reader_copy(struct stats_reader *s, uint64_t now_ns);

/*
 * stats_reader_read looks for new processes, forgets those that were gone the last time, and copies
 * what every segment shows. Returns as stats_reader_find.
 */
int stats_reader_read(struct stats_reader *s, uint64_t now_ns);

/* stats_event_fn is given one event, and whose it is. */
typedef void (*stats_event_fn)(void *context, const struct stats_process *process,
			       const struct mrc_stats_event *event);

/*
 * stats_reader_events calls fn with all events logged since the last call, those of a process in
 * their order, and returns how many were overwritten before they could be read.
 */
uint64_t stats_reader_events(struct stats_reader *s, stats_event_fn fn, void *context);

/*
 * stats_reader_follow lets go of processes that had ended at the last call, looks for new ones, and
 * gives fn the events as stats_reader_events; *missed grows by what was overwritten. Returns as
 * stats_reader_find.
 */
int stats_reader_follow(struct stats_reader *s, stats_event_fn fn, void *context, uint64_t *missed);

/* Whose statistics they are: the user by the file system, the process by what he called them. */
struct stats_owner {
	uint32_t pid;
	uid_t uid;
};

/* Profiles that QPs of processes use, and the process that was found last to use each. */
#define STATS_PROFILES 32u
struct stats_profiles {
	uint32_t ev, cc; /* bit p: profile p */
	struct stats_owner ev_owner[STATS_PROFILES], cc_owner[STATS_PROFILES];
};

/*
 * stats_reader_profiles looks for new processes and says what those that live use of a device, but
 * for one of them, or NULL. What cannot be read uses nothing.
 */
void stats_reader_profiles(struct stats_reader *s, uint32_t device, const struct stats_owner *but,
			   struct stats_profiles *used);

/*
 * stats_segment_load reads a whole file, events too, for one look at what a process left. 0;
 * EINVAL: it is no segment of this version, or not whole.
 */
int stats_segment_load(int fd, struct mrc_stats_segment *segment);

/* stats_counter_find returns a counter of a segment by its name, or NULL. */
const struct mrc_stats_counter *stats_counter_find(const struct mrc_stats_segment *s,
						   const char *name);
/* stats_counter returns the value of a counter, 0 when there is none of this name. */
uint64_t stats_counter(const struct mrc_stats_segment *s, const char *name);

/* stats_per_second returns the growth of a counter since the last reading, by the second. */
double stats_per_second(const struct stats_process *p, uint64_t now, uint64_t before);

#endif
