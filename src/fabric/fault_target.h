/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault_target.h - what faults happen to: the parts of a fabric by name.
 *
 *	host3                      a host, all its NIC ports
 *	host3.plane0               one NIC port and its cable
 *	plane0                     every switch of a plane
 *	plane0.t0-1                a switch
 *	plane0.t0-1.t1-0           a cable, named from one of its ends
 *	plane0.t0-1.host3          the same for one that leads to a host
 *	plane0.t0-1.transceiver0   four neighbouring ports of a switch, 0 to 3
 *
 * A cable may also be named by its port, plane0.t0-1.u0 and host3.e0, as in node_names.h. A port
 * is known by the directed link that it sends on (fabric_link.h).
 */
#ifndef SOFTMRC_FABRIC_FAULT_TARGET_H
#define SOFTMRC_FABRIC_FAULT_TARGET_H

#include "fabric/node_names.h"

/* Ports that one optical module serves: 800G as 8 x 100G is two such, 4 x 200G one. */
#define MF_TRANSCEIVER_PORTS 4u

enum mf_target_kind {
	MF_TARGET_HOST,
	MF_TARGET_SWITCH,
	MF_TARGET_PLANE,
	MF_TARGET_CABLE,
	MF_TARGET_TRANSCEIVER,
};

/* What a name means: a set of ports. mf_target_link returns them one by one. */
struct mf_target {
	enum mf_target_kind kind;
	uint32_t node;	/* whose ports: of a cable the end named first; of a plane unused */
	uint32_t port;	/* the first of them */
	uint32_t plane; /* of a plane */
	uint32_t links; /* how many ports */
};

/* mf_cable_name names the cable of a link from the end that sends on it. */
char *mf_cable_name(const struct mf_topology *t, uint32_t link, char out[MF_LINK_NAME_BYTES]);

/*
 * mf_target_find reads a name. False: there is no such part; *error has the name as value and says
 * which names are near it, or in a large fabric which numbers there are. Allocates nothing.
 */
bool mf_target_find(const struct mf_topology *t, const char *name, struct mf_target *target,
		    struct mf_error *error);

/*
 * mf_target_link returns the link that port i of a target sends on, i from 0 to links - 1. A plane
 * has the ports of its switches, not those of hosts.
 */
uint32_t mf_target_link(const struct mf_topology *t, const struct mf_target *target, uint32_t i);

#endif
