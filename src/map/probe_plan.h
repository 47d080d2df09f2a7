/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_plan.h - which host probes which links, so that all hosts together watch every link several
 * times and each can work out its own share alone.
 *
 * A host sends a probe
 *
 * - to its T0 and back, in each plane;
 * - to a T1 and back, for the uplinks of its T0 that it shares in;
 * - up by such an uplink, through another T0 and back by another uplink, and the other way round:
 *   these cross one direction of a cable without the other;
 * - to a T2 and back, for its share of its pod's, in three tiers;
 * - to a neighbour, which answers over the next plane: the one probe that tells the directions of
 *   a host's cable apart, and a host from its cable.
 *
 * All but the last come back by source routing (uSIDs), with nobody's help. Who shares in what is
 * decided by rendezvous hashing: of the live hosts that could watch a link those with the largest
 * hash of host and link do. When a host leaves, its links get one new watcher each and nothing else
 * changes. It depends on the list of live hosts alone, which need not be the same everywhere: hosts
 * that differ about it watch some links more than others for that time.
 */
#ifndef SOFTMRC_MAP_PROBE_PLAN_H
#define SOFTMRC_MAP_PROBE_PLAN_H

#include "map/map.h"

/*
 * How a host probes (src/prober), for plans and for studies of them: each route by a pair of
 * packets a round, which takes whole steps; they have so many bytes on the wire, but one in so many
 * is of the MTU's; and one that has not come back after so many steps is lost.
 */
#define MM_PROBE_STEP_NS UINT64_C(10000000)
#define MM_PROBE_PAIR 2u
#define MM_PROBE_WIRE_BYTES 176u
#define MM_PROBE_FULL_EVERY 16u
#define MM_PROBE_WAIT_STEPS 4u

/* Where a route turns back: at a T0, T1 or T2 (tier 0 to 2), and by which uplinks it is reached. */
struct mm_route_top {
	uint32_t tier;
	uint32_t uplink;    /* of the T0 */
	uint32_t t1_uplink; /* of the T1 */
};

/*
 * The links of a route of a host in a plane, and how many. mm_route_up goes to a switch and back by
 * the same cables; mm_route_turn up by one uplink, through another T0 of the pod, and back by
 * another uplink; mm_route_peer to a neighbour and back over the next plane.
 */
uint32_t mm_route_up(const struct mf_topology *t, uint32_t host, uint32_t plane,
		     const struct mm_route_top *top, uint32_t link[MM_ROUTE_LINKS]);
uint32_t mm_route_turn(const struct mf_topology *t, uint32_t host, uint32_t plane, uint32_t up,
		       uint32_t through, uint32_t down, uint32_t link[MM_ROUTE_LINKS]);
uint32_t mm_route_peer(const struct mf_topology *t, uint32_t host, uint32_t plane, uint32_t peer,
		       uint32_t link[MM_ROUTE_LINKS]);

/*
 * mm_route_there returns the way there of a route with a peer. Of trains the peer says how they
 * came to it, so that this way alone is known to be slow or not: it crosses one direction of a
 * cable of each host.
 */
struct mm_route_of mm_route_there(const struct mm_route_of *route);

struct mm_plan_cfg {
	uint32_t watchers;    /* of each link; 1 .. */
	uint64_t interval_ns; /* from one probe of a route to the next */
	uint32_t bytes;	      /* of a probe on the wire */
	uint64_t bit_s_max;   /* that a host may send on all its ports together */
};

/*
 * mm_plan_routes writes the routes that a host probes and returns how many they are, which may be
 * more than max: then only max were written. live[0 .. n_hosts - 1] says which hosts take part; the
 * host itself is taken to.
 */
size_t mm_plan_routes(const struct mf_topology *t, const struct mm_plan_cfg *cfg, uint32_t host,
		      const bool *live, struct mm_route_of *out, size_t max);

/*
 * Who shares in what on one T0, for whoever plans for all of its hosts: each would work it out
 * from all others, which of T0s of 256 hosts takes 256 times as long as once for all.
 */

/* mm_plan_shares_bytes returns how much memory it takes. */
size_t mm_plan_shares_bytes(const struct mf_topology *t);
/* Their weights lie on the stack, 8 KiB. */
#define MM_SHARES_HOSTS_MAX 1024u
/*
 * mm_plan_shares fills it for a T0 of a fabric of two tiers, with at most MM_SHARES_HOSTS_MAX hosts
 * on it (asserted), all of which live.
 */
void mm_plan_shares(const struct mf_topology *t, const struct mm_plan_cfg *cfg, uint32_t t0,
		    uint8_t *shares);
/* mm_plan_routes_by is mm_plan_routes with what mm_plan_shares says of the host's T0. */
size_t mm_plan_routes_by(const struct mf_topology *t, const struct mm_plan_cfg *cfg, uint32_t host,
			 const bool *live, const uint8_t *shares, struct mm_route_of *out,
			 size_t max);

/* What a host's probes come to. */
struct mm_plan_load {
	uint64_t interval_ns; /* as asked for, or longer where that would be too many bits */
	uint64_t probes_s;
	uint64_t bit_s;
};

/* mm_plan_load_of returns the load of so many routes. */
struct mm_plan_load mm_plan_load_of(const struct mm_plan_cfg *cfg, size_t routes);

/* uSIDs of the longest route. */
#define MM_ROUTE_USIDS MM_ROUTE_LINKS

/*
 * mm_route_usids writes the uSIDs that lead a packet over the links from `first` on until they end
 * or come to a host, and returns how many; *plane is whose block they stand behind. A route with a
 * peer has two such runs: there, and from links 2 on back.
 */
uint32_t mm_route_usids(const struct mf_topology *t, const struct mm_route_of *route,
			uint32_t first, uint16_t usids[MM_ROUTE_USIDS], uint32_t *plane);

#endif
