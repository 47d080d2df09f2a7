/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * agree.h - what both ends of a connection know beyond MRC.
 *
 * A QP that offers extensions begins with a reliability probe that says which; the answer says what
 * the peer knows, and how much it has room for. Whatever a probe or its answer leaves at zero, as
 * MRC has it, is nothing. Until it has come nothing else is sent. REQ(ext.agreement)
 */
#ifndef SOFTMRC_CORE_AGREE_H
#define SOFTMRC_CORE_AGREE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/packet.h"

struct mt_agree {
	uint8_t offer; /* enum mw_ext: what we know */
	uint8_t both;  /* what the peer knows as well */
	bool known;    /* the peer has answered */
	bool asked;    /* work waits for its answer */
};

/* mt_agree_said returns the byte for our probes and answers. */
static inline uint8_t mt_agree_said(const struct mt_agree *a)
{
	return (uint8_t)(MW_EXT_VERSION | a->offer);
}

/* mt_agree_hear takes the byte of the peer; what it knows does not change any more. */
static inline void mt_agree_hear(struct mt_agree *a, uint8_t said)
{
	if (a->both == 0 && (said & MW_EXT_VERSION_MASK) == MW_EXT_VERSION)
		a->both = (uint8_t)(a->offer & said);
}

/* mt_agree_answered says that it has answered; true: for the first time. */
static inline bool mt_agree_answered(struct mt_agree *a)
{
	bool first = !a->known;

	a->known = true;
	a->asked = false;
	return first;
}

#endif
