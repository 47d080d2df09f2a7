/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * srv6.h - paths of micro segments (uSIDs, RFC 9800) as IPv6 destination addresses.
 *
 * An address is a block of 32 bits, which says that what follows are uSIDs, and six fields of 16
 * bits, one for each node on the way; zero ends the list (the F3216 format). A node that finds its
 * own uSID first takes it out: the block stays, the rest moves up by 16 bits, zeros fill the end.
 * Paths of more than six nodes carry the rest in the one segment of a routing header.
 *
 * Addresses are 16 bytes in network order, uSIDs numbers in host order. Pure; any thread.
 * See fabric/usid.h for which node has which uSID, carrier.h for paths by entropy value.
 */
#ifndef SOFTMRC_WIRE_SRV6_H
#define SOFTMRC_WIRE_SRV6_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MW_SRV6_ADDR_BYTES 16u
#define MW_SRV6_BLOCK_BITS 32u
#define MW_USID_BITS 16u
/* What fits an address, and what its one segment may add. REQ(srv6.capacity) */
#define MW_USIDS_ADDR_MAX 6u
#define MW_USIDS_SEGMENT_MAX 4u
#define MW_USIDS_PATH_MAX (MW_USIDS_ADDR_MAX + MW_USIDS_SEGMENT_MAX)

/* The uSIDs of one address. */
struct mw_usids {
	uint32_t block;			  /* the first 32 bits of the address */
	uint32_t n;			  /* 0 .. MW_USIDS_ADDR_MAX */
	uint16_t usid[MW_USIDS_ADDR_MAX]; /* in the order in which nodes take them; none is 0 */
};

/*
 * mw_usids_encode writes the address of a list. n must be at most MW_USIDS_ADDR_MAX and no uSID 0
 * (asserted), for 0 ends a list. REQ(srv6.format)
 */
void mw_usids_encode(const struct mw_usids *list, uint8_t addr[MW_SRV6_ADDR_BYTES]);

/*
 * mw_usids_decode reads the list of an address up to the first zero. False: something stands
 * behind that zero, so the address is no list of uSIDs only; *list holds what stands before it.
 */
bool mw_usids_decode(const uint8_t addr[MW_SRV6_ADDR_BYTES], struct mw_usids *list);

/* mw_usid_first returns the uSID that decides what the next node does; 0: the list is empty. */
uint16_t mw_usid_first(const uint8_t addr[MW_SRV6_ADDR_BYTES]);

/*
 * mw_usid_shift does what the node whose uSID is first does to the destination (NEXT-C-SID) and
 * returns the uSID that it took out. REQ(srv6.shift)
 */
uint16_t mw_usid_shift(uint8_t addr[MW_SRV6_ADDR_BYTES]);

/* How a path travels: in a destination and, when it is longer than that, a routing header. */
struct mw_carrier {
	uint8_t dst[MW_SRV6_ADDR_BYTES];
	uint8_t segment[MW_SRV6_ADDR_BYTES]; /* zero without has_segment */
	bool has_segment;
};

/*
 * mw_carrier_of writes the carrier of a path of n uSIDs in one block, 1 .. MW_USIDS_PATH_MAX, none
 * of them 0 (asserted). Six go into the destination, the others into the segment.
 */
void mw_carrier_of(uint32_t block, const uint16_t *usids, uint32_t n, struct mw_carrier *out);

#endif
