/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usid.h - addresses: the uSID plan (which node has which uSID, and which uSIDs a path is), and the
 * hosts' own.
 *
 * A uSID has 16 bits: four of role, then the plane (none with MF_PLANE_IN_BLOCK), then the index.
 *
 *	0xA  T0		pod | number in the pod
 *	0xB  T1		pod | number in the pod, which is the T0's uplink
 *	0xC  T2		T0's uplink | T1's uplink
 *	0x1  host	number of the downlink of its T0		(MF_DST_DOWNLINK)
 *	0x0001 + host	up to 0x9FFF					(MF_DST_HOST)
 *
 * Each part of an index has bits of its own, as many as its count needs, so that a choice of the EV
 * is put into a uSID by an OR. No uSID is 0, which ends a list, and none is above 0xDFFF, where
 * switches keep what is local to them. In plane p the block is `block | p` with MF_PLANE_IN_BLOCK,
 * else `block`. REQ(topo.usid.roles) REQ(topo.usid.planes)
 *
 * See wire/srv6.h for how a list becomes an address and what a node does to it.
 */
#ifndef SOFTMRC_FABRIC_USID_H
#define SOFTMRC_FABRIC_USID_H

#include "fabric/fabric_path.h"

/* uSIDs of the longest path: T0, T1, T2, T1, T0, destination. */
#define MF_USIDS_MAX 6u
/* The first and the last uSID of a host by MF_DST_HOST. */
#define MF_USID_HOST_FIRST 0x0001u
#define MF_USID_HOST_LAST 0x9FFFu
/* Roles: the upper four bits. */
#define MF_USID_DOWNLINK 0x1u
#define MF_USID_T0 0xAu
#define MF_USID_T1 0xBu
#define MF_USID_T2 0xCu
#define MF_USID_ROLE_SHIFT 12u

/* mf_usid_block returns the first 32 bits of a plane's carriers. */
static inline uint32_t mf_usid_block(const struct mf_topology *t, uint32_t plane)
{
	return t->cfg.usid.planes == MF_PLANE_IN_BLOCK ? t->cfg.usid.block | plane
						       : t->cfg.usid.block;
}

/* mf_usid_plane_shift returns where the plane's bits begin in a uSID; 12 when it has none. */
static inline uint32_t mf_usid_plane_shift(const struct mf_topology *t)
{
	return MF_USID_ROLE_SHIFT - t->plane_bits;
}

/* mf_usid_switch returns the uSID of a switch; its tier is not MF_HOST. */
uint16_t mf_usid_switch(const struct mf_topology *t, struct mf_node sw);

/* mf_usid_dst returns the uSID that ends a carrier to a host in a plane. */
uint16_t mf_usid_dst(const struct mf_topology *t, uint32_t plane, uint32_t host);

/*
 * mf_usids_of writes the uSIDs of a path in the order in which nodes take them: its switches, then
 * the destination. Returns how many: 2, 4 or 6. The address is these behind mf_usid_block of the
 * EV's plane. REQ(srv6.path) REQ(srv6.ev-planes)
 */
uint32_t mf_usids_of(const struct mf_topology *t, const struct mf_pair *p, uint32_t ev,
		     uint16_t usids[MF_USIDS_MAX]);

/*
 * The hosts' own addresses, which no uSID list is.
 *
 * A host has one address (its GID) that is the same on every plane: it is the inner destination of
 * MRC packets, and the address of ordinary traffic.
 *
 * 	address_block (32) : pod (16) : T0 in the pod (16) : 0 (48) : uSID in plane 0 (16)
 *
 * So a T0 is a /64 and a pod a /48, which is what plain routes need (routes.h), and the last 16
 * bits are what a sender puts at the end of a carrier. Beside it a host has an address on each
 * plane, the source of the outer headers that it sends there:
 *
 * 	block of the plane : uSID of the host : 0 ... 1			(MF_DST_HOST)
 * 	block of the plane : uSID of its T0 : uSID of the host : 0 ... 1	(MF_DST_DOWNLINK)
 *
 * All addresses are 16 bytes in network order.
 */

#define MF_ADDRESS_BYTES 16u

/* mf_address_of_host writes the address of a host. REQ(topo.address.host) */
void mf_address_of_host(const struct mf_topology *t, uint32_t host, uint8_t out[MF_ADDRESS_BYTES]);

/* mf_address_host finds the host that has an address, its own or that on a plane. False: none. */
bool mf_address_host(const struct mf_topology *t, const uint8_t address[MF_ADDRESS_BYTES],
		     uint32_t *host);

/* mf_address_on_plane writes the address of a host on a plane. REQ(topo.address.plane) */
void mf_address_on_plane(const struct mf_topology *t, uint32_t host, uint32_t plane,
			 uint8_t out[MF_ADDRESS_BYTES]);

#endif
