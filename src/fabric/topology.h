/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * topology.h - the one model of a fabric: a multi-plane Clos, as a handful of numbers.
 *
 * A host (one NIC) has one port on each plane. Planes are equal and share no switch. In a plane
 * each T0 has hosts below and one link to each T1 of its pod above. With two tiers there is one
 * pod and nothing above the T1s. With three tiers there are several pods; the uplinks of T1 number
 * k of every pod go to the T2s k * t1_uplinks + 0 .. t1_uplinks - 1, and each T2 has one link to
 * each pod. REQ(topo.planes)
 *
 * 	T2   k * t1_uplinks + v        one link to T1 k of each pod
 * 	T1   pod * t1s + k             uplinks v = 0 .. t1_uplinks - 1
 * 	T0   pod * t0s + i             uplinks k = 0 .. t1s - 1, one to each T1 of the pod
 * 	host t0 * hosts_per_t0 + d     ports: one a plane
 *
 * Everything else is arithmetic on these numbers: nodes and links (fabric_node.h, fabric_node.h),
 * paths (fabric_path.h), uSIDs (usid.h), routes (routes.h). No table is kept, so that a fabric of
 * 131,072 hosts on 8 planes costs as much memory as one of four hosts.
 */
#ifndef SOFTMRC_FABRIC_TOPOLOGY_H
#define SOFTMRC_FABRIC_TOPOLOGY_H

#include "wire/dscp.h"
#include "wire/ev_fmt.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Division by a number that is known once and used often.
 *
 * A multiplication by 2^s / by, rounded up, and a shift by s, give the exact quotient of every
 * number below 2^31: with 2^(L-1) < by <= 2^L and s = 31 + L the rounding adds less than 1 / by.
 * The product stays below 2^64. A simulated packet asks for several quotients at each hop, and a
 * division by a variable costs ten times as much.
 */

/* Numbers to be divided are below this. */
#define MF_DIVIDEND_END (UINT32_C(1) << 31)

struct mf_div {
	uint64_t factor;
	uint32_t by;
	uint32_t shift;
};

/* mf_div_of prepares a division by `by`, which is 1 .. 2^31. */
static inline struct mf_div mf_div_of(uint32_t by)
{
	uint32_t log = 0;

	while ((UINT64_C(1) << log) < by)
		log++;
	return (struct mf_div){
		.factor = ((UINT64_C(1) << (31 + log)) + by - 1) / by,
		.by = by,
		.shift = 31 + log,
	};
}

/* mf_div_quotient returns n / by; n is below MF_DIVIDEND_END. */
static inline uint32_t mf_div_quotient(struct mf_div d, uint32_t n)
{
	return (uint32_t)(n * d.factor >> d.shift);
}

/* mf_div_rest returns n % by; n is below MF_DIVIDEND_END. */
static inline uint32_t mf_div_rest(struct mf_div d, uint32_t n)
{
	return n - mf_div_quotient(d, n) * d.by;
}

/* Letters of a name. */
#define MF_NAME_MAX 31u
/* What the fields of an EV can tell apart. */
#define MF_PLANES_MAX (1u << MW_EV_PLANE_BITS)
#define MF_UPLINKS_MAX (1u << MW_EV_UPLINK_BITS)
/* Room for the longest packet that there is any use for, and the least that IPv6 allows. */
#define MF_MTU_MIN 1280u
#define MF_MTU_MAX 65535u

/* A node's tier. */
enum mf_tier {
	MF_HOST = 0,
	MF_T0,
	MF_T1,
	MF_T2,
	MF_TIERS, /* how many there are */
};

/* A link's kind, by its two ends. */
enum mf_link_kind {
	MF_HOST_T0 = 0,
	MF_T0_T1,
	MF_T1_T2,
	MF_LINK_KINDS, /* how many there are */
};

/* Links of one kind are alike. */
struct mf_link_cfg {
	uint64_t bit_s;	     /* of each direction; bits a second */
	uint32_t latency_ns; /* one way, from the last bit sent to the last bit received */
};

/* Where a carrier has the number of the plane. REQ(topo.usid.planes) */
enum mf_usid_planes {
	MF_PLANE_IN_BLOCK =
		0,	  /* plane p has the block `block + p`; uSIDs are alike in all planes */
	MF_PLANE_IN_USID, /* one block for all; each uSID has some bits for the plane */
};

/* What the last uSID of a carrier, the destination's, counts. REQ(topo.usid.destination) */
enum mf_usid_dst {
	MF_DST_DOWNLINK = 0, /* the downlink of its T0; any number of hosts */
	MF_DST_HOST, /* the host itself, 1 + host; needs MF_PLANE_IN_BLOCK, at most 40,959 */
};

struct mf_usid_cfg {
	uint32_t block; /* first 32 bits of the addresses, fcbb:bb00 is 0xfcbbbb00; see usid.h */
	enum mf_usid_planes planes;
	enum mf_usid_dst dst;
};

/*
 * What a fabric is made of. Every count is of one plane, and of one pod where it says so; a plane
 * has pods * t0s T0s.
 */
struct mf_topology_cfg {
	char name[MF_NAME_MAX + 1];
	uint32_t planes;       /* 1 .. MF_PLANES_MAX */
	uint32_t tiers;	       /* of switches: 2 or 3 */
	uint32_t pods;	       /* 1 with two tiers, 2 or more with three */
	uint32_t hosts_per_t0; /* downlinks of a T0 */
	uint32_t t0s;	       /* in a pod */
	uint32_t t1s;	       /* in a pod; also the uplinks of a T0; at most MF_UPLINKS_MAX */
	uint32_t t1_uplinks;   /* three tiers only, else 0; at most MF_UPLINKS_MAX */
	/*
	 * Ports of a switch of tier T0, T1, T2 (index: tier - MF_T0), an even number; some may be
	 * free. 0: as many as are used, rounded up to an even number.
	 */
	uint32_t radix[3];
	uint32_t rails; /* hosts (NICs) of a node, each on a T0 of its own */
	struct mf_link_cfg links[MF_LINK_KINDS];
	uint32_t switch_ns; /* from the last bit received to the first bit ready to be sent */
	uint32_t mtu;	    /* bytes of the longest IPv6 packet on any link */
	struct mf_usid_cfg usid;
	uint32_t address_block;	 /* first 32 bits of the hosts' own addresses; see usid.h */
	struct mw_dscp_map dscp; /* of all switches and hosts; mw_dscp_map_default if unsure */
};

/*
 * A fabric. Read it freely, write it never: mf_topology_init fills it from a valid cfg. It holds no
 * pointer and may be copied; any number of threads may use one.
 */
struct mf_topology {
	struct mf_topology_cfg cfg; /* radix filled in */

	uint32_t n_hosts;
	uint32_t n_t0s, n_t1s, n_t2s; /* of one plane, all pods */
	uint32_t hosts_per_pod;
	uint32_t plane_switches; /* of one plane */
	uint32_t n_switches;
	uint32_t n_nodes; /* hosts and switches */
	uint32_t plane_cables;
	uint32_t n_links;			 /* directed: two for each cable */
	uint32_t first_t0_cable, first_t1_cable; /* in a plane: up from T0s, up from T1s */

	/* Widths of the fields of a uSID, see usid.h. */
	uint8_t plane_bits; /* 0 with MF_PLANE_IN_BLOCK */
	uint8_t t0_bits, t1_bits, t2_bits;

	struct mf_div by_hosts_per_t0, by_t0s, by_t1s, by_t1_uplinks, by_planes;
	struct mf_div by_plane_switches, by_plane_cables;
};

/*
 * What is wrong with a cfg: the field by the name that it has in a topology file, the value that it
 * has, and what is wrong with that and what is allowed:
 *
 *	topology.planes = 0: planes that an EV can name: 1 to 16
 */
struct mf_error {
	char field[32];
	char value[48];
	char what[160];
};

/*
 * mf_topology_init checks a cfg and fills *t. False: the cfg describes no fabric that can be built
 * or addressed; *error says why and *t is as it was. Pure; allocates nothing.
 */
bool mf_topology_init(struct mf_topology *t, const struct mf_topology_cfg *cfg,
		      struct mf_error *error);

/* mf_topology_count returns how many nodes of a tier there are, in all planes. */
static inline uint32_t mf_topology_count(const struct mf_topology *t, enum mf_tier tier)
{
	const uint32_t count[MF_TIERS] = {t->n_hosts, t->n_t0s, t->n_t1s, t->n_t2s};

	return tier == MF_HOST ? t->n_hosts : count[tier] * t->cfg.planes;
}

/* mf_topology_cables returns how many cables (two links each) of a kind there are, in all
 * planes. */
static inline uint32_t mf_topology_cables(const struct mf_topology *t, enum mf_link_kind kind)
{
	const uint32_t first[MF_LINK_KINDS + 1] = {0, t->first_t0_cable, t->first_t1_cable,
						   t->plane_cables};

	return (first[kind + 1] - first[kind]) * t->cfg.planes;
}

/*
 * mf_error_set fills *error and returns false. The value is a number; `what` a printf format for
 * what is wrong and what is allowed.
 */
bool mf_error_set(struct mf_error *error, const char *field, uint64_t value, const char *what, ...)
	__attribute__((format(printf, 4, 5)));

#endif
