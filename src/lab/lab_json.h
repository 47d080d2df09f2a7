/* SPDX-License-Identifier: BSD-2-Clause */
/* lab_json.h - what results say of the fabric that they were found on. */
#ifndef SOFTMRC_LAB_LAB_JSON_H
#define SOFTMRC_LAB_LAB_JSON_H

#include "fabric/topology.h"

#include <jansson.h>

/* ml_topology_json returns an object with the size of a fabric: planes, tiers, hosts, hosts_per_t0,
 * t0s and t1s of a plane. NULL: no memory. */
json_t *ml_topology_json(const struct mf_topology *t);

#endif
