/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * carrier_step.h - what the nodes of a path do to a carrier, one after the other.
 */
#ifndef SOFTMRC_TESTS_SUPPORT_CARRIER_STEP_H
#define SOFTMRC_TESTS_SUPPORT_CARRIER_STEP_H

#include <string.h>

#include "wire/srv6.h"

/*
 * carrier_step takes the first uSID out; when nothing is left in the destination, the segment
 * becomes the destination. Returns the uSID; 0: there is none.
 */
static inline uint16_t carrier_step(struct mw_carrier *c)
{
	uint16_t usid = mw_usid_shift(c->dst);

	if (mw_usid_first(c->dst) == 0 && c->has_segment) {
		memcpy(c->dst, c->segment, sizeof(c->dst));
		memset(c->segment, 0, sizeof(c->segment));
		c->has_segment = false;
	}
	return usid;
}

#endif
