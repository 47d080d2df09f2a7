/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric_fixture.h - fabrics for tests: the presets, and a small one of three tiers. */
#ifndef FABRIC_FIXTURE_H
#define FABRIC_FIXTURE_H

#include "support/test.h"

#include "fabric/fault.h"
#include "fabric/routes.h"
#include "fabric/topology_toml.h"

static inline struct mf_topology fabric_of(const struct mf_topology_cfg *cfg)
{
	struct mf_topology t;
	struct mf_error e;

	if (!mf_topology_init(&t, cfg, &e))
		fail_msg("%s = %s: %s", e.field, e.value, e.what);
	return t;
}

/*
 * Three tiers on two planes, with counts of which none is a power of two nor like another: 3 pods
 * of 2 T0s with 5 hosts each and 3 T1s with 6 uplinks, hence 18 T2s.
 */
static inline struct mf_topology_cfg fabric_small3_cfg(void)
{
	struct mf_topology_cfg cfg = mf_preset_cfg("tiny");

	strcpy(cfg.name, "small3");
	cfg.tiers = 3;
	cfg.pods = 3;
	cfg.hosts_per_t0 = 5;
	cfg.t0s = 2;
	cfg.t1s = 3;
	cfg.t1_uplinks = 6;
	cfg.usid = (struct mf_usid_cfg){0xfcbbbb00, MF_PLANE_IN_USID, MF_DST_DOWNLINK};
	return cfg;
}

/* A preset, or "small3". */
static inline struct mf_topology fabric(const char *name)
{
	struct mf_topology_cfg cfg =
		strcmp(name, "small3") == 0 ? fabric_small3_cfg() : mf_preset_cfg(name);

	return fabric_of(&cfg);
}

static inline struct mf_target fabric_part(const struct mf_topology *t, const char *name)
{
	struct mf_target part;
	struct mf_error e;

	if (!mf_target_find(t, name, &part, &e))
		fail_msg("%s: %s", name, e.what);
	return part;
}

static inline uint32_t count_routes(const struct mf_topology *t, uint32_t node, unsigned sets)
{
	struct mf_route_iter it;
	struct mf_route r;
	uint32_t n = 0;

	for (mf_routes_begin(&it, t, node, sets); mf_routes_next(&it, &r); n++)
		;
	return n;
}

#endif
