/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * addr.h - one GID for an endpoint, one address for each of its planes, and the way between them.
 *
 * Plane p's subnet is the first `prefix` bits of our own port p's address; the bits behind it name
 * the host and are the same on all planes. A host's GID is its address on plane 0, IPv4-mapped.
 * With prefix 24, ports 10.0.0.1 and 10.0.1.1, and a peer's GID ::ffff:10.0.0.7, the peer is at
 * 10.0.0.7 on plane 0 and at 10.0.1.7 on plane 1.
 */
#ifndef SOFTMRC_HOST_ADDR_H
#define SOFTMRC_HOST_ADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "host/env.h"

struct mh_addr_map {
	uint32_t n_planes;
	uint32_t host_mask;		 /* the bits that name a host */
	uint32_t local_ip[MT_PORTS_MAX]; /* host order */
};

void mh_addr_map_init(struct mh_addr_map *map, const struct mh_env *env);

/* mh_addr_from_ip writes ::ffff:a.b.c.d. */
void mh_addr_from_ip(uint32_t ip, uint8_t gid[16]);
/* mh_addr_to_ip reads ::ffff:a.b.c.d and returns false for any other address. */
bool mh_addr_to_ip(const uint8_t gid[16], uint32_t *ip);
/* mh_addr_on_plane returns where the host with address gid_ip on plane 0 is on `plane`. */
uint32_t mh_addr_on_plane(const struct mh_addr_map *map, uint32_t plane, uint32_t gid_ip);
/*
 * mh_addr_gid_of returns in gid which host has address ip on `plane`; false: the address is not in
 * the plane's subnet, so it is no peer's.
 */
bool mh_addr_gid_of(const struct mh_addr_map *map, uint32_t plane, uint32_t ip, uint8_t gid[16]);

#endif
