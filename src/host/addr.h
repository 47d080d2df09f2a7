/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * addr.h - one GID for an endpoint, one address for each of its planes, and the way between them.
 *
 * Plane p's subnet is the first `prefix` bits of our own port p's address; the bits behind it name
 * the host and are the same on all planes. A host's GID is its address on plane 0; IPv4 addresses
 * are mapped, ::ffff:a.b.c.d. With 24 bits, ports 10.0.0.1 and 10.0.1.1, and a peer's GID
 * ::ffff:10.0.0.7, the peer is at 10.0.0.7 on plane 0 and at 10.0.1.7 on plane 1.
 */
#ifndef SOFTMRC_HOST_ADDR_H
#define SOFTMRC_HOST_ADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "host/env.h"
#include "wire/icrc.h"

#define MH_ADDR_TEXT_MAX 46u

struct mh_addr_map {
	uint32_t n_planes;
	bool ipv4;
	bool inner; /* the ICRC covers GIDs: of an inner header, or for want of one that stays */
	const struct mh_srv6 *srv6; /* NULL: EVs are no paths, and planes are subnets */
	uint8_t host_mask[16];	    /* the bits that name a host */
	uint8_t local[MT_PORTS_MAX][16];
};

void mh_addr_map_init(struct mh_addr_map *map, const struct mh_env *env);

/* mh_addr_from_ip writes ::ffff:a.b.c.d of an IPv4 address in host order. */
void mh_addr_from_ip(uint32_t ip, uint8_t gid[16]);
/* mh_addr_is_ipv4 says whether an address is ::ffff:a.b.c.d. */
bool mh_addr_is_ipv4(const uint8_t ip[16]);
/* mh_addr_on_plane returns in ip where the host with this GID is on `plane`. */
void mh_addr_on_plane(const struct mh_addr_map *map, uint32_t plane, const uint8_t gid[16],
		      uint8_t ip[16]);
/*
 * mh_addr_first_hop returns in ip where a packet on `plane` goes first that is for the host with
 * this GID: the address there, or with SRv6 the path of the EV. False: there is no way to it.
 */
bool mh_addr_first_hop(const struct mh_addr_map *map, uint32_t plane, uint32_t ev,
		       const uint8_t gid[16], uint8_t ip[16]);
/*
 * mh_addr_gid_of returns in gid which host sends frames from address ip on `plane`; false: the
 * address is not in the subnet, so it is no peer's.
 */
bool mh_addr_gid_of(const struct mh_addr_map *map, uint32_t plane, const uint8_t ip[16],
		    uint8_t gid[16]);
/*
 * mh_addr_icrc_local and mh_addr_icrc_peer return the addresses of the header that the ICRC covers,
 * of this host and of a peer whose GID is gid and whose address on the plane is ip.
 * REQ(wire.icrc.inner)
 */
const uint8_t *mh_addr_icrc_local(const struct mh_addr_map *map, uint32_t plane);
static inline const uint8_t *mh_addr_icrc_peer(const struct mh_addr_map *map, const uint8_t gid[16],
					       const uint8_t ip[16])
{
	return map->inner ? gid : ip;
}

/* mh_addr_is_reachable says whether there is any way to the host with this GID. */
bool mh_addr_is_reachable(const struct mh_addr_map *map, const uint8_t gid[16]);

/* mh_addr_text writes an address as people read it and returns text. */
const char *mh_addr_text(const uint8_t ip[16], char text[MH_ADDR_TEXT_MAX]);

/* The UDP datagram that carries a frame of len bytes. */
struct mh_addr_datagram {
	const uint8_t *src, *dst; /* both IPv4 or both not */
	uint16_t sport, dport;
	uint32_t len;
};

/*
 * mh_addr_icrc_carrier returns what of a datagram enters the ICRC. A UDP socket cannot know the
 * Identification that the kernel writes. REQ(wire.icrc.ipv4-socket)
 */
struct mw_icrc_carrier mh_addr_icrc_carrier(const struct mh_addr_datagram *d);

#endif
