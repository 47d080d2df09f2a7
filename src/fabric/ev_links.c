/* SPDX-License-Identifier: BSD-2-Clause */
/* ev_links.c - names of EVs, and the EVs of a part: see ev_links.h. */
#include "fabric/ev_links.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"

bool mf_ev_find(const struct mf_topology *t, uint32_t port, uint32_t number, uint32_t *ev)
{
	uint32_t t1_uplinks = t->cfg.tiers == 3 ? t->cfg.t1_uplinks : 1;

	if (number <= UINT16_MAX || port >= t->cfg.planes || mf_ev_uplink(number) >= t->cfg.t1s ||
	    mf_ev_t1_uplink(number) >= t1_uplinks)
		return false;
	*ev = mf_ev_of(port, mf_ev_uplink(number), mf_ev_t1_uplink(number));
	return true;
}

/* ---- names ---- */

char *mf_link_ends(const struct mf_topology *t, uint32_t link, char out[MF_CABLE_ENDS_BYTES])
{
	char from[MF_LINK_NAME_BYTES], to[MF_NODE_NAME_BYTES];

	mf_link_name(t, link, from);
	mf_node_name(t, mf_link_to(t, link).node, to);
	snprintf(out, MF_CABLE_ENDS_BYTES, "%s - %s", from, to);
	return out;
}

/* A host for which the path is longest, as seen from another one. */
static uint32_t farthest(const struct mf_topology *t, uint32_t src)
{
	return src < t->n_hosts / 2 ? t->n_hosts - 1 : 0;
}

char *mf_ev_cable(const struct mf_topology *t, uint32_t src, uint32_t dst, uint32_t ev,
		  char out[MF_EV_CABLE_BYTES])
{
	struct mf_pair pair = mf_pair_of(t, src, dst == MF_HOST_NONE ? farthest(t, src) : dst);
	char port[MF_PORT_NAME_BYTES];
	struct mf_end up;
	size_t len;

	mf_link_ends(t, mf_path_link(t, &pair, ev, pair.turn == MF_T0 ? 0 : 1), out);
	if (pair.turn != MF_T2)
		return out;
	up = mf_link_from(t, mf_path_link(t, &pair, ev, 2));
	mf_port_name(t, up.node, up.port, port);
	len = strlen(out);
	len += (size_t)snprintf(out + len, MF_EV_CABLE_BYTES - len, ".%s - ", port);
	mf_node_name(t, mf_path_node(t, &pair, ev, 2), out + len);
	mb_assert(len + MF_NODE_NAME_BYTES <= MF_EV_CABLE_BYTES);
	return out;
}

/* ---- parts ---- */

bool mf_part_has(const struct mf_topology *t, const struct mf_target *part, uint32_t link)
{
	if (part->kind == MF_TARGET_PLANE)
		return mf_link_plane(t, link) == part->plane;
	for (uint32_t i = 0; i < part->links; i++)
		if (mf_target_link(t, part, i) >> 1 == link >> 1)
			return true;
	return false;
}

/* Up there is no choice but the EV's. */
static bool climbs(const struct mf_topology *t, uint32_t src, uint32_t ev, const struct mf_link *l)
{
	uint32_t t0 = mf_host_t0(t, src), t1 = mf_t0_pod(t, t0) * t->cfg.t1s + mf_ev_uplink(ev);

	switch (l->kind) {
	case MF_HOST_T0:
		return l->lower == src;
	case MF_T0_T1:
		return l->lower == t0 && l->uplink == mf_ev_uplink(ev) && t->n_t0s > 1;
	case MF_T1_T2:
		return l->lower == t1 && l->uplink == mf_ev_t1_uplink(ev);
	case MF_LINK_KINDS:
		break;
	}
	mb_unreachable();
}

/* Down it ends at any host but the sender, by T1s of the number that the EV chose on the way up. */
static bool descends(const struct mf_topology *t, uint32_t src, uint32_t ev,
		     const struct mf_link *l)
{
	uint32_t t0 = mf_host_t0(t, src);

	switch (l->kind) {
	case MF_HOST_T0:
		return l->lower != src;
	case MF_T0_T1:
		return l->lower != t0 && l->uplink == mf_ev_uplink(ev);
	case MF_T1_T2:
		return mf_t1_pod(t, l->lower) != mf_t0_pod(t, t0) &&
		       mf_div_rest(t->by_t1s, l->lower) == mf_ev_uplink(ev) &&
		       l->uplink == mf_ev_t1_uplink(ev);
	case MF_LINK_KINDS:
		break;
	}
	mb_unreachable();
}

bool mf_ev_crosses(const struct mf_topology *t, uint32_t src, uint32_t ev, uint32_t link)
{
	struct mf_link l = mf_link_at(t, link);

	if (l.plane != mf_ev_plane(ev))
		return false;
	return l.down ? descends(t, src, ev, &l) : climbs(t, src, ev, &l);
}

bool mf_ev_uses_part(const struct mf_topology *t, uint32_t src, uint32_t ev,
		     const struct mf_target *part)
{
	if (part->kind == MF_TARGET_PLANE)
		return mf_ev_plane(ev) == part->plane;
	for (uint32_t i = 0; i < part->links; i++) {
		uint32_t link = mf_target_link(t, part, i);

		if (mf_ev_crosses(t, src, ev, link) ||
		    mf_ev_crosses(t, src, ev, mf_link_reverse(link)))
			return true;
	}
	return false;
}

bool mf_path_uses_part(const struct mf_topology *t, const struct mf_pair *pair, uint32_t ev,
		       const struct mf_target *part)
{
	for (uint32_t hop = 0; hop < mf_pair_links(pair); hop++)
		if (mf_part_has(t, part, mf_path_link(t, pair, ev, hop)))
			return true;
	return false;
}
