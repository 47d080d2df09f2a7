/* SPDX-License-Identifier: BSD-2-Clause */
/* nic_node.c - what a program that is a controller changes of the device, and sees of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "host/node/node.h"
#include "host/progress/progress.h"
#include "host/state/shards.h"

/* Others of the host change something at the same time; so often in a row only if all the time. */
#define TRIES 100

typedef int change_fn(struct mn_state *state, const struct mn_device *d, void *ctx);

static uint64_t engine_now(const struct mh_nic *nic)
{
	uint64_t now = mh_now_ns();

	return now > nic->engine_ns ? now : nic->engine_ns;
}

/* Under nic->lock: what has come of a change leaves. */
static void tell(struct mh_nic *nic, uint64_t now, bool ports_changed)
{
	if (ports_changed)
		mh_loop_report_ports(nic, now);
	mh_progress_flush(nic, now);
}

/* Makes node->next of the state that the NIC goes by; *fits is EINVAL if the engine cannot. */
static int make_next(struct mh_nic *nic, const struct mn_state *of, change_fn *change, void *ctx,
		     int *fits)
{
	struct mn_device d;
	int err;

	mh_node_device(nic, &d);
	mn_state_copy(&nic->node->next, of);
	err = change(&nic->node->next, &d, ctx);
	*fits = mh_node_check(nic);
	return err;
}

/* No state is shared: the change is this process's own. */
static int change_own(struct mh_nic *nic, change_fn *change, void *ctx, bool *in_force)
{
	bool ports_changed = false;
	uint64_t now;
	int err, applied;

	mh_nic_lock(nic);
	now = engine_now(nic);
	err = make_next(nic, &nic->node->now, change, ctx, &applied);
	*in_force = !applied;
	if (!applied)
		applied = mh_node_apply(nic, now, &ports_changed);
	tell(nic, now, ports_changed);
	mh_nic_unlock(nic);
	return err ? err : applied;
}

static bool is_same(const struct mn_state *a, const struct mn_state *b)
{
	return mn_state_bytes(a) == mn_state_bytes(b) && memcmp(a, b, mn_state_bytes(a)) == 0;
}

static int take_own(struct mh_nic *nic, const struct mn_state *next, const struct store_info *info)
{
	bool ports_changed = false;
	uint64_t now;
	int err;

	mh_nic_lock(nic);
	now = engine_now(nic);
	mn_state_copy(&nic->node->next, next);
	err = mh_node_store_own(nic, info, now, &ports_changed);
	tell(nic, now, ports_changed);
	mh_nic_unlock(nic);
	return err;
}

/* Once; EAGAIN: another state is in force by now. s has room for two. */
static int change_shared(struct mh_nic *nic, struct mn_state *s, change_fn *change, void *ctx,
			 bool *in_force)
{
	struct store_info info;
	int sent = mh_node_share_read(nic, &s[0], &info);
	int err, fits;

	if (sent)
		return sent == ENOENT ? change_own(nic, change, ctx, in_force) : sent;
	mh_nic_lock(nic);
	err = make_next(nic, &s[0], change, ctx, &fits);
	mn_state_copy(&s[1], &nic->node->next);
	mh_nic_unlock(nic);
	if (fits)
		return err ? err : fits;
	if (!is_same(&s[0], &s[1]))
		sent = mh_node_share_send(nic, &s[1], &info);
	if (sent)
		return sent;
	*in_force = true;
	/* What others have decided already, this process may not have heard of. */
	sent = take_own(nic, &s[1], &info);
	return err ? err : sent;
}

int mh_node_change(struct mh_device *dev, change_fn *change, void *ctx, bool *in_force)
{
	struct mn_state *s;
	bool done = false;
	int err = EAGAIN;

	if (in_force)
		*in_force = false;
	if (mh_nic_is_inherited(dev->nic))
		return ENODEV;
	s = malloc(2 * sizeof(*s));
	if (!s)
		return ENOMEM;
	for (int i = 0; i < TRIES && err == EAGAIN; i++)
		err = change_shared(dev->nic, s, change, ctx, &done);
	free(s);
	if (in_force)
		*in_force = done;
	return err;
}

int mh_node_read(struct mh_device *dev, void (*read)(const struct mn_state *state, void *ctx),
		 void *ctx)
{
	if (mh_nic_is_inherited(dev->nic))
		return ENODEV;
	mh_nic_lock(dev->nic);
	read(&dev->nic->node->now, ctx);
	mh_nic_unlock(dev->nic);
	return 0;
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

/* Of the shards the one that knows most counts: bad to one destination is bad. */
static uint32_t add_ev_states(struct mh_nic *nic, uint32_t profile, bool is_first,
			      enum mh_ev_state *states)
{
	uint8_t of_engine[MT_EVS_MAX];
	uint32_t n = mt_ev_profile_states(nic->engine, profile, of_engine);

	for (uint32_t i = 0; i < n; i++) {
		enum mh_ev_state state = ev_state(of_engine[i]);

		if (is_first || states[i] == MH_EV_UNKNOWN ||
		    (state != MH_EV_UNKNOWN && state > states[i]))
			states[i] = state;
	}
	return n;
}

uint32_t mh_ev_profile_states(struct mh_device *dev, uint32_t profile, enum mh_ev_state *states)
{
	struct mh_nic *first = dev->nic;
	const struct mn_ev_profile *p = &first->node->now.ev[profile];
	bool denied[MT_EVS_MAX];
	uint32_t n = 0;

	_Static_assert(MH_EVS_MAX == MT_EVS_MAX && MN_EVS_PROFILE_MAX == MT_EVS_MAX,
		       "room for all");
	mh_shards_lock(first);
	for (uint32_t i = 0; i < first->n_shards; i++)
		n = add_ev_states(first->shard[i], profile, i == 0, states);
	/* The engine has none of a profile that is OFFLINE, but this one's denials are known. */
	if (p->state == MN_OFFLINE && p->mode == MN_MODE_AUTO) {
		n = mh_node_ev_denied(first, profile, denied);
		for (uint32_t i = 0; i < n; i++)
			states[i] = denied[i] ? MH_EV_DENIED : MH_EV_UNKNOWN;
	}
	mh_shards_unlock(first);
	return n;
}
