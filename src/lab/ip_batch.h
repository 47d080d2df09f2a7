/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ip_batch.h - what a lab gives to ip(8) and tc(8): lists for -batch, made from the topology alone.
 *
 * Every line may be repeated without harm (`replace` instead of `add`), so what was lost with a
 * port that was down or a switch that was deleted is restored by repeating it.
 */
#ifndef SOFTMRC_LAB_IP_BATCH_H
#define SOFTMRC_LAB_IP_BATCH_H

#include "fabric/routes.h"
#include "lab/lab.h"

#include <stdio.h>

/* Interface numbers are unique in a lab: this plus the link that the port sends on. */
#define ML_IFINDEX_FIRST 1000u

static inline uint32_t ml_ifindex(uint32_t link)
{
	return ML_IFINDEX_FIRST + link;
}

/* ml_ip_batch_mac writes the MAC address of the port that sends on a link. */
void ml_ip_batch_mac(FILE *to, uint32_t link);

/*
 * ml_ip_batch_cable makes the cable between the ports of two links; run it anywhere. `prefix`
 * begins the names of namespaces.
 */
void ml_ip_batch_cable(FILE *to, const struct mf_topology *t, const char *prefix, uint32_t link,
		       uint32_t peer);

/* The following are for the namespace of a node. */

/* ml_ip_batch_node sets up what is not a port: loopback, the device of SIDs, own addresses. */
void ml_ip_batch_node(FILE *to, const struct mf_topology *t, uint32_t node, const char *sid_device);
/* ml_ip_batch_port brings a port up, with its addresses and the neighbour at the other end. */
void ml_ip_batch_port(FILE *to, const struct mf_topology *t, uint32_t link, uint32_t peer);
/* Says of a link whether the port that sends on it is there. */
typedef bool ml_has_carrier_fn(const struct ml_lab *lab, uint32_t link);

/* ml_ip_batch_routes writes the node's routes, of ECMP groups the next hops that are there. */
void ml_ip_batch_routes(FILE *to, const struct mf_topology *t, uint32_t node,
			ml_has_carrier_fn *carries, const struct ml_lab *lab);
/*
 * ml_ip_batch_ipv4 writes the same for IPv4, which only a lab has: a host's address, and the plain
 * routes. Nothing where ml_ipv4_fits says no.
 */
void ml_ip_batch_ipv4(FILE *to, const struct mf_topology *t, uint32_t node,
		      ml_has_carrier_fn *carries, const struct ml_lab *lab);

/*
 * ml_ip_batch_classic_filter writes tc lines that lead from the losses and blackholes of `before`
 * (NULL: the port is new) to those of `now` by a filter of classic BPF, which needs no rights to
 * BPF. What a switch's port loses is counted as drops of its clsact.
 */
void ml_ip_batch_classic_filter(FILE *to, const char *port, bool of_host,
				const struct ml_port_state *before,
				const struct ml_port_state *now);

/*
 * ---- the IPv4 addresses of hosts, for programs that know no other ----
 *
 * MRC does not use them. Many programs agree on a connection over TCP before they use verbs, and
 * some of them only over IPv4. So a host has an IPv4 address of the same parts as its IPv6 address,
 * and every plain route has one for IPv4 with the same next hops:
 *
 * 	10 . pod . T0 in the pod . host of the T0, from 1
 */

#define ML_IPV4_TEXT 16u /* INET_ADDRSTRLEN */

/* ml_ipv4_fits says whether every host of the topology can have such an address. */
bool ml_ipv4_fits(const struct mf_topology *t);

/* ml_ipv4_of_host writes the address of a host of a topology that fits; out[ML_IPV4_TEXT]. */
char *ml_ipv4_of_host(const struct mf_topology *t, uint32_t host, char *out);

/*
 * ml_ipv4_prefix writes the prefix, "10.0.1.0/24", that is to IPv4 what that of a route of
 * MF_ROUTES_PLAIN is to IPv6; out[ML_IPV4_TEXT + 3].
 */
char *ml_ipv4_prefix(const struct mf_topology *t, const struct mf_route *r, char *out);

#endif
