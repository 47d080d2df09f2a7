/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ecmp_routing.h - how switches choose among equal ways up for packets that leave it to them
 * (ECMP), and what they know of dead links.
 *
 * A switch hashes what names a flow with a seed of its own, and the hash chooses one of its uplinks
 * that lead to the destination. A link that loses its carrier stays in the choice until routing has
 * reconverged, a given time later: until then flows that hash to it are lost. Then it is left out
 * wherever it would have to be passed, also far away, and most flows of such a switch change their
 * way, since the hash is spread over fewer uplinks. A link that comes back is used again as long
 * after it came back. Routing hears of carriers only: what is dropped silently it never leaves.
 *
 * What routing knows changes between windows, at the first one that begins at the time or later,
 * and so does not depend on who asks.
 */
#ifndef SOFTMRC_SIM_KERNEL_ECMP_ROUTING_H
#define SOFTMRC_SIM_KERNEL_ECMP_ROUTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ms_fault;
struct ms_net;
struct ms_packet;
struct ms_unit;

/* News that are under way. */
struct ms_route_change {
	uint64_t at_ps;
	uint32_t link;
	bool down;
};

struct ms_routing {
	uint16_t *dead; /* by link: times that it is known to be down; NULL: no link ever was */
	uint32_t n_dead;
	struct ms_route_change *change; /* first .. n - 1 are to come, in order of time */
	size_t first, n, room;
};

void ms_routing_fini(struct ms_routing *r);
/*
 * ms_routing_add_change notes a fault that is about to happen; faults come in order of time.
 * Between windows, one thread. False: no memory.
 */
bool ms_routing_add_change(struct ms_net *net, const struct ms_fault *fault);
/* ms_routing_apply_changes brings what is known to the window that is about to be run; one
 * thread. */
void ms_routing_apply_changes(struct ms_net *net);
/*
 * ms_ecmp_uplink returns the uplink, from 0, by which a T0, or a T1 of three tiers, sends a packet
 * that has to go up. Where no way is known to be alive, all are taken for it.
 */
uint32_t ms_ecmp_uplink(const struct ms_net *net, const struct ms_unit *unit,
			const struct ms_packet *p);

#endif
