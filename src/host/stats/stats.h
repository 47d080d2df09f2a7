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

/*
 * mh_counters_read fills in the list, sums over the shards of a device, and returns its length.
 * Under the locks of all.
 */
uint32_t mh_counters_read(const struct mh_nic *first, struct mh_counter counters[MH_COUNTERS_MAX]);

/* ---- sums over all QPs: qp_sums.c ---- */

/* mh_qp_add_profiles adds the EV and the CC profile that a QP uses to two sets of bits. */
void mh_qp_add_profiles(const struct mh_qp *qp, uint32_t *ev, uint32_t *cc);

/* A round through all QPs, as far as it has come. All zero: at its beginning. */
struct mh_qp_sums {
	uint32_t shard; /* that is looked at */
	uint32_t index; /* of its QP that is looked at next */
	uint32_t seen;
	uint32_t of_state[MRC_STATS_QP_STATES];
	uint32_t evs[MRC_STATS_PORTS][4];
	uint32_t with_rtt;
	uint64_t stalled;
	uint64_t inflight_bytes, lost_pending, srtt_ns, srtt_max_ns;
	uint32_t ev_profiles, cc_profiles;
};

/*
 * mh_qp_sums_step looks at some thousand EVs more, and stores the sums in the segment when the
 * round is through. Under the locks of all shards.
 */
void mh_qp_sums_step(struct mh_nic *first, struct mh_qp_sums *sums, struct mrc_stats_segment *map,
		     uint64_t now_ns);

/* ---- what the file shows: stats_segment.c ---- */

/*
 * mh_segment_create makes the file in env.stats_dir and shows the NIC's state; error says what
 * failed. Without a folder the default one is used, and it is no error when that cannot be; that
 * another user has taken its name is said once on stderr. Under the process's lock.
 */
int mh_segment_create(struct mh_nic *nic, struct mio_error *error);
/*
 * mh_segment_finish stores the last numbers, for readers that have the file open and files that
 * are kept. Under the locks of all shards, or when no other thread uses the NIC; without a segment
 * nothing happens.
 */
void mh_segment_finish(struct mh_nic *nic);
/* mh_segment_destroy removes the file, if it is not kept, and frees all; NULL is ignored. */
void mh_segment_destroy(struct mh_segment *segment);
/* mh_segment_close_inherited closes a forked child's copy and frees nothing; NULL is ignored. */
void mh_segment_close_inherited(struct mh_segment *segment);
/* mh_segment_deadline returns when the next refresh is due, UINT64_MAX without a segment. */
uint64_t mh_segment_deadline(const struct mh_segment *segment);
/*
 * mh_segment_refresh stores new numbers if that is due, and takes the locks of the other shards for
 * it. Under nic->lock, of the first; of others it does nothing.
 */
void mh_segment_refresh(struct mh_nic *nic, uint64_t now_ns);
/* mh_segment_node shows by which state the device goes; NULL is ignored. One thread at a time. */
void mh_segment_node(struct mh_segment *segment, const struct mrc_stats_node *node);
/* mh_segment_event logs an EV or PORT event at once; NULL is ignored. Any thread. */
void mh_segment_event(struct mh_segment *segment, const struct mt_event *event, uint64_t now_ns);

/* ---- messages: event_log.c ---- */

/* mh_event_log makes a message of level DEBUG of an EV or PORT event. Under nic->lock. */
void mh_event_log(const struct mt_event *event);

/* ---- the file: made, locked, mapped, removed: stats_file.c ---- */

struct mh_stats_file_cfg {
	uint32_t device;
	gid_t group; /* that may read the file; MH_NO_GROUP: the user alone */
};

struct mh_stats_file {
	struct mrc_stats_segment *map;
	int dir;       /* the folder */
	int fd;	       /* holds the lock */
	pid_t owner;   /* a forked child must not remove its parent's file */
	gid_t group;   /* as in the cfg */
	bool keep;     /* the file stays when it is closed; the user sets it */
	char name[40]; /* in the folder */
};

/*
 * mh_stats_file_open makes DIR/<pid>.mrcstats, for a device other than the first
 * DIR/<pid>.<device>.mrcstats, locked, mapped and zero; error says what failed. The folder is one
 * that the user named: what lies there is of anybody.
 * EEXIST: a living process, of another PID namespace, has a file of this name. EPERM: the user is
 * not in the group.
 */
int mh_stats_file_open(struct mh_stats_file *file, const char *dir,
		       const struct mh_stats_file_cfg *cfg, struct mio_error *error);

/*
 * mh_stats_file_open_own does the same in a folder for this user alone, which it makes where there
 * is none, and removes what crashed processes have left there. EPERM: what is called so is not for
 * this user alone, or he is not in the group, which error says.
 */
int mh_stats_file_open_own(struct mh_stats_file *file, const char *dir,
			   const struct mh_stats_file_cfg *cfg, struct mio_error *error);

/* mh_stats_file_close removes the file, if it is the process that made it, unless it is kept. */
void mh_stats_file_close(struct mh_stats_file *file);

#endif
