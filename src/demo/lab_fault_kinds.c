/* SPDX-License-Identifier: BSD-2-Clause */
/* lab_kinds.c - the faults of the demo in the lab: what happens to switches, cables and NIC
 * ports. */
#include "demo/lab_stage.h"

#include <stdarg.h>
#include <stdio.h>

/* A packet crosses three switches, each of which does it. */
#define SHARE_PPM 3000u
#define FLAP_DOWN_MS 250u
#define FLAP_UP_MS 300u

__attribute__((format(printf, 4, 5))) static void add_lab_fault(struct demo_fault *f,
								enum mf_fault_kind kind,
								uint64_t value, const char *format,
								...)
{
	struct mf_fault *fault = &f->lab.fault[f->lab.n++];
	va_list args;

	fault->kind = kind;
	fault->way = MF_DIRECTION_BOTH;
	fault->value = value;
	va_start(args, format);
	vsnprintf(fault->target, sizeof(fault->target), format, args);
	va_end(args);
}

static void set_slower(struct demo_fault *f, uint32_t num, uint32_t den)
{
	f->slower_num = num;
	f->slower_den = den;
}

static void describe_t1(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t t1 = shape->paths - 1;

	add_lab_fault(f, MF_FAULT_STALL, 0, "plane0.t1-%u", t1);
	f->certain = true;
	f->signs = DEMO_SIGN_LOST | DEMO_SIGN_RETIRED;
	demo_fault_set_title(f, "T1 %u of plane 0 forwards nothing, its links stay up", t1);
	demo_fault_set_brief(f, "T1 dead, plane 0");
	set_slower(f, 1, 1);
}

static void describe_reboot(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t plane = 1 % shape->planes;

	snprintf(f->lab.off, sizeof(f->lab.off), "plane%u.t1-0", plane);
	f->certain = true;
	f->signs = DEMO_SIGN_RETIRED;
	demo_fault_set_title(f, "T1 0 of plane %u reboots", plane);
	demo_fault_set_brief(f, "T1 reboots");
	set_slower(f, 1, 1);
}

static void describe_plane(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t plane = 1 % shape->planes;

	add_lab_fault(f, MF_FAULT_STALL, 0, "plane%u", plane);
	f->certain = true;
	f->signs = DEMO_SIGN_LOST | DEMO_SIGN_RETIRED;
	demo_fault_set_title(f, "every switch of plane %u forwards nothing", plane);
	demo_fault_set_brief(f, "plane %u lost", plane);
	set_slower(f, shape->planes, shape->planes - 1);
}

static void describe_loss(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t plane = 2 % shape->planes;

	add_lab_fault(f, MF_FAULT_LOSS, SHARE_PPM, "plane%u", plane);
	f->signs = DEMO_SIGN_LOST | DEMO_SIGN_RETIRED;
	demo_fault_set_title(f, "every switch of plane %u loses 0.3 %% of all packets", plane);
	demo_fault_set_brief(f, "0.3 %% loss/hop, %u", plane);
}

/* Four neighbouring ports of a T0: half a second on, half a second off. */
static void describe_flap(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t plane = 3 % shape->planes;

	add_lab_fault(f, MF_FAULT_DOWN, 0, "plane%u.t0-0.transceiver0", plane);
	f->signs = DEMO_SIGN_RETIRED;
	f->flap_down_ms = FLAP_DOWN_MS;
	f->flap_up_ms = FLAP_UP_MS;
	demo_fault_set_title(f, "a transceiver of T0 0, plane %u, flaps: 4 links", plane);
	demo_fault_set_brief(f, "T0 optics flap");
}

static void describe_port(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t host = demo_lab_host(shape, shape->ranks / 2);

	add_lab_fault(f, MF_FAULT_DOWN, 0, "host%u.e0", host);
	f->signs = 0;
	demo_fault_set_title(f, "NIC port 0 of host %u down, and restored", host);
	demo_fault_set_brief(f, "NIC port %u.0 down", host);
	set_slower(f, shape->planes, shape->planes - 1);
}

static void describe_corrupt(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t plane = 3 % shape->planes;

	add_lab_fault(f, MF_FAULT_CORRUPT, SHARE_PPM, "plane%u", plane);
	f->signs = DEMO_SIGN_LOST | DEMO_SIGN_ICRC | DEMO_SIGN_RETIRED;
	demo_fault_set_title(f, "every switch of plane %u flips bits in 0.3 %% of all packets",
			     plane);
	demo_fault_set_brief(f, "0.3 %% bits/hop, %u", plane);
}

static void describe_ports(struct demo_fault *f, const struct demo_shape *shape)
{
	uint32_t host = demo_lab_host(shape, 1);

	add_lab_fault(f, MF_FAULT_BLACKHOLE, 0, "host%u.e1", host);
	add_lab_fault(f, MF_FAULT_BLACKHOLE, 0, "host%u.e2", host);
	f->certain = true;
	f->signs = DEMO_SIGN_LOST | DEMO_SIGN_RETIRED;
	demo_fault_set_title(f, "cables 1 and 2 of host %u drop all packets in both directions",
			     host);
	demo_fault_set_brief(f, "ports %u.1+2 dead", host);
	set_slower(f, shape->planes, shape->planes - 2);
}

static void describe_incast(struct demo_fault *f, const struct demo_shape *shape)
{
	/* Slow links make an incast of little traffic: the machine has other things to do. */
	for (uint32_t p = 0; p < shape->planes; p++)
		add_lab_fault(f, MF_FAULT_SLOW, DEMO_INCAST_LINK * shape->pace_bps, "host%u.e%u",
			      demo_lab_spare_host(shape), p);
	f->lab.incast = true;
	f->signs = DEMO_SIGN_QUEUES;
	demo_fault_set_title(f, "%u hosts of the job write to one other host at once",
			     demo_lab_incast(shape));
	demo_fault_set_brief(f, "%u:1 incast", demo_lab_incast(shape));
	set_slower(f, 1, 1);
}

static const struct demo_kind kinds[] = {
	{"t1", "a T1 silently forwards nothing, its links stay up", 1, 2, describe_t1, false},
	{"reboot", "a T1 reboots", 1, 2, describe_reboot, false},
	{"plane", "a whole plane forwards nothing", 2, 1, describe_plane, false},
	{"loss", "0.3 % random loss at every switch of a plane", 1, 1, describe_loss, false},
	{"flap", "a T0's transceiver flaps continuously: four links", 2, 1, describe_flap, false},
	{"port", "one NIC port of one host goes down and comes back", 2, 1, describe_port, false},
	{"corrupt", "bits are flipped in 0.3 % of packets at every switch of a plane", 1, 1,
	 describe_corrupt, true},
	{"ports", "two NIC ports of one host are silently dead, in both directions", 3, 1,
	 describe_ports, false},
	{"incast", "hosts of the job write to one other host at once", 1, 1, describe_incast, true},
};

const struct demo_kinds demo_lab_kinds = {kinds, sizeof(kinds) / sizeof(kinds[0])};
