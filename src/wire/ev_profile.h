/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_profile.h - the controller API's general form of an EV: fields from left to right.
 *
 * A format profile says how wide each field is on the wire, an EV profile what stands in it: an
 * initial value, of which the bits of a mask are replaced by bits of the EV. EV bits are used from
 * the most significant one on, each once, fields from left to right; within a field the highest
 * mask bit takes the first. Fields are concatenated on the wire; what is missing at the end is
 * zero. Fields of an EV profile may be narrower than those of the format: their value stands at
 * the low end of the format's field. Pure; any thread. REQ(srv6.ev-expansion)
 */
#ifndef SOFTMRC_WIRE_EV_PROFILE_H
#define SOFTMRC_WIRE_EV_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/carrier.h"

/* The longest EV of the API: a destination and a segment. REQ(wire.ev.srv6-format) */
#define MW_EV_BYTES 32u
#define MW_EV_FIELD_BITS_MAX 32u

struct mw_ev_field {
	uint8_t wire_width; /* of the format profile, 1 .. 32 */
	uint8_t width;	    /* of the EV profile, 1 .. wire_width */
	uint32_t init;	    /* below 2^width */
	uint32_t min, max;  /* of what is generated: below 2^(bits of mask), min <= max */
	uint32_t mask;	    /* bits that come from the EV; below 2^width */
};

enum mw_ev_profile_verdict {
	MW_EV_PROFILE_OK,
	MW_EV_PROFILE_EMPTY,	  /* no fields */
	MW_EV_PROFILE_WIRE_WIDTH, /* a format field is not 1 to 32 bits wide */
	MW_EV_PROFILE_WIDTH,	  /* a field is wider than its place, or has no bits */
	MW_EV_PROFILE_TOTAL,	  /* all format fields together are wider than 256 bits */
	MW_EV_PROFILE_INIT,	  /* an initial value is wider than its field */
	MW_EV_PROFILE_MASK,	  /* a mask is wider than its field */
	MW_EV_PROFILE_RANGE,	  /* min above max, or max wider than the mask */
};

/*
 * mw_ev_profile_check says whether n fields make sense together; *wrong is the index of the first
 * that does not. The functions below want MW_EV_PROFILE_OK (asserted).
 */
enum mw_ev_profile_verdict mw_ev_profile_check(const struct mw_ev_field *fields, size_t n,
					       size_t *wrong);

/* mw_ev_profile_verdict_name returns what is wrong, in words. */
const char *mw_ev_profile_verdict_name(enum mw_ev_profile_verdict verdict);

/* mw_ev_profile_bits returns how many bits of an EV the fields use, 0 .. 256. */
uint32_t mw_ev_profile_bits(const struct mw_ev_field *fields, size_t n);

/* mw_ev_profile_expand writes what an EV, left-aligned, stands for on the wire. */
void mw_ev_profile_expand(const struct mw_ev_field *fields, size_t n, const uint8_t ev[MW_EV_BYTES],
			  uint8_t wire[MW_EV_BYTES]);

/*
 * mw_ev_profile_template makes the template that expands 32-bit EVs as the fields do; bit 31 is the
 * first to be used. False: the fields use more than 32 bits, or more runs of them than a template
 * has copies.
 */
bool mw_ev_profile_template(const struct mw_ev_field *fields, size_t n,
			    struct mw_carrier_template *t);

#endif
