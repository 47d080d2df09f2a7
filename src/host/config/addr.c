/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * addr.c - GIDs and plane addresses. A GID is the address on the first plane; the address on
 * another plane has the same host bits in that plane's subnet. With SRv6 a row says where a GID is.
 */
#include "host/config/env.h"

#include <arpa/inet.h>

#include "base/assert.h"
#include "base/bytes.h"

#define IPV4_AND_UDP_BYTES 28u
#define UDP_BYTES 8u
#define IPV4_DF 0x4000u

/* All addresses are 16 bytes inside host; the mapped form is the only mark of IPv4. */
static const uint8_t addr_mapped[12] = {[10] = 0xFF, [11] = 0xFF};

/* map->srv6 points into env, which must live as long: both are in the NIC. */
void mh_addr_map_init(struct mh_addr_map *map, const struct mh_env *env)
{
	mb_assert(env->prefix < 128);
	map->n_planes = env->n_ports;
	map->srv6 = mh_env_is_srv6(env) ? &env->srv6 : NULL;
	map->inner = env->driver == MH_DRIVER_RAW41 || map->srv6;
	map->ipv4 = mh_addr_is_ipv4(env->port[0].ip);
	memset(map->host_mask, 0, sizeof(map->host_mask));
	for (uint32_t bit = env->prefix; bit < 128; bit++)
		map->host_mask[bit / 8] |= (uint8_t)(0x80u >> bit % 8);
	for (uint32_t i = 0; i < env->n_ports; i++)
		memcpy(map->local[i], env->port[i].ip, 16);
}

void mh_addr_from_ip(uint32_t ip, uint8_t gid[16])
{
	memcpy(gid, addr_mapped, sizeof(addr_mapped));
	mb_store_be32(gid + sizeof(addr_mapped), ip);
}

bool mh_addr_is_ipv4(const uint8_t ip[16])
{
	return memcmp(ip, addr_mapped, sizeof(addr_mapped)) == 0;
}

/* addr_join takes the host's bits from one address and the others from another. */
static void addr_join(const struct mh_addr_map *map, const uint8_t subnet[16],
		      const uint8_t host[16], uint8_t ip[16])
{
	for (uint32_t i = 0; i < 16; i++)
		ip[i] = (uint8_t)((subnet[i] & ~map->host_mask[i]) | (host[i] & map->host_mask[i]));
}

void mh_addr_on_plane(const struct mh_addr_map *map, uint32_t plane, const uint8_t gid[16],
		      uint8_t ip[16])
{
	mb_assert(plane < map->n_planes);
	addr_join(map, map->local[plane], gid, ip);
}

bool mh_addr_first_hop(const struct mh_addr_map *map, uint32_t plane, uint32_t ev,
		       const uint8_t gid[16], uint8_t ip[16])
{
	const struct mh_srv6_row *row;

	if (!map->srv6) {
		mh_addr_on_plane(map, plane, gid, ip);
		return true;
	}
	row = mh_srv6_find(map->srv6, gid);
	if (row)
		mh_srv6_carrier(row, plane, ev, gid, ip);
	return row != NULL;
}

/* One process speaks IPv4 or IPv6: sockets of the one family send nothing to the other. */
bool mh_addr_is_reachable(const struct mh_addr_map *map, const uint8_t gid[16])
{
	if (map->srv6)
		return mh_srv6_find(map->srv6, gid) != NULL;
	return mh_addr_is_ipv4(gid) == map->ipv4;
}

/* The ICRC covers the inner addresses where packets are tunnelled, and these are the GIDs. */
const uint8_t *mh_addr_icrc_local(const struct mh_addr_map *map, uint32_t plane)
{
	mb_assert(plane < map->n_planes);
	return map->local[map->inner ? 0 : plane];
}

/*
 * The subnet is compared, so that a packet from outside of the plane is not taken for one of a peer
 * with the same host bits. The family is, too: with a prefix of 0 all bits are the host's, and an
 * answer to an address of the other family could not even be written.
 */
bool mh_addr_gid_of(const struct mh_addr_map *map, uint32_t plane, const uint8_t ip[16],
		    uint8_t gid[16])
{
	const uint8_t *ours = mh_addr_icrc_local(map, plane);
	uint32_t strange = 0;

	if (map->srv6) {
		memcpy(gid, ip, 16);
		return mh_srv6_find(map->srv6, ip) != NULL;
	}
	if (mh_addr_is_ipv4(ip) != mh_addr_is_ipv4(ours))
		return false;
	for (uint32_t i = 0; i < 16; i++)
		strange |= (ip[i] ^ ours[i]) & ~(uint32_t)map->host_mask[i] & 0xFFu;
	addr_join(map, map->local[0], ip, gid);
	return strange == 0;
}

/*
 * Rows say where to send and not where others send from, so that with SRv6 paths any outer source
 * passes. A frame that nothing carried has an outer source of zeros.
 */
bool mh_addr_is_carrier_of(const struct mh_addr_map *map, uint32_t plane, const uint8_t outer[16],
			   const uint8_t gid[16])
{
	static const uint8_t none[16];
	uint8_t ip[16];

	if (map->srv6 || memcmp(outer, none, sizeof(none)) == 0)
		return true;
	mh_addr_on_plane(map, plane, gid, ip);
	return memcmp(outer, ip, sizeof(ip)) == 0;
}

const char *mh_addr_text(const uint8_t ip[16], char text[MH_ADDR_TEXT_MAX])
{
	const char *written = mh_addr_is_ipv4(ip)
				      ? inet_ntop(AF_INET, ip + 12, text, MH_ADDR_TEXT_MAX)
				      : inet_ntop(AF_INET6, ip, text, MH_ADDR_TEXT_MAX);

	mb_assert(written);
	return written;
}

/*
 * Drivers deliver no IP header, so it is made again as it was sent; the fields that change on
 * the way are masked by the ICRC.
 */
struct mw_icrc_carrier mh_addr_icrc_carrier(const struct mh_addr_datagram *d)
{
	bool ipv4 = mh_addr_is_ipv4(d->src);
	struct mw_icrc_carrier c = {
		.ip_version = ipv4 ? 4 : 6,
		.ip_len = (uint16_t)(d->len + (ipv4 ? IPV4_AND_UDP_BYTES : UDP_BYTES)),
		.ip_frag = IPV4_DF,
		.udp_sport = d->sport,
		.udp_dport = d->dport,
		.udp_len = (uint16_t)(d->len + UDP_BYTES),
	};

	memcpy(c.src, ipv4 ? d->src + 12 : d->src, ipv4 ? 4 : 16);
	memcpy(c.dst, ipv4 ? d->dst + 12 : d->dst, ipv4 ? 4 : 16);
	return c;
}
