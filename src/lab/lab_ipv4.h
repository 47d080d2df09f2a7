/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_ipv4.h - the IPv4 addresses of a lab's hosts, for programs that know no other.
 *
 * MRC does not use them. Many programs agree on a connection over TCP before they use verbs, and
 * some of them only over IPv4. So what stands in the hosts' own IPv6 addresses stands in an IPv4
 * address too, and every plain route has one for IPv4 beside it, over the same next hops:
 *
 *	10 . pod . T0 in the pod . host of the T0, from 1
 */
#ifndef SOFTMRC_LAB_LAB_IPV4_H
#define SOFTMRC_LAB_LAB_IPV4_H

#include "fabric/routes.h"

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
