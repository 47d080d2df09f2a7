/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * carrier.h - from an entropy value to the carrier it stands for, by arithmetic.
 *
 * A NIC stores no addresses. For each row of destinations it has a template: the carrier of one
 * path to the row's first host, and a list of copies. A copy from the EV puts some bits of it over
 * some bits of the carrier; a copy from the destination, which is counted from the row's first, is
 * added to what stands there. The paper's rule is two kinds of copies from the EV (the plane's
 * number into each uSID, the number of the T0's uplink into the uSID of the T1) and one from the
 * destination (its downlink into the last uSID). The controller API's
 * general form is a copy for each run of mask bits.
 *
 * Bits of a carrier are counted from its left: 0 .. 127 are the destination address, 128 .. 255 the
 * segment. Bits of a source are counted as in a number, 0 the lowest. Pure; any thread.
 * REQ(srv6.ev-planes)
 */
#ifndef SOFTMRC_WIRE_CARRIER_H
#define SOFTMRC_WIRE_CARRIER_H

#include "wire/srv6.h"

#define MW_CARRIER_BITS 256u
#define MW_CARRIER_WORDS (MW_CARRIER_BITS / 64)
/* Ten uSIDs with two fields each, or an EV's 32 bits one by one. */
#define MW_CARRIER_COPIES_MAX 32u

enum mw_carrier_source {
	MW_CARRIER_FROM_EV,	/* the 32-bit EV */
	MW_CARRIER_FROM_HOST,	/* the low half of the destination's GID, less that of the row */
	MW_CARRIER_FROM_SUBNET, /* the high half, likewise */
};

/* What a carrier is made from. */
struct mw_carrier_key {
	uint32_t ev;
	uint64_t host, subnet;
};

/* Bits from .. from + width - 1 of the source go to bits to .. to + width - 1 of the carrier. */
struct mw_carrier_copy {
	uint8_t source; /* enum mw_carrier_source */
	uint8_t from;	/* the lowest bit taken */
	uint8_t width;	/* 1 .. 32 */
	uint8_t to;	/* the leftmost bit written */
};

struct mw_carrier_template {
	uint64_t base[MW_CARRIER_WORDS]; /* leftmost bit on top */
	uint8_t n_copies;
	bool has_segment;
	struct mw_carrier_copy copy[MW_CARRIER_COPIES_MAX];
};

/* mw_carrier_template_init makes the template that gives every EV this carrier. */
void mw_carrier_template_init(struct mw_carrier_template *t, const struct mw_carrier *base);

/*
 * mw_carrier_template_copy adds a copy; copies are made in this order. What is added from a
 * destination is added modulo 2^width. False: there is no room for another (MW_CARRIER_COPIES_MAX;
 * one that crosses a multiple of 64 bits counts as two), or its bits do not exist in the source or
 * in the carrier: width 0 or above 32, beyond an EV's 32 or the 64 bits of half a GID, beyond the
 * destination of a carrier without segment, or from a GID across a multiple of 64 bits. Then
 * nothing is changed.
 */
bool mw_carrier_template_copy(struct mw_carrier_template *t, const struct mw_carrier_copy *copy);

/* mw_carrier_expand writes the carrier of an EV to a destination. */
void mw_carrier_expand(const struct mw_carrier_template *t, const struct mw_carrier_key *key,
		       struct mw_carrier *out);

#endif
