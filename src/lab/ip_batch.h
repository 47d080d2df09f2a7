/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ip_batch.h - what a lab says to ip(8) and tc(8): lists for -batch, made from the topology alone.
 *
 * Every line may be said again without harm (`replace` instead of `add`), so what has been lost,
 * with a port that was down or a switch that was deleted, is brought back by saying it again.
 */
#ifndef SOFTMRC_LAB_IP_BATCH_H
#define SOFTMRC_LAB_IP_BATCH_H

#include "fabric/routes.h"
#include "lab/lab_fault.h"

#include <stdio.h>

struct ml_lab;

/* Interface numbers are unique in a lab: this plus the link that the port sends on. */
#define ML_IFINDEX_FIRST 1000u

static inline uint32_t ml_ifindex(uint32_t link)
{
	return ML_IFINDEX_FIRST + link;
}

/* ml_ip_batch_mac writes the MAC address of the port that sends on a link. */
void ml_ip_batch_mac(FILE *to, uint32_t link);

/* ml_ip_batch_cable makes the cable between the ports of two links; run it anywhere. `prefix`
 * begins the names of namespaces. */
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
 * ml_ip_batch_ipv4 writes what goes beside that for IPv4, which is the lab's alone: a host's
 * address, and the plain routes. Nothing where ml_ipv4_fits says no.
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

#endif
