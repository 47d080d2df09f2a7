/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * negotiation.h - what both ends of a connection know beyond MRC.
 *
 * A QP that offers extensions begins with a reliability probe that says which; the answer says what
 * the peer knows, and how much it has room for. Whatever a probe or its answer leaves at zero, as
 * MRC has it, is nothing. Until it has come nothing else is sent. REQ(ext.agreement)
 */
#ifndef SOFTMRC_CORE_WINDOW_NEGOTIATION_H
#define SOFTMRC_CORE_WINDOW_NEGOTIATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"
#include "wire/packet.h"

struct mt_negotiation {
	uint8_t offered;    /* enum mw_ext: what we know */
	uint8_t negotiated; /* what the peer knows as well */
	bool done;	    /* the peer has answered */
	bool requested;	    /* work waits for its answer */
};

/* mt_negotiation_offer returns the byte for our probes and answers. */
static inline uint8_t mt_negotiation_offer(const struct mt_negotiation *a)
{
	return (uint8_t)(MW_EXT_VERSION | a->offered);
}

/* mt_negotiation_rx takes the byte of the peer; what it knows does not change any more. */
static inline void mt_negotiation_rx(struct mt_negotiation *a, uint8_t said)
{
	if (a->negotiated == 0 && (said & MW_EXT_VERSION_MASK) == MW_EXT_VERSION)
		a->negotiated = (uint8_t)(a->offered & said);
	mb_assert((a->negotiated & ~a->offered) == 0);
}

/* mt_negotiation_done says that it has answered; true: for the first time. */
static inline bool mt_negotiation_done(struct mt_negotiation *a)
{
	bool first = !a->done;

	a->done = true;
	a->requested = false;
	return first;
}

#endif
