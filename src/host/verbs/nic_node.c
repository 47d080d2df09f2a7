/* SPDX-License-Identifier: BSD-2-Clause */
/* nic_node.c - what a program that is a controller changes of the device, and sees of it. */
#include <errno.h>

#include "base/assert.h"
#include "host/node/node.h"
#include "host/progress/progress.h"

int mh_node_change(struct mh_device *dev,
		   int (*change)(struct mn_state *state, const struct mn_device *d, void *ctx),
		   void *ctx)
{
	struct mh_nic *nic = dev->nic;
	struct mn_device d;
	bool ports_changed = false;
	uint64_t now;
	int err, applied;

	if (mh_nic_is_inherited(nic))
		return ENODEV;
	mh_nic_lock(nic);
	now = mh_now_ns();
	now = now > nic->engine_ns ? now : nic->engine_ns;
	mh_node_device(nic, &d);
	mn_state_copy(&nic->node->next, &nic->node->now);
	err = change(&nic->node->next, &d, ctx);
	applied = mh_node_check(nic);
	if (!applied)
		applied = mh_node_apply(nic, now, &ports_changed);
	if (ports_changed)
		mh_loop_report_ports(nic, now);
	mh_progress_flush(nic, now);
	mh_nic_unlock(nic);
	return err ? err : applied;
}

void mh_node_read(struct mh_device *dev, void (*read)(const struct mn_state *state, void *ctx),
		  void *ctx)
{
	mh_nic_lock(dev->nic);
	read(&dev->nic->node->now, ctx);
	mh_nic_unlock(dev->nic);
}

static enum mh_ev_state ev_state(uint8_t state)
{
	switch (state) {
	case MT_EV_GOOD:
		return MH_EV_GOOD;
	case MT_EV_ASSUMED_BAD:
		return MH_EV_BAD;
	case MT_EV_DENIED:
		return MH_EV_DENIED;
	default:
		return MH_EV_UNKNOWN;
	}
}

uint32_t mh_ev_profile_states(struct mh_device *dev, uint32_t profile, enum mh_ev_state *states)
{
	const struct mn_ev_profile *p = &dev->nic->node->now.ev[profile];
	uint8_t of_engine[MT_EVS_MAX];
	bool denied[MT_EVS_MAX];
	uint32_t n;

	_Static_assert(MH_EVS_MAX == MT_EVS_MAX && MN_EVS_PROFILE_MAX == MT_EVS_MAX,
		       "room for all");
	mh_nic_lock(dev->nic);
	n = mt_ev_profile_states(dev->nic->engine, profile, of_engine);
	for (uint32_t i = 0; i < n; i++)
		states[i] = ev_state(of_engine[i]);
	/* The engine has none of a profile that is OFFLINE, but this one's denials are known. */
	if (p->state == MN_OFFLINE && p->mode == MN_MODE_AUTO) {
		n = mh_node_ev_denied(dev->nic, profile, denied);
		for (uint32_t i = 0; i < n; i++)
			states[i] = denied[i] ? MH_EV_DENIED : MH_EV_UNKNOWN;
	}
	mh_nic_unlock(dev->nic);
	return n;
}
