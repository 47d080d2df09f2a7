/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric_address.c - the hosts' own addresses. */
#include "fabric/usid.h"

#include <string.h>

#include "base/bytes.h"

void mf_address_of_host(const struct mf_topology *t, uint32_t host, uint8_t out[MF_ADDRESS_BYTES])
{
	uint32_t t0 = mf_host_t0(t, host);

	memset(out, 0, MF_ADDRESS_BYTES);
	mb_store_be32(out, t->cfg.address_block);
	mb_store_be16(out + 4, (uint16_t)mf_t0_pod(t, t0));
	mb_store_be16(out + 6, (uint16_t)mf_div_rest(t->by_t0s, t0));
	mb_store_be16(out + 14, mf_usid_dst(t, 0, host));
}

void mf_address_on_plane(const struct mf_topology *t, uint32_t host, uint32_t plane,
			 uint8_t out[MF_ADDRESS_BYTES])
{
	struct mf_node t0 = {MF_T0, plane, mf_host_t0(t, host)};
	uint8_t *at = out + 4;

	memset(out, 0, MF_ADDRESS_BYTES);
	mb_store_be32(out, mf_usid_block(t, plane));
	if (t->cfg.usid.dst == MF_DST_DOWNLINK) {
		mb_store_be16(at, mf_usid_switch(t, t0));
		at += 2;
	}
	mb_store_be16(at, mf_usid_dst(t, plane, host));
	out[15] = 1;
}

/* The host, if any, that would have the address as its own. */
static uint32_t copy_own_usid(const struct mf_topology *t, const uint8_t *address)
{
	uint32_t pod = mb_load_be16(address + 4), t0 = mb_load_be16(address + 6);
	uint32_t low = mb_load_be16(address + 14);
	uint32_t first = (pod * t->cfg.t0s + t0) * t->cfg.hosts_per_t0;

	if (pod >= t->cfg.pods || t0 >= t->cfg.t0s)
		return t->n_hosts;
	if (t->cfg.usid.dst == MF_DST_HOST)
		return low - MF_USID_HOST_FIRST;
	return first + (low & ((1u << MF_USID_ROLE_SHIFT) - 1));
}

/* The same for an address on a plane. */
static uint32_t on_plane(const struct mf_topology *t, const uint8_t *address)
{
	uint32_t first = mb_load_be16(address + 4), second = mb_load_be16(address + 6);
	uint32_t field = (1u << mf_usid_plane_shift(t)) - 1;
	uint32_t index = first & field, pod = index >> t->t0_bits;

	if (t->cfg.usid.dst == MF_DST_HOST)
		return first - MF_USID_HOST_FIRST;
	return (pod * t->cfg.t0s + (index & ((1u << t->t0_bits) - 1))) * t->cfg.hosts_per_t0 +
	       (second & field);
}

bool mf_address_host(const struct mf_topology *t, const uint8_t address[MF_ADDRESS_BYTES],
		     uint32_t *host)
{
	uint8_t is[MF_ADDRESS_BYTES];
	uint32_t found = copy_own_usid(t, address);

	if (found < t->n_hosts) {
		mf_address_of_host(t, found, is);
		if (memcmp(is, address, sizeof(is)) == 0) {
			*host = found;
			return true;
		}
	}
	found = on_plane(t, address);
	for (uint32_t plane = 0; plane < t->cfg.planes && found < t->n_hosts; plane++) {
		mf_address_on_plane(t, found, plane, is);
		if (memcmp(is, address, sizeof(is)) == 0) {
			*host = found;
			return true;
		}
	}
	return false;
}
