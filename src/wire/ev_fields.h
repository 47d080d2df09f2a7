/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_fields.h - the controller API's general form of an EV: fields from left to right.
 *
 * A format says how wide each field is on the wire, a profile what stands in it: an initial value,
 * of which the bits under a mask are replaced by bits of the EV. EV bits are used from the most
 * significant one on, each once, fields from left to right; within a field the highest bit of the
 * mask takes the first. Fields are concatenated; what is missing at the end is zero. A field of a
 * profile may be narrower than that of the format: it stands at the low end. Pure; any thread.
 * REQ(srv6.ev-expansion)
 */
#ifndef SOFTMRC_WIRE_EV_FIELDS_H
#define SOFTMRC_WIRE_EV_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

/* The longest EV of the API: a destination and a segment. REQ(wire.ev.srv6-format) */
#define MW_EV_BYTES 32u
#define MW_EV_BITS (MW_EV_BYTES * 8u)
#define MW_EV_FIELD_BITS_MAX 32u

struct mw_ev_field {
	uint32_t width;	   /* 1 .. wire_width */
	uint32_t init;	   /* below 2^width */
	uint32_t min, max; /* of what is generated; both 0: all values that the mask has bits for */
	uint32_t mask;	   /* bits that come from the EV; below 2^width */
	uint32_t wire_width; /* of the format, 1 .. 32 */
};

/* mw_ev_fields_check says whether n fields, of 256 bits together at most, are in these ranges. */
bool mw_ev_fields_check(const struct mw_ev_field *fields, uint32_t n);
/* mw_ev_fields_bits returns how many bits of an EV the fields use, 0 .. 256. */
uint32_t mw_ev_fields_bits(const struct mw_ev_field *fields, uint32_t n);
/* mw_ev_fields_expand writes what an EV, left-aligned, stands for on the wire. */
void mw_ev_fields_expand(const struct mw_ev_field *fields, uint32_t n,
			 const uint8_t ev[MW_EV_BYTES], uint8_t wire[MW_EV_BYTES]);
/* mw_ev_fields_combinations returns how many EVs can be generated, UINT32_MAX for more. */
uint32_t mw_ev_fields_combinations(const struct mw_ev_field *fields, uint32_t n);
/*
 * mw_ev_fields_generate writes the k-th of `count` different EVs, left-aligned; count is at most
 * the combinations there are. Consecutive ones differ in every field that has several values, and
 * few of them are spread evenly over the first.
 */
void mw_ev_fields_generate(const struct mw_ev_field *fields, uint32_t n, uint32_t k, uint32_t count,
			   uint8_t ev[MW_EV_BYTES]);
/* mw_ev_bits_are_zero says whether an EV has only zeros from bit `from`, counted from the left. */
bool mw_ev_bits_are_zero(const uint8_t ev[MW_EV_BYTES], uint32_t from);

#endif
