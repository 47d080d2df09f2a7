/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.h - what users call the parts of a lab, and what a name means.
 *
 *	host3                      a host, all its NIC ports
 *	host3.plane0               one NIC port and its cable
 *	plane0                     every switch of a plane
 *	plane0.t0-1                a switch
 *	plane0.t0-1.t1-0           a cable, named from one of its ends
 *	plane0.t0-1.host3          the same for one that leads to a host
 *	plane0.t0-1.transceiver0   four neighbouring ports of a switch, 0 to 3
 *
 * A cable may also be named by its port, plane0.t0-1.u0 and host3.e0, as in fabric/names.h. A port
 * is known by the directed link that it sends on (fabric/link.h).
 */
#ifndef SOFTMRC_LAB_LAB_NAMES_H
#define SOFTMRC_LAB_LAB_NAMES_H

#include "fabric/node_names.h"
#include "lab/lab_error.h"

#include <stdbool.h>
#include <stddef.h>

#define ML_NAME_MAX 48u
/* Ports that one optical module serves: 800G as 8 x 100G is two such, 4 x 200G one. */
#define ML_TRANSCEIVER_PORTS 4u

/* ml_name_cable names the cable of a link from the end that sends on it; out[ML_NAME_MAX]. */
char *ml_name_cable(const struct mf_topology *t, uint32_t link, char *out);

enum ml_target_kind {
	ML_TARGET_HOST,
	ML_TARGET_SWITCH,
	ML_TARGET_PLANE,
	ML_TARGET_CABLE,
	ML_TARGET_TRANSCEIVER,
};

/* What a name means: a set of ports, each by the link that it sends on. */
struct ml_target {
	enum ml_target_kind kind;
	uint32_t node; /* of a host, switch, cable (the end named first), transceiver */
	uint32_t links;
	uint32_t *link; /* owned: of `node` (of a plane: of all its switches) */
};

/*
 * ml_target_find reads a name. 0; -1 with a sentence that lists names near it. ml_target_fini
 * frees.
 */
int ml_target_find(const struct mf_topology *t, const char *name, struct ml_target *target,
		   struct ml_error *e);
void ml_target_fini(struct ml_target *target);

/* ml_node_find is the same for nodes only, *node is its number. */
int ml_node_find(const struct mf_topology *t, const char *name, uint32_t *node, struct ml_error *e);

#endif
