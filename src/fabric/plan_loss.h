/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_loss.h - what is lost when one component fails.
 *
 * For the NICs that are hit hardest: the share of their own capacity that is gone. Two readings are
 * given. `bare` counts bits: an uplink of a T0 in one of eight planes is 1/256 of 1/8. `held` is
 * what MRC makes of it: it keeps all planes equally loaded, so a plane whose uplinks are full and
 * one uplink short holds the others down with it, and the whole NIC loses 1/256. A port that is
 * lost altogether is left out, and then both are alike. REQ(plan.loss)
 */
#ifndef SOFTMRC_FABRIC_PLAN_LOSS_H
#define SOFTMRC_FABRIC_PLAN_LOSS_H

#include "fabric/plan.h"

enum mf_component {
	MF_LOSE_NIC_PORT = 0, /* or its link to the T0 */
	MF_LOSE_NIC_MODULE,
	MF_LOSE_T0_DOWN_MODULE,
	MF_LOSE_T0_UP_MODULE,
	MF_LOSE_T0_T1_LINK,
	MF_LOSE_T1_T2_LINK,
	MF_LOSE_T0,
	MF_LOSE_T1,
	MF_LOSE_T2,
	MF_LOSE_PLANE,
	MF_COMPONENTS, /* how many there are */
};

struct mf_plan_loss {
	bool present;	/* the fabric has such components; else all below is 0 */
	uint64_t count; /* of them */
	uint64_t nics;	/* hit by the failure of one */
	double bare;	/* of the capacity of each of those NICs, 0 .. 1 */
	double held;
	bool cut_off; /* those NICs have no port left */
};

/* mf_plan_loss says what the failure of one component costs. */
struct mf_plan_loss mf_plan_loss(const struct mf_topology *t, const struct mf_rates *r,
				 enum mf_component component);

/* mf_component_name returns "T0-T1 link" and so on; a constant. */
const char *mf_component_name(enum mf_component component);

#endif
