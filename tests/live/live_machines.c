/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_machines.c - two network namespaces with two cables between them, like two machines with two
 * NICs each: every way to say which ports there are, and links that go down in the middle of it.
 */
#include "live/live.h"

#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "support/netns.h"
#include "support/test.h"

#define BYTES (2u << 20)
#define PIECE (128u << 10)
#define PIECES (BYTES / PIECE)

static int machines_setup(void **state)
{
	const char *why = NULL;

	(void)state;
	if (!test_netns(&why))
		test_skip(why);
	return 0;
}

#define MACHINES_TEST(name) TEST_WITH(machines_setup, NULL, live_machines, name)

#define machines_ip(...)                                     \
	do {                                                 \
		char text_[120];                             \
		snprintf(text_, sizeof(text_), __VA_ARGS__); \
		test_ip(text_);                              \
	} while (0)

/* ---- cabling ---- */

static pid_t machines_peer; /* whose namespace the other ends are in */

/* machines_plug joins e<i> of both sides; only host 1 can, host 2 waits. */
static void machines_plug(struct live_side *s, uint32_t host, uint32_t i)
{
	if (host == 1)
		machines_ip("link add e%u type veth peer name e%u netns %d", i, i,
			    (int)machines_peer);
	live_barrier(s);
	machines_ip("link set e%u up", i);
}

/* machines_enter gives each side a namespace. */
static void machines_enter(struct live_side *s)
{
	pid_t mine = getpid();

	live_check(unshare(CLONE_NEWNET) == 0);
	machines_ip("link set lo up");
	live_tell(s, &mine, sizeof(mine));
	live_hear(s, &machines_peer, sizeof(machines_peer));
}

/* machines_cable gives each side a namespace, and e0 and e1 in it, joined with the other's. */
static void machines_cable(struct live_side *s, uint32_t host)
{
	machines_enter(s);
	machines_plug(s, host, 0);
	machines_plug(s, host, 1);
}

static void enter_subnets(struct live_side *s, uint32_t host)
{
	machines_cable(s, host);
	for (uint32_t i = 0; i < 2; i++)
		machines_ip("addr add 10.9.%u.%u/24 dev e%u", i, host, i);
	live_barrier(s);
}

static void enter_subnets6(struct live_side *s, uint32_t host)
{
	machines_cable(s, host);
	for (uint32_t i = 0; i < 2; i++)
		machines_ip("addr add fd09:0:0:%u::%u/64 dev e%u nodad", i, host, i);
	live_barrier(s);
}

/* machines_route leads to the other side's one address through e<i>. */
static void machines_route(uint32_t host, uint32_t i)
{
	machines_ip("route add 10.9.0.%u/32 dev e%u metric %u src 10.9.0.%u", 3 - host, i, i + 1,
		    host);
}

static void enter_one_address(struct live_side *s, uint32_t host)
{
	machines_cable(s, host);
	machines_ip("addr add 10.9.0.%u/32 dev lo", host);
	machines_route(host, 0);
	machines_route(host, 1);
	live_barrier(s);
}

static void enter_default_route(struct live_side *s, uint32_t host)
{
	enter_subnets(s, host);
	machines_ip("route add default via 10.9.1.%u dev e1", 3 - host);
	live_barrier(s);
}

/* Both ends have addresses and are down. */
static void enter_links_down(struct live_side *s, uint32_t host)
{
	machines_enter(s);
	for (uint32_t i = 0; i < 2 && host == 1; i++)
		machines_ip("link add e%u type veth peer name e%u netns %d", i, i,
			    (int)machines_peer);
	live_barrier(s);
	for (uint32_t i = 0; i < 2; i++)
		machines_ip("addr add 10.9.%u.%u/24 dev e%u", i, host, i);
	live_barrier(s);
}

/* As a container finds its links: up for a moment. */
static void enter_fresh_links(struct live_side *s, uint32_t host)
{
	enter_links_down(s, host);
	for (uint32_t i = 0; i < 2; i++)
		machines_ip("link set e%u up", i);
}

/* ---- traffic ---- */

static void write_all(struct live_side *s)
{
	struct mh_wc wc;

	for (uint32_t i = 0; i < PIECES; i++)
		live_write(s, i, (size_t)i * PIECE, PIECE, RD_SEND_SIGNALED, 0);
	for (uint32_t i = 0; i < PIECES; i++) {
		live_wait(s, &wc, 1);
		live_expect(&wc, i, RD_WC_SUCCESS);
	}
}

static void plain_initiator(struct live_side *s)
{
	live_fill(s->buffer, BYTES, 21);
	write_all(s);
	live_barrier(s);
}

static void plain_target(struct live_side *s)
{
	live_barrier(s);
	live_check(live_compare(s->buffer, BYTES, 21));
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

/* ---- a link that goes down ---- */

static void wait_plane(struct live_side *s, uint32_t plane, bool up)
{
	struct mh_plane_attr attr = {.up = !up};

	for (int ms = 0; ms < 20000 && attr.up != up; ms++) {
		live_check(mh_device_query_plane(s->dev, plane, &attr) == 0);
		poll(NULL, 0, 1);
	}
	live_check(attr.up == up);
}

static void link_initiator(struct live_side *s)
{
	live_fill(s->buffer, BYTES, 21);
	for (uint32_t round = 0; round < 2; round++) {
		write_all(s);
		machines_ip("link set e1 down");
		write_all(s);
		wait_plane(s, 1, false);
		wait_plane(s, 0, true);
		write_all(s);
		live_barrier(s); /* the target has seen it too */
		machines_ip("link set e1 up");
		wait_plane(s, 1, true);
		live_barrier(s);
	}
	plain_initiator(s);
}

/* The cable's other end has lost its carrier, and gets it back; the kernel takes up to a second. */
static void link_target(struct live_side *s)
{
	for (uint32_t round = 0; round < 2; round++) {
		wait_plane(s, 1, false);
		live_barrier(s);
		wait_plane(s, 1, true);
		live_barrier(s);
	}
	plain_target(s);
}

MACHINES_TEST(link_that_goes_down_and_comes_back)
{
	struct live_setup setup = {.bytes = BYTES, .ports = "e0,e1", .enter = enter_subnets};

	live_run(&setup, link_initiator, link_target);
}

/* QPs give up after 0.4 s. */
static struct live_setup impatient_setup(void (*enter)(struct live_side *, uint32_t))
{
	return (struct live_setup){.bytes = BYTES,
				   .ports = "e0",
				   .enter = enter,
				   .retry_linear = 3,
				   .retry_exp = 1,
				   .extended = true};
}

/*
 * The kernel says for up to a second that a link which has just come up is not running yet. A QP's
 * retries must not run out meanwhile.
 */
MACHINES_TEST(links_that_have_just_come_up)
{
	struct live_setup setup = impatient_setup(enter_fresh_links);

	live_run(&setup, plain_initiator, plain_target);
}

/* Posted while no port is open, which is three times as long as the retries take. */
static void later_initiator(struct live_side *s)
{
	struct mh_wc wc;

	live_fill(s->buffer, BYTES, 21);
	live_write(s, 7, 0, PIECE, RD_SEND_SIGNALED, 0);
	poll(NULL, 0, 1500);
	live_check(mh_cq_poll(s->cq, 1, &wc) == 0);
	live_barrier(s);
	machines_ip("link set e0 up");
	live_wait(s, &wc, 1);
	live_expect(&wc, 7, RD_WC_SUCCESS);
	plain_initiator(s);
}

static void later_target(struct live_side *s)
{
	live_barrier(s);
	machines_ip("link set e0 up");
	plain_target(s);
}

/* REQ(req.retry.no-port) */
MACHINES_TEST(links_that_come_up_later)
{
	struct live_setup setup = impatient_setup(enter_links_down);

	live_run(&setup, later_initiator, later_target);
}

/*
 * An interface that is taken away and made again is another one: sockets bound to the old one never
 * hear of it. That the port was opened again shows when it is the only one left.
 */
static void again_replug(struct live_side *s, uint32_t host)
{
	wait_plane(s, 1, false);
	live_barrier(s);
	machines_plug(s, host, 1);
	machines_route(host, 1);
	wait_plane(s, 1, true);
	live_barrier(s);
}

static void again_initiator(struct live_side *s)
{
	live_fill(s->buffer, BYTES, 21);
	write_all(s);
	machines_ip("link del e1");
	write_all(s);
	again_replug(s, 1);
	machines_ip("link set e0 down");
	wait_plane(s, 0, false);
	plain_initiator(s);
}

static void again_target(struct live_side *s)
{
	again_replug(s, 2);
	plain_target(s);
}

MACHINES_TEST(interface_that_is_made_again)
{
	struct live_setup setup = {
		.bytes = BYTES, .ports = "10.9.0.*%e0,10.9.0.*%e1", .enter = enter_one_address};

	live_run(&setup, again_initiator, again_target);
}

/* ---- interfaces that change ---- */

/* The sockets are bound to the interface, which keeps them under any name. */
static void rename_initiator(struct live_side *s)
{
	live_fill(s->buffer, BYTES, 21);
	write_all(s);
	machines_ip("link set e1 name other1");
	machines_ip("addr add 10.9.77.1/32 dev lo"); /* more news of interfaces */
	poll(NULL, 0, 50);
	wait_plane(s, 1, true);
	machines_ip("link set e0 down");
	wait_plane(s, 0, false);
	wait_plane(s, 1, true);
	plain_initiator(s);
}

MACHINES_TEST(interface_that_gets_another_name)
{
	struct live_setup setup = {
		.bytes = BYTES, .ports = "10.9.0.*%e0,10.9.0.*%e1", .enter = enter_one_address};

	live_run(&setup, rename_initiator, plain_target);
}

/* It is the interface that is down, whatever bears its first name by then. */
static void swap_initiator(struct live_side *s)
{
	live_fill(s->buffer, BYTES, 21);
	machines_ip("link set e1 name other1");
	machines_ip("link add e1 type veth peer name spare");
	machines_ip("link set spare up");
	machines_ip("link set e1 up");
	wait_plane(s, 1, true);
	machines_ip("link set other1 down");
	wait_plane(s, 1, false);
	write_all(s);
	machines_ip("link set other1 up");
	wait_plane(s, 1, true);
	plain_initiator(s);
}

MACHINES_TEST(name_that_another_interface_gets)
{
	struct live_setup setup = {
		.bytes = BYTES, .ports = "10.9.0.*%e0,10.9.0.*%e1", .enter = enter_one_address};

	live_run(&setup, swap_initiator, plain_target);
}

static void enter_large_packets(struct live_side *s, uint32_t host)
{
	enter_subnets(s, host);
	machines_ip("link set e0 mtu 4300");
	machines_ip("link set e1 mtu 4300");
	live_barrier(s);
}

/* A port that no longer holds packets is left, and the last one is not: it may hold some. */
static void mtu_initiator(struct live_side *s)
{
	struct mh_device_attr attr;

	mh_device_query(s->dev, &attr);
	live_check(attr.max_mtu == 4096);
	live_fill(s->buffer, BYTES, 21);
	write_all(s);
	machines_ip("link set e1 mtu 1500");
	wait_plane(s, 1, false);
	write_all(s);
	wait_plane(s, 0, true);
	machines_ip("link set e0 down");
	wait_plane(s, 0, false);
	wait_plane(s, 1, true);
	machines_ip("link set e0 up");
	wait_plane(s, 0, true);
	wait_plane(s, 1, false);
	machines_ip("link set e1 mtu 4300");
	wait_plane(s, 1, true);
	plain_initiator(s);
}

MACHINES_TEST(mtu_that_shrinks_and_grows)
{
	struct live_setup setup = {.bytes = BYTES, .ports = "e0,e1", .enter = enter_large_packets};

	live_run(&setup, mtu_initiator, plain_target);
}

/* Plane by plane: that of the GID, port 0, is like the other. */
static void address_initiator(struct live_side *s)
{
	live_fill(s->buffer, BYTES, 21);
	for (uint32_t i = 0; i < 2; i++) {
		machines_ip("addr del 10.9.%u.1/24 dev e%u", i, i);
		wait_plane(s, i, false);
		wait_plane(s, 1 - i, true);
		write_all(s);
		machines_ip("addr add 10.9.%u.1/24 dev e%u", i, i);
		wait_plane(s, i, true);
		write_all(s);
	}
	machines_ip("link set e1 down");
	wait_plane(s, 1, false);
	plain_initiator(s); /* by what came back last but one, alone */
}

MACHINES_TEST(address_that_goes_and_comes_back)
{
	struct live_setup setup = {.bytes = BYTES, .ports = "e0,e1", .enter = enter_subnets};

	live_run(&setup, address_initiator, plain_target);
}

/* The address moves to another interface of the machine: the port follows it. */
static void moving_initiator(struct live_side *s)
{
	live_fill(s->buffer, BYTES, 21);
	machines_ip("link add other type veth peer name spare");
	machines_ip("link set spare up");
	machines_ip("link set other up");
	machines_ip("addr del 10.9.0.1/24 dev e0");
	wait_plane(s, 0, false);
	machines_ip("addr add 10.9.0.1/32 dev other");
	wait_plane(s, 0, true);
	machines_ip("route add 10.9.0.2/32 dev e0 src 10.9.0.1");
	write_all(s);
	machines_ip("link set e1 down");
	wait_plane(s, 1, false);
	plain_initiator(s);
}

static void moving_target(struct live_side *s)
{
	machines_ip("route add 10.9.0.1/32 dev e0 src 10.9.0.2");
	plain_target(s);
}

MACHINES_TEST(address_that_moves_to_another_interface)
{
	struct live_setup setup = {
		.bytes = BYTES, .ports = "10.9.0.*,10.9.1.*", .enter = enter_subnets};

	live_run(&setup, moving_initiator, moving_target);
}
