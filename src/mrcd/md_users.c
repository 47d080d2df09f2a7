/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_users.c - profiles that go offline while QPs use them: see md_node.h.
 *
 * Which QPs there are is in the statistics of processes, those of a client and of the configuration
 * file alike. What a change takes offline is seen from the two states, however it was asked for.
 */
#include "mrcd/md_node.h"

#include <errno.h>

static void look(struct md_node *node, const struct stats_owner *but, struct stats_profiles *used)
{
	*used = (struct stats_profiles){0};
	for (uint32_t i = 0; i < STATS_DEVICES_MAX; i++)
		if (md_config_is_of(&node->config, i))
			stats_reader_profiles(node->stats, i, but, used);
}

static bool goes_offline(uint32_t now, uint32_t next)
{
	return now == MN_ONLINE && next != MN_ONLINE;
}

/* Bit p: profile p. */
static void find_ending(const struct md_node *node, uint32_t *ev, uint32_t *cc)
{
	*ev = *cc = 0;
	for (uint32_t i = 0; i < MN_EV_PROFILES; i++)
		if (goes_offline(node->now->ev[i].state, node->next->ev[i].state))
			*ev |= UINT32_C(1) << i;
	for (uint32_t i = 0; i < MN_CC_PROFILES; i++)
		if (goes_offline(node->now->cc[i].state, node->next->cc[i].state))
			*cc |= UINT32_C(1) << i;
}

/* REQ(ctl.profile-states) */
int md_users_check(struct md_node *node, const struct stats_owner *but, struct md_user *user,
		   struct md_error *e)
{
	struct stats_profiles used;
	uint32_t ev, cc;

	find_ending(node, &ev, &cc);
	if (!node->stats || !(ev | cc))
		return 0;
	look(node, but, &used);
	ev &= used.ev;
	cc &= used.cc;
	if (!(ev | cc))
		return 0;
	user->kind = ev ? MD_ROW_EV : MD_ROW_CC;
	user->profile = (uint32_t)__builtin_ctz(ev ? ev : cc);
	user->who = (ev ? used.ev_owner : used.cc_owner)[user->profile];
	return md_refuse(e, EBUSY, "profile", "%s profile = %u: QPs use it, process %u of user %u",
			 ev ? "EV" : "CC", user->profile, user->who.pid, user->who.uid);
}
