/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * srv6_map.h - EVs that are paths: which carrier takes a packet of an EV to a destination.
 *
 * The configuration has rows of destinations. A row is a prefix of GIDs with a template for all of
 * them (wire/carrier.h); the longest prefix that a GID is in is its row. Nothing else is kept, and
 * an address is made anew for each packet. What the bits of an EV say is in wire/ev_fmt.h.
 *
 * A row as text, srv6_row.c: the GID of its first host with the length of the prefix, the block,
 * and the uSIDs of the path, in hexadecimal, with fields of the EV or of the GID put into them:
 *
 *	fd4d:5243::1/48 = fcbbbb00+plane a000 b000+uplink:4 a000+t0 1000+host
 */
#ifndef SOFTMRC_HOST_SRV6_MAP_H
#define SOFTMRC_HOST_SRV6_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/carrier.h"

#define MH_SRV6_ROWS_MAX 64u
#define MH_SRV6_PLANES_MAX 16u
#define MH_SRV6_WHY_MAX 200u

/* Half a GID as a number, the mask of the prefix in it, and what the row's first host has. */
struct mh_srv6_half {
	uint64_t first, mask;
};

struct mh_srv6_row {
	uint32_t prefix; /* bits, 0 .. 128 */
	struct mh_srv6_half subnet, host;
	struct mw_carrier_template carrier;
};

struct mh_srv6 {
	uint32_t n_rows;     /* 0: EVs are no paths */
	uint8_t gid[16];     /* of this host */
	uint32_t uplinks;    /* of a T0, 1 .. 256 */
	uint32_t t1_uplinks; /* of a T1 with three tiers, 1 .. 256; else 1 */
	uint32_t evs;	     /* per plane, 1 .. uplinks * t1_uplinks */
	uint32_t free;	     /* the free bits of all EVs */
	uint32_t turn;	     /* where this host begins when it has fewer EVs than there are paths */
	struct mh_srv6_row row[MH_SRV6_ROWS_MAX];
};

/* mh_srv6_parse_row reads a row's text. False: why says what is wrong with which word of it. */
bool mh_srv6_parse_row(const char *text, struct mh_srv6_row *row, char why[MH_SRV6_WHY_MAX]);

/*
 * mh_srv6_find returns the row of a destination; NULL: it is in none, so no path leads there.
 * REQ(srv6.rows)
 */
const struct mh_srv6_row *mh_srv6_find(const struct mh_srv6 *s, const uint8_t gid[16]);

/*
 * mh_srv6_ev returns EV i, below evs, of a plane. Fewer EVs than paths are spread over them, those
 * of different hosts not alike.
 */
uint32_t mh_srv6_ev(const struct mh_srv6 *s, uint32_t plane, uint32_t i);

/*
 * mh_srv6_carrier writes the address that takes a packet of an EV to a destination of the row. The
 * plane is the one that the packet leaves by, whatever a peer's EV says. REQ(srv6.ev-planes)
 * REQ(srv6.port-plane)
 */
void mh_srv6_carrier(const struct mh_srv6_row *row, uint32_t plane, uint32_t ev,
		     const uint8_t gid[16], uint8_t dst[16]);

#endif
