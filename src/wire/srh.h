/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * srh.h - the segment routing header (RFC 8754): a routing header of type 4 with a list of
 * addresses, the last to be visited first.
 *
 * MRC's carriers use the reduced form: the first destination stands in the IPv6 header only, so
 * that a path of seven to ten uSIDs has a list of one. Other forms are read: what a debugger or
 * another implementation sends may hold the whole list.
 */
#ifndef SOFTMRC_WIRE_SRH_H
#define SOFTMRC_WIRE_SRH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MW_SRH_TYPE 4u
#define MW_SRH_FIXED_BYTES 8u
#define MW_SRH_SEGMENT_BYTES 16u
/* A header's length is a byte that counts units of 8 bytes. */
#define MW_SRH_SEGMENTS_MAX 127u
/* With one segment: what MRC sends. */
#define MW_SRH_BYTES (MW_SRH_FIXED_BYTES + MW_SRH_SEGMENT_BYTES)

struct mw_srh {
	uint8_t next; /* protocol of what follows */
	uint8_t left; /* segments still to be visited */
	uint8_t n;    /* segments in the list, 1 .. MW_SRH_SEGMENTS_MAX */
	uint8_t flags;
	uint16_t tag;
	uint16_t bytes;		 /* of the whole header, TLVs included */
	const uint8_t *segments; /* n of 16 bytes, in the bytes that were decoded */
};

enum mw_srh_verdict {
	MW_SRH_OK,
	MW_SRH_SHORT,	 /* the bytes end before the header does */
	MW_SRH_NOT_TYPE, /* a routing header of another type */
	MW_SRH_LIST,	 /* the list is longer than the header */
	MW_SRH_LEFT,	 /* more segments left than the list and the destination hold */
};

/*
 * mw_srh_encode writes a header in reduced form with one segment, still to be visited, and returns
 * its size, MW_SRH_BYTES.
 */
size_t mw_srh_encode(uint8_t next, const uint8_t segment[MW_SRH_SEGMENT_BYTES],
		     uint8_t out[MW_SRH_BYTES]);

/*
 * mw_srh_decode reads the header at the start of size bytes, whole or reduced. On MW_SRH_NOT_TYPE
 * next, left and bytes are valid, which all routing headers have in common. REQ(srv6.srh)
 */
enum mw_srh_verdict mw_srh_decode(const uint8_t *bytes, size_t size, struct mw_srh *srh);

/* mw_srh_verdict_name returns what is wrong, in words. */
const char *mw_srh_verdict_name(enum mw_srh_verdict verdict);

#endif
