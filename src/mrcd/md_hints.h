/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_hints.h - which EVs processes found bad, kept for those of the same user that come later: see
 * store/store_hints.h. It hears what processes log in their statistics, whose owner the file system
 * names; of one user it keeps STORE_HINTS_MAX, the newest. It keeps those of MD_HINTS_USERS: who
 * said nothing for the longest makes room for one more, whose processes come now.
 *
 * Any process of a user may say anything, so others are not to believe it, and none of it is more
 * than a reason to probe. One thread.
 */
#ifndef SOFTMRC_MRCD_MD_HINTS_H
#define SOFTMRC_MRCD_MD_HINTS_H

#include "mrcd/md_config.h"
#include "stats/stats_reader.h"
#include "store/store_hints.h"

#define MD_HINTS_USERS 64u

struct md_hints_user {
	uid_t uid;
	bool changed;	   /* since it was saved */
	int failed;	   /* the errno value that was logged last */
	uint64_t heard_ns; /* when one of his processes said something last */
	uint32_t n;
	struct store_hint *hint; /* STORE_HINTS_MAX, oldest first; NULL: the place is free */
};

struct md_hints {
	const struct md_config *config; /* whose store and device */
	struct md_hints_user user[MD_HINTS_USERS];
};

/*
 * md_hints_open begins with nothing, and removes what an earlier daemon saved, which nobody would
 * take back: processes that are there say again what they found.
 */
void md_hints_open(struct md_hints *hints, const struct md_config *config);
/* md_hints_close forgets all; what was saved stays until it is too old. */
void md_hints_close(struct md_hints *hints);
/*
 * md_hints_hear takes an event of a process: an EV that went bad is kept, one that came back is
 * forgotten. What is of another device, or itself came of a hint, counts not.
 */
void md_hints_hear(struct md_hints *hints, const struct stats_process *p,
		   const struct mrc_stats_event *e, uint64_t now_ns);
/* md_hints_save forgets what is too old and writes what has changed; failures are logged once. */
void md_hints_save(struct md_hints *hints, uint64_t now_ns);

#endif
