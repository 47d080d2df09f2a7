/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric_address.h - the hosts' own addresses, which no uSID list is.
 *
 * A host has one address (its GID) that is the same on every plane: it is the inner destination of
 * MRC packets, and the address of ordinary traffic.
 *
 *	address_block (32) : pod (16) : T0 in the pod (16) : 0 (48) : uSID in plane 0 (16)
 *
 * So a T0 is a /64 and a pod a /48, which is what plain routes need (routes.h), and the last 16
 * bits are what a sender puts at the end of a carrier. Beside it a host has an address on each
 * plane, the source of the outer headers that it sends there:
 *
 *	block of the plane : uSID of the host : 0 ... 1			(MF_DST_HOST)
 *	block of the plane : uSID of its T0 : uSID of the host : 0 ... 1	(MF_DST_DOWNLINK)
 *
 * All addresses are 16 bytes in network order.
 */
#ifndef SOFTMRC_FABRIC_FABRIC_ADDRESS_H
#define SOFTMRC_FABRIC_FABRIC_ADDRESS_H

#include "fabric/usid.h"

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
