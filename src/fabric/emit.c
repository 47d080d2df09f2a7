/* SPDX-License-Identifier: BSD-2-Clause */
/* What emitters share: see emit.h. */
#include "fabric/emit.h"

#include "fabric/fabric_node.h"
#include "fabric/plan.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

/* What SAI and SONiC cut to by default; it holds every header that MRC needs. */
#define TRIM_BYTES 128u
#define LANE_BIT_S UINT64_C(100000000000)
#define PORT_LANES_MAX 8u

struct mf_emit_options mf_emit_defaults(void)
{
	return (struct mf_emit_options){
		.sets = MF_ROUTES_SRV6,
		.trim = MF_TRIM_ASYMMETRIC,
		.trim_bytes = TRIM_BYTES,
	};
}

enum mf_queue mf_queue_of_class(const struct mw_dscp_map *dscp, enum mw_dscp_class cls)
{
	static const enum mf_queue queue[MW_DSCP_CLASSES] = {MF_QUEUE_NO_TRIM, MF_QUEUE_DATA,
							     MF_QUEUE_RETX,    MF_QUEUE_CONTROL,
							     MF_QUEUE_CONTROL, MF_QUEUE_CONTROL};

	return mw_dscp_decode(dscp, mw_dscp_encode(dscp, cls)) == cls ? queue[cls] : MF_QUEUE_OTHER;
}

/*
 * The round trip of an empty fabric: the longest path there and back, and a whole packet that is
 * received and sent again at each of its links.
 */
static uint64_t round_trip_ns(const struct mf_topology *t)
{
	struct mf_plan_path path = mf_plan_path(t);
	uint64_t ns = 2 * path.latency_ns;

	for (uint32_t kind = 0; kind < path.links / 2; kind++)
		ns += 2 * (uint64_t)t->cfg.mtu * 8 * 1000000000 / t->cfg.links[kind].bit_s;
	return ns;
}

struct mf_queue_bytes mf_queue_bytes(const struct mf_topology *t, enum mf_link_kind kind,
				     bool last_hop)
{
	uint64_t product =
		(uint64_t)((double)t->cfg.links[kind].bit_s / 8e9 * (double)round_trip_ns(t));
	/* Marks begin no sooner than when a packet waits. */
	uint64_t least = 5 * (uint64_t)t->cfg.mtu;

	product = product < least ? least : product;
	return (struct mf_queue_bytes){
		.ecn_min = product / 5,
		.ecn_max = product * 4 / 5,
		.limit = last_hop ? product * 3 / 2 : product,
	};
}

bool mf_queue_last_hop(const struct mf_topology *t, uint32_t node, uint32_t port)
{
	struct mf_node n = mf_node_at(t, node);

	return n.tier == MF_T0 && port < mf_node_downlinks(t, MF_T0);
}

const char *mf_emit_address(const uint8_t address[MF_ADDRESS_BYTES], char *out)
{
	return inet_ntop(AF_INET6, address, out, MF_ADDRESS_TEXT);
}

const char *mf_emit_hostname(const struct mf_topology *t, uint32_t node, char out[MF_ADDRESS_TEXT])
{
	mf_node_name(t, node, out);
	for (char *c = out; *c; c++)
		if (*c == '.')
			*c = '-';
	return out;
}

void mf_emit_path(const struct mf_topology *t, uint32_t node, char out[MF_PATH_BYTES])
{
	struct mf_node n = mf_node_at(t, node);

	if (n.tier == MF_HOST)
		snprintf(out, MF_PATH_BYTES, "hosts/t0-%" PRIu32 "/host%" PRIu32,
			 mf_host_t0(t, n.index), n.index);
	else
		snprintf(out, MF_PATH_BYTES, "plane%" PRIu32 "/%s-%" PRIu32, n.plane,
			 mf_tier_name(n.tier), n.index);
}

unsigned mf_emit_own_address(const struct mf_topology *t, uint32_t node, uint32_t port)
{
	return mf_link_down(mf_link_out(t, node, port)) ? 2 : 1;
}

unsigned mf_emit_peer(const struct mf_topology *t, uint32_t node, uint32_t port)
{
	return 3 - mf_emit_own_address(t, node, port);
}

static uint32_t lanes_of(const struct mf_topology *t, enum mf_link_kind kind)
{
	uint64_t lanes = (t->cfg.links[kind].bit_s + LANE_BIT_S - 1) / LANE_BIT_S;

	return lanes > PORT_LANES_MAX ? PORT_LANES_MAX : (uint32_t)lanes;
}

uint32_t mf_emit_lane(const struct mf_topology *t, uint32_t node, uint32_t port, uint32_t *lanes)
{
	enum mf_tier tier = mf_node_at(t, node).tier;
	uint32_t down = mf_node_downlinks(t, tier);
	/* Links below a T0 are of kind 0, those above of kind 1; and so on. */
	uint32_t below = lanes_of(t, (enum mf_link_kind)(tier - MF_T0));
	uint32_t first;

	if (port < down) {
		*lanes = below;
		return port * below;
	}
	*lanes = lanes_of(t, (enum mf_link_kind)(tier - MF_T0 + 1));
	/* Ports of another speed begin at a cage of their own. */
	first = (down * below + PORT_LANES_MAX - 1) / PORT_LANES_MAX * PORT_LANES_MAX;
	if (*lanes == below)
		first = down * below;
	return first + (port - down) * *lanes;
}
