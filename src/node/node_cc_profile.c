/* SPDX-License-Identifier: BSD-2-Clause */
/* node_cc_profile.c - CC profiles: which algorithm, and its parameters. */
#include <errno.h>
#include <string.h>

#include "node/node_evs.h"

/* Far beyond what makes sense, and far below what an integer takes. */
#define FACTOR_MAX 65536.0f
#define QA_GATE_MAX 31u

/* No number compares as being in a range. */
static bool in_range(float value, float most)
{
	return value >= 0.0f && value <= most;
}

/* REQ(ctl.cc-profile) */
bool mn_nscc_is_sound(const struct mn_nscc *c)
{
	return c->disable_qa <= 1 && c->qa_gate <= QA_GATE_MAX && !c->zero &&
	       in_range(c->eta, FACTOR_MAX) && in_range(c->fi, FACTOR_MAX) &&
	       in_range(c->fi_scale, 256.0f) && in_range(c->gamma, 1.0f) &&
	       in_range(c->max_md_jump, 1.0f);
}

static int check(const struct mn_cc_profile *p, const struct mn_cc_change *c, bool in_use)
{
	bool moves = c->mask & MN_CC_STATE;
	uint32_t algorithm = c->mask & MN_CC_ALGORITHM ? c->algorithm : p->algorithm;
	bool has_config = c->mask & MN_CC_CONFIG || (p->has_config && algorithm == p->algorithm);

	if (moves && !mn_state_step(p->state, c->state))
		return EINVAL;
	if (moves && c->state == MN_INIT)
		return c->mask == MN_CC_STATE ? 0 : EINVAL;
	if (p->state == MN_INIT && (!moves || !(c->mask & MN_CC_ALGORITHM)))
		return EINVAL;
	if (p->state == MN_ONLINE && c->mask & ~(uint32_t)(MN_CC_STATE | MN_CC_CONFIG))
		return EINVAL;
	if (p->state == MN_ONLINE && moves && c->state == MN_OFFLINE && in_use)
		return EBUSY;
	if (algorithm >= MN_CC_ALGORITHMS)
		return EINVAL;
	if (c->mask & MN_CC_CONFIG && (algorithm != MN_CC_NSCC || !mn_nscc_is_sound(c->nscc)))
		return EINVAL;
	return moves && c->state == MN_ONLINE && algorithm == MN_CC_NSCC && !has_config ? EINVAL
											: 0;
}

int mn_cc_modify(struct mn_state *s, const struct mn_device *d, uint64_t id,
		 const struct mn_cc_change *c)
{
	struct mn_cc_profile *p;
	int err;

	if (id == MN_OWN_PROFILE || id >= MN_CC_PROFILES)
		return EINVAL;
	p = &s->cc[id];
	err = check(p, c, d->cc_in_use >> id & 1);
	if (err)
		return err;
	if (c->mask & MN_CC_STATE && c->state == MN_INIT) {
		memset(p, 0, sizeof(*p));
		return 0;
	}
	if (c->mask & MN_CC_ALGORITHM && c->algorithm != p->algorithm) {
		p->algorithm = (uint8_t)c->algorithm;
		p->has_config = 0;
		memset(&p->nscc, 0, sizeof(p->nscc));
	}
	if (c->mask & MN_CC_CONFIG) {
		p->nscc = *c->nscc;
		p->has_config = 1;
	}
	if (c->mask & MN_CC_VENDOR)
		memcpy(p->vendor, c->vendor, sizeof(p->vendor));
	if (c->mask & MN_CC_STATE)
		p->state = (uint8_t)c->state;
	return 0;
}
