/* SPDX-License-Identifier: BSD-2-Clause */
/* live_machines.c - two machines: every way to say which ports there are. */
#include "live/machines.h"

#define MACHINES_TEST(name) TEST_WITH(machines_setup, NULL, live_machines, name)

static void enter_subnets6(struct live_side *s, uint32_t host)
{
	machines_cable(s, host);
	for (uint32_t i = 0; i < 2; i++)
		machines_ip("addr add fd09:0:0:%u::%u/64 dev e%u nodad", i, host, i);
	live_barrier(s);
}

static void enter_default_route(struct live_side *s, uint32_t host)
{
	enter_subnets(s, host);
	machines_ip("route add default via 10.9.1.%u dev e1", 3 - host);
	live_barrier(s);
}

static void machines_run(const char *ports, void (*enter)(struct live_side *, uint32_t))
{
	struct live_setup setup = {.bytes = BYTES, .ports = ports, .enter = enter};

	live_run(&setup, plain_initiator, plain_target);
}

MACHINES_TEST(ports_by_address)
{
	machines_run("10.9.0.*,10.9.1.*", enter_subnets);
}

MACHINES_TEST(ports_by_interface)
{
	machines_run("e0,e1", enter_subnets);
}

MACHINES_TEST(ports_by_interface_ipv6)
{
	machines_run("e0,e1", enter_subnets6);
}

/* REQ(wire.ev.stev) */
MACHINES_TEST(evs_in_flow_labels)
{
	struct live_setup setup = {
		.bytes = BYTES, .ports = "e0,e1", .enter = enter_subnets6, .ev_format = "stev"};

	live_run(&setup, plain_initiator, plain_target);
}

/* Answers that come back by the EV of what they answer leave from a source port that is there. */
MACHINES_TEST(different_ev_bases)
{
	struct live_setup setup = {
		.bytes = BYTES, .ports = "e0,e1", .enter = enter_subnets, .own_ev_bases = true};

	live_run(&setup, plain_initiator, plain_target);
}

/*
 * One host address for both planes; each port's sockets are bound to its interface.
 * REQ(svc.all-planes)
 */
MACHINES_TEST(one_address_on_all_planes)
{
	machines_run("10.9.0.*%e0,10.9.0.*%e1", enter_one_address);
}

static void default_initiator(struct live_side *s)
{
	struct mh_device_attr attr;
	struct mh_plane_attr plane;

	mh_device_query(s->dev, &attr);
	live_check(attr.planes == 1 && attr.max_mtu == 1024); /* Ethernet's 1500 holds no more */
	live_check(mh_device_query_plane(s->dev, 0, &plane) == 0);
	live_check(plane.addr.b[14] == 1 && plane.addr.b[15] == 1); /* 10.9.1.1 */
	plain_initiator(s);
}

MACHINES_TEST(nothing_configured)
{
	struct live_setup setup = {.bytes = BYTES, .ports = "", .enter = enter_default_route};

	live_run(&setup, default_initiator, plain_target);
}
