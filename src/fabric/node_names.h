/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node_names.h - nodes, ports and links as words.
 *
 *	host3		a host
 *	plane0.t1-2	T1 number 2 of plane 0 (all pods counted)
 *	host3.e0	the link on which host 3 sends on plane 0: node, dot, port
 *	plane0.t0-1.u2	the link up from T0 1 to its T1 number 2
 *	plane0.t0-1.d2	the link down from T0 1 to its host number 2
 *
 * Ports: of a host e<plane>; of a switch d<number> down and u<number> up, each from 0.
 */
#ifndef SOFTMRC_FABRIC_NODE_NAMES_H
#define SOFTMRC_FABRIC_NODE_NAMES_H

#include "fabric/fabric_link.h"

/* Room for any name, its ending zero included. */
#define MF_NODE_NAME_BYTES 32u
#define MF_PORT_NAME_BYTES 16u
#define MF_LINK_NAME_BYTES 48u

/* mf_tier_name returns "host", "t0", "t1" or "t2"; a constant. */
const char *mf_tier_name(enum mf_tier tier);

/* mf_node_name writes the name of a node. */
void mf_node_name(const struct mf_topology *t, uint32_t node, char out[MF_NODE_NAME_BYTES]);

/* mf_port_name writes the name of a port of a node, without the node. */
void mf_port_name(const struct mf_topology *t, uint32_t node, uint32_t port,
		  char out[MF_PORT_NAME_BYTES]);

/* mf_link_name writes the name of a link, by the end that sends. */
void mf_link_name(const struct mf_topology *t, uint32_t link, char out[MF_LINK_NAME_BYTES]);

/*
 * mf_node_find reads the name of a node. False: there is no such node; *error has the name as value
 * and says what is wrong, with the range of numbers or the nearest kind. REQ(topo.names)
 */
bool mf_node_find(const struct mf_topology *t, const char *name, uint32_t *node,
		  struct mf_error *error);

/* mf_link_find reads the name of a link; else as mf_node_find. REQ(topo.names) */
bool mf_link_find(const struct mf_topology *t, const char *name, uint32_t *link,
		  struct mf_error *error);

#endif
