/* SPDX-License-Identifier: BSD-2-Clause */
/* loopback_kinds.c - the faults of the demo on loopback, which port drivers do to packets. */
#include "demo/loopback_stage.h"

#define ONE_PERCENT_PPM 10000u
#define FLAP_DOWN_MS 250u
#define FLAP_UP_MS 300u

static uint64_t paths_from(uint32_t first, const struct demo_shape *shape)
{
	return ((UINT64_C(1) << shape->paths) - 1) & ~((UINT64_C(1) << first) - 1);
}

static void set_rule(struct demo_fault *f, uint32_t kind, uint32_t ppm, uint32_t plane_mask)
{
	f->rule = (struct mrc_fault_rule){
		.kind = kind,
		.port_mask = plane_mask,
		.direction = MRC_FAULT_ANY,
		.chance_ppm = ppm,
	};
	f->certain = kind == MRC_FAULT_DROP && ppm == DEMO_CERTAIN_PPM;
	/* A corrupted packet counts as destroyed only when a receiver has thrown it away. */
	f->signs = DEMO_SIGN_LOST | DEMO_SIGN_RETIRED |
		   (kind == MRC_FAULT_CORRUPT ? DEMO_SIGN_ICRC : 0);
}

static void set_paths(struct demo_fault *f, const struct demo_shape *shape, uint64_t mask)
{
	f->rule.path_modulus = shape->paths;
	f->rule.path_mask = mask;
}

static void set_slower(struct demo_fault *f, uint32_t num, uint32_t den)
{
	f->slower_num = num;
	f->slower_den = den;
}

/* Of two T1 switches of a plane, the one that carries the upper half of the paths. */
static void describe_t1(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t first = shape->paths / 2;

	set_rule(f, MRC_FAULT_DROP, DEMO_CERTAIN_PPM, 1u << 0);
	set_paths(f, shape, paths_from(first, shape));
	demo_fault_set_title(f, "a T1 switch of plane 0 forwards nothing (paths %u-%u)", first,
			     shape->paths - 1);
	demo_fault_set_brief(f, "T1 dead, plane 0");
	set_slower(f, 1, 1);
}

static void describe_plane(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t plane = 1 % shape->planes;

	set_rule(f, MRC_FAULT_DROP, DEMO_CERTAIN_PPM, 1u << plane);
	demo_fault_set_title(f, "plane %u lost, for everybody", plane);
	demo_fault_set_brief(f, "plane %u lost", plane);
	set_slower(f, shape->planes, shape->planes - 1);
}

static void describe_loss(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t plane = 2 % shape->planes;

	set_rule(f, MRC_FAULT_DROP, ONE_PERCENT_PPM, 1u << plane);
	demo_fault_set_title(f, "1 %% of all packets lost on plane %u", plane);
	demo_fault_set_brief(f, "1 %% loss, plane %u", plane);
}

static void describe_flap(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t plane = 3 % shape->planes;
	uint32_t path = 3 % shape->paths;

	set_rule(f, MRC_FAULT_DROP, DEMO_CERTAIN_PPM, 1u << plane);
	set_paths(f, shape, UINT64_C(1) << path);
	f->flap_down_ms = FLAP_DOWN_MS;
	f->flap_up_ms = FLAP_UP_MS;
	demo_fault_set_title(f, "path %u of plane %u flaps: %u ms down, %u ms up", path, plane,
			     FLAP_DOWN_MS, FLAP_UP_MS);
	demo_fault_set_brief(f, "path %u.%u flaps", plane, path);
	/* The plane keeps its rate only when another path carries the share of this one. */
	if (shape->paths > 1)
		set_slower(f, 1, 1);
}

static void set_host(struct demo_fault *f, uint32_t rank)
{
	f->rule.direction = MRC_FAULT_BOTH;
	demo_loopback_gid(f->rule.host, rank);
}

static void describe_port(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t rank = shape->ranks / 2;

	set_rule(f, MRC_FAULT_DROP, DEMO_CERTAIN_PPM, 1u << 0);
	set_host(f, rank);
	demo_fault_set_title(f, "NIC port 0 of host %u dead, in both directions", rank);
	demo_fault_set_brief(f, "NIC port %u.0 dead", rank);
	set_slower(f, shape->planes, shape->planes - 1);
}

static void describe_corrupt(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t plane = 3 % shape->planes;

	set_rule(f, MRC_FAULT_CORRUPT, ONE_PERCENT_PPM, 1u << plane);
	demo_fault_set_title(f, "a bit flipped in 1 %% of all packets on plane %u", plane);
	demo_fault_set_brief(f, "1 %% bits, plane %u", plane);
}

static void describe_ports(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t rank = 1;

	set_rule(f, MRC_FAULT_DROP, DEMO_CERTAIN_PPM, 1u << 1 | 1u << 2);
	set_host(f, rank);
	demo_fault_set_title(f, "NIC ports 1 and 2 of host %u dead, in both directions", rank);
	demo_fault_set_brief(f, "ports %u.1+2 dead", rank);
	set_slower(f, shape->planes, shape->planes - 2);
}

static const struct demo_kind kinds[] = {
	{"t1", "a switch in the middle of a plane silently forwards nothing", 1, 2, describe_t1,
	 false},
	{"plane", "a whole plane is lost and comes back", 2, 1, describe_plane, false},
	{"loss", "1 % random loss on a plane", 1, 1, describe_loss, false},
	{"flap", "one path of a plane flaps continuously", 1, 1, describe_flap, false},
	{"port", "one NIC port of one host is dead, in both directions", 2, 1, describe_port,
	 false},
	{"corrupt", "a bit is flipped in 1 % of the packets of a plane", 1, 1, describe_corrupt,
	 false},
	{"ports", "two NIC ports of one host are dead, in both directions", 3, 1, describe_ports,
	 false},
};

const struct demo_kinds demo_loopback_kinds = {kinds, sizeof(kinds) / sizeof(kinds[0])};
