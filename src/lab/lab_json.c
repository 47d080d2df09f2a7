/* SPDX-License-Identifier: BSD-2-Clause */
/* The size of a fabric: see lab_json.h. */
#include "lab/lab_json.h"

json_t *ml_topology_json(const struct mf_topology *t)
{
	return json_pack("{sI sI sI sI sI sI}", "planes", (json_int_t)t->cfg.planes, "tiers",
			 (json_int_t)t->cfg.tiers, "hosts", (json_int_t)t->n_hosts, "hosts_per_t0",
			 (json_int_t)t->cfg.hosts_per_t0, "t0s", (json_int_t)t->n_t0s, "t1s",
			 (json_int_t)t->n_t1s);
}
