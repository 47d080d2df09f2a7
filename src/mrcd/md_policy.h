/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_policy.h - what mrcd does about what its host's map says: map.policy is "off", "advise", which
 * says in the log what would be denied, or "act", which denies it and gives it back (map_policy.h).
 *
 * What it denied has a note with the name of the part, which is in the store's folder, so that a
 * daemon that was killed knows its own denials: of those the store says, too, that they are the
 * map's. It never gives back what somebody else denied, and leaves alone what somebody gave back
 * until that is well. EVs that come into a profile while a part over which they lead is denied, are
 * denied with it, unless the profile needs them; those that came without mrcd are not.
 */
#ifndef SOFTMRC_MRCD_MD_POLICY_H
#define SOFTMRC_MRCD_MD_POLICY_H

#include "mrcd/md_node.h"

struct md_policy;

/* Where changes are told to those who follow events; takes over `event`. */
typedef void md_policy_tell_fn(void *ctx, json_t *event);

/*
 * md_policy_open begins with what the node's notes say was denied. *policy stays NULL where
 * map.policy is off, or nothing is probed: t is NULL. 0, or ENOMEM. Node and topology must outlive
 * it.
 */
int md_policy_open(struct md_policy **policy, struct md_node *node, const struct mf_topology *t,
		   uint64_t now_ns);
/* md_policy_close frees it; NULL is allowed. What it denied stays so. */
void md_policy_close(struct md_policy *policy);

/* How often the daemon's loop has to come by. */
#define MD_POLICY_MS 100

/* md_policy_is_due says whether it is time for a step; never for NULL. */
bool md_policy_is_due(const struct md_policy *policy, uint64_t now_ns);
/*
 * md_policy_step takes up a judgement of the host's map, as mm_policy_see has it, and does what is
 * due; the time must not go back. Where it acts it writes the store, as requests of clients do.
 */
void md_policy_step(struct md_policy *policy, const struct mm_sick *sick, size_t n, bool cut,
		    md_policy_tell_fn *tell, void *ctx, uint64_t now_ns);

#endif
