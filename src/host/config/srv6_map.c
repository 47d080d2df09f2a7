/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * srv6_map.c - finds the row of a destination and makes the carrier of an EV from it.
 *
 * All of it is arithmetic on the row: a packet costs no look-up but that of the row, and a fabric
 * of any size takes no memory of a host. Any thread may call these functions, for nothing changes
 * after the configuration was read.
 */
#include "host/config/env.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "wire/ev_fmt.h"

static bool srv6_within(const struct mh_srv6_half *half, uint64_t number)
{
	return ((number ^ half->first) & half->mask) == 0;
}

/*
 * A linear search: rows are few (one for each tier that is addressed differently), and all in one
 * place of memory.
 */
const struct mh_srv6_row *mh_srv6_find(const struct mh_srv6 *s, const uint8_t gid[16])
{
	uint64_t subnet = mb_load_be64(gid), host = mb_load_be64(gid + 8);
	const struct mh_srv6_row *best = NULL;

	for (uint32_t i = 0; i < s->n_rows; i++) {
		const struct mh_srv6_row *row = &s->row[i];

		if (srv6_within(&row->subnet, subnet) && srv6_within(&row->host, host) &&
		    (!best || row->prefix > best->prefix))
			best = row;
	}
	return best;
}

uint32_t mh_srv6_ev(const struct mh_srv6 *s, uint32_t plane, uint32_t i)
{
	uint32_t paths = s->uplinks * s->t1_uplinks, path = i;

	mb_assert(i < s->evs && s->evs <= paths && plane < MH_SRV6_PLANES_MAX);
	/*
	 * Spread evenly, so that with n EVs each T0 uplink carries about as many of them as any
	 * other.
	 */
	if (s->evs < paths)
		path = (uint32_t)(((uint64_t)i * paths / s->evs + s->turn) % paths);
	return mw_ev_path_on(s->free << MW_EV_FREE_SHIFT |
				     path / s->uplinks << MW_EV_T1_UPLINK_SHIFT |
				     path % s->uplinks << MW_EV_UPLINK_SHIFT,
			     plane);
}

void mh_srv6_carrier(const struct mh_srv6_row *row, uint32_t plane, uint32_t ev,
		     const uint8_t gid[16], uint8_t dst[16])
{
	struct mw_carrier_key key = {
		.ev = mw_ev_path_on(ev, plane),
		.host = mb_load_be64(gid + 8) - row->host.first,
		.subnet = mb_load_be64(gid) - row->subnet.first,
	};
	struct mw_carrier carrier;

	mw_carrier_expand(&row->carrier, &key, &carrier);
	memcpy(dst, carrier.dst, sizeof(carrier.dst));
}
