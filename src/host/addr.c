/* SPDX-License-Identifier: BSD-2-Clause */
/* addr.c - GIDs and plane addresses. */
#include "host/addr.h"

#include "base/assert.h"
#include "base/bytes.h"

static const uint8_t addr_mapped[12] = {[10] = 0xFF, [11] = 0xFF};

void mh_addr_map_init(struct mh_addr_map *map, const struct mh_env *env)
{
	mb_assert(env->prefix < 32);
	map->n_planes = env->n_ports;
	map->host_mask = UINT32_MAX >> env->prefix;
	for (uint32_t i = 0; i < env->n_ports; i++)
		map->local_ip[i] = env->port[i].ip;
}

void mh_addr_from_ip(uint32_t ip, uint8_t gid[16])
{
	memcpy(gid, addr_mapped, sizeof(addr_mapped));
	mb_store_be32(gid + sizeof(addr_mapped), ip);
}

bool mh_addr_to_ip(const uint8_t gid[16], uint32_t *ip)
{
	*ip = mb_load_be32(gid + sizeof(addr_mapped));
	return memcmp(gid, addr_mapped, sizeof(addr_mapped)) == 0;
}

uint32_t mh_addr_on_plane(const struct mh_addr_map *map, uint32_t plane, uint32_t gid_ip)
{
	mb_assert(plane < map->n_planes);
	return (map->local_ip[plane] & ~map->host_mask) | (gid_ip & map->host_mask);
}

bool mh_addr_gid_of(const struct mh_addr_map *map, uint32_t plane, uint32_t ip, uint8_t gid[16])
{
	mb_assert(plane < map->n_planes);
	mh_addr_from_ip((map->local_ip[0] & ~map->host_mask) | (ip & map->host_mask), gid);
	return ((ip ^ map->local_ip[plane]) & ~map->host_mask) == 0;
}
