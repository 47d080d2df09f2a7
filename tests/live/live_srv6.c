/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_srv6.c - both SRv6 forms over the kernel's own data plane: two hosts in namespaces of their
 * own, two planes, and between them one that switches. For each plane that one owns two uSIDs,
 * which stand for two ways through it: the EV chooses one, and each can be made a black hole.
 *
 * Transmit checksums of the hosts are not offloaded, so that a wrong one is seen as on real wires.
 */
#include "live/live.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/netns.h"
#include "support/test.h"

#define BYTES (2u << 20)
#define PIECE (128u << 10)
#define PIECES (BYTES / PIECE)
#define PLANES 2u
#define WAYS 2u
#define BAD_MS 60000u

static bool srv6_try(const char *command)
{
	return system(command) == 0;
}

#define srv6_ip(...)                                         \
	do {                                                 \
		char text_[200];                             \
		snprintf(text_, sizeof(text_), __VA_ARGS__); \
		test_ip(text_);                              \
	} while (0)

/* The same in the namespace that switches: that of the process which started this one. */
static bool srv6_try_switch(const char *arguments)
{
	char command[320];

	snprintf(command, sizeof(command),
		 "PATH=$PATH:/usr/sbin:/sbin nsenter --net=/proc/%d/ns/net ip %s", (int)getppid(),
		 arguments);
	return srv6_try(command);
}

#define srv6_switch(...)                                     \
	do {                                                 \
		char text_[200];                             \
		snprintf(text_, sizeof(text_), __VA_ARGS__); \
		live_check(srv6_try_switch(text_));          \
	} while (0)

static int srv6_setup(void **state)
{
	const char *why = NULL;

	(void)state;
	if (!test_netns(&why))
		test_skip(why);
	if (!srv6_try("PATH=$PATH:/usr/sbin:/sbin; ip link add probe type veth 2>/dev/null && "
		      "ip link set probe up && "
		      "ip -6 route add fcbb:bbff:a000::/48 encap seg6local action End "
		      "flavors next-csid lblen 32 nflen 16 dev probe 2>/dev/null")) {
		srv6_try("PATH=$PATH:/usr/sbin:/sbin ip link del probe 2>/dev/null");
		test_skip("this kernel or iproute2 has no seg6local End with next-csid");
	}
	srv6_ip("link del probe");
	test_sysctl("net/ipv6/conf/all/forwarding", "1");
	return 0;
}

#define SRV6_TEST(name) TEST_WITH(srv6_setup, NULL, live_srv6, name)

/* ---- cabling ---- */

static void srv6_no_tx_checksum(const char *ifname)
{
	struct ethtool_value off = {.cmd = ETHTOOL_STXCSUM, .data = 0};
	struct ifreq request = {.ifr_data = (void *)&off};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", ifname);
	live_check(fd >= 0 && ioctl(fd, SIOCETHTOOL, &request) == 0);
	close(fd);
}

/* srv6_plug joins e<plane> of a host with the switch; a cable of the last case may linger there. */
static void srv6_plug(uint32_t host, uint32_t plane)
{
	char old[80], ifname[8];

	snprintf(old, sizeof(old), "link del h%up%u 2>/dev/null", host, plane);
	srv6_try_switch(old);
	srv6_ip("link add e%u mtu 4400 address 02:00:00:00:%02x:%02x type veth peer name h%up%u "
		"mtu 4400 address 02:00:00:01:%02x:%02x netns %d",
		plane, plane, host, host, plane, plane, host, (int)getppid());
	snprintf(ifname, sizeof(ifname), "e%u", plane);
	srv6_no_tx_checksum(ifname);
	srv6_ip("link set e%u addrgenmode none up", plane);
	srv6_switch("link set h%up%u addrgenmode none up", host, plane);
	srv6_ip("addr add fe80::1/64 dev e%u nodad", plane);
	srv6_switch("addr add fe80::2/64 dev h%up%u nodad", host, plane);
	srv6_ip("neigh replace fe80::2 lladdr 02:00:00:01:%02x:%02x dev e%u nud permanent", plane,
		host, plane);
	srv6_switch("neigh replace fe80::1 lladdr 02:00:00:00:%02x:%02x dev h%up%u nud permanent",
		    plane, host, host, plane);
}

/* srv6_routes: the host's way out and its own uSID; the switch's way to it, and its ways
 * through. */
static void srv6_routes(uint32_t host, uint32_t plane)
{
	srv6_ip("-6 route add fcbb:bb%02x::/32 via fe80::2 dev e%u", plane, plane);
	srv6_ip("-6 route add local fcbb:bb%02x:100%u::/48 dev lo", plane, host - 1);
	srv6_switch("-6 route add fcbb:bb%02x:100%u::/48 via fe80::1 dev h%up%u", plane, host - 1,
		    host, plane);
	for (uint32_t way = 0; way < WAYS && host == 1; way++)
		srv6_switch("-6 route add fcbb:bb%02x:a00%u::/48 encap seg6local action End "
			    "flavors next-csid lblen 32 nflen 16 dev h1p%u",
			    plane, way, plane);
}

static void srv6_enter(struct live_side *s, uint32_t host)
{
	live_check(unshare(CLONE_NEWNET) == 0);
	srv6_ip("link set lo up");
	srv6_ip("addr add fd4d:5243::%u/128 dev lo nodad", host);
	for (uint32_t plane = 0; plane < PLANES; plane++) {
		srv6_plug(host, plane);
		srv6_routes(host, plane);
	}
	live_barrier(s);
}

/* srv6_blackhole makes a path through a plane a blackhole, or ends that. */
static void srv6_blackhole(uint32_t plane, uint32_t path, bool on)
{
	srv6_switch("-6 route %s blackhole fcbb:bb%02x:a00%u::/48 metric 1", on ? "add" : "del",
		    plane, path);
}

/* ---- traffic ---- */

/* write_until writes on until a counter has reached `want`. */
static void write_until(struct live_side *s, const char *counter, uint64_t want)
{
	uint32_t rounds = 0;

	while (live_counter(s, counter) < want) {
		live_write_pieces(s, PIECES, PIECE);
		live_wait_counter(s, counter, want, 20);
		live_check(++rounds < BAD_MS / 20);
	}
}

static void plain_initiator(struct live_side *s)
{
	struct mh_device_attr attr;

	mh_device_query(s->dev, &attr);
	live_check(attr.planes == PLANES && attr.evs == PLANES * WAYS && attr.max_mtu == 4096);
	live_fill(s->buffer, BYTES, 21);
	live_write_pieces(s, PIECES, PIECE);
	live_barrier(s);
}

static void compare_target(struct live_side *s)
{
	live_barrier(s);
	live_check(live_compare(s->buffer, BYTES, 21));
	live_check(live_counter(s, "drop_icrc") == 0);
}

/* EVs left because this machine was busy come back, the one that leads nowhere does not. */
static void write_until_one_is_left(struct live_side *s)
{
	uint32_t rounds = 0;

	do {
		live_write_pieces(s, PIECES, PIECE);
		poll(NULL, 0, 20);
		live_check(++rounds < BAD_MS / 20);
	} while (live_counter(s, "evs_retired") != live_counter(s, "evs_revived") + 1);
}

/* One path through plane 0 is a blackhole: its EV is left, here and for what comes back. */
static void way_initiator(struct live_side *s)
{
	live_fill(s->buffer, BYTES, 21);
	live_write_pieces(s, PIECES, PIECE);
	srv6_blackhole(0, 1, true);
	write_until(s, "evs_retired", 1);
	write_until_one_is_left(s);
	srv6_blackhole(0, 1, false);
	write_until(s, "evs_revived", live_counter(s, "evs_retired"));
	plain_initiator(s);
}

/* All of plane 1 does: both of its EVs go, and come back. */
static void plane_initiator(struct live_side *s)
{
	live_fill(s->buffer, BYTES, 21);
	live_write_pieces(s, PIECES, PIECE);
	for (uint32_t way = 0; way < WAYS; way++)
		srv6_blackhole(1, way, true);
	write_until(s, "evs_retired", WAYS);
	live_write_pieces(s, PIECES, PIECE);
	for (uint32_t way = 0; way < WAYS; way++)
		srv6_blackhole(1, way, false);
	write_until(s, "evs_revived", live_counter(s, "evs_retired"));
	plain_initiator(s);
}

static void srv6_wait_plane(struct live_side *s, uint32_t plane, bool up)
{
	struct mh_plane_attr attr = {.up = !up};

	for (uint32_t ms = 0; ms < BAD_MS && attr.up != up; ms++) {
		live_check(mh_device_query_plane(s->dev, plane, &attr) == 0);
		poll(NULL, 0, 1);
	}
	live_check(attr.up == up);
}

/* Ports are named by their interfaces and have no address of their own: the sockets keep them. */
static void rename_initiator(struct live_side *s)
{
	live_fill(s->buffer, BYTES, 21);
	live_write_pieces(s, PIECES, PIECE);
	srv6_ip("link set e1 name other1");
	/* Both are looked at again: plane 1 would be seen as down where plane 0 is. */
	srv6_ip("link set e0 down");
	srv6_wait_plane(s, 0, false);
	srv6_wait_plane(s, 1, true);
	plain_initiator(s); /* by plane 1 alone */
}

static void srv6_run(const char *driver, void (*initiator)(struct live_side *))
{
	struct live_setup setup = {
		.bytes = BYTES,
		.driver = driver,
		.ports = "e0,e1",
		.gid = "fd4d:5243::*",
		.rows = "fd4d:5243::1/64 = fcbbbb00+plane a000+uplink:1 1000+host:4",
		.uplinks = "2",
		.enter = srv6_enter,
	};

	live_run(&setup, initiator, compare_target);
}

/* REQ(wire.carrier.srv6) REQ(srv6.decapsulate) REQ(wire.icrc.inner) REQ(wire.ev.srv6-echo) */
SRV6_TEST(writes_ipv6_in_ipv6)
{
	srv6_run("raw41", plain_initiator);
}

SRV6_TEST(interface_of_ipv6_in_ipv6_that_gets_another_name)
{
	srv6_run("raw41", rename_initiator);
}

SRV6_TEST(interface_of_udp_that_gets_another_name)
{
	srv6_run("udp", rename_initiator);
}

/* REQ(wire.carrier.srv6-direct) */
SRV6_TEST(writes_udp_to_carriers)
{
	srv6_run("udp", plain_initiator);
}

SRV6_TEST(way_that_swallows_ipv6_in_ipv6)
{
	srv6_run("raw41", way_initiator);
}

SRV6_TEST(way_that_swallows_udp)
{
	srv6_run("udp", way_initiator);
}

SRV6_TEST(plane_that_swallows_ipv6_in_ipv6)
{
	srv6_run("raw41", plane_initiator);
}

SRV6_TEST(plane_that_swallows_udp)
{
	srv6_run("udp", plane_initiator);
}
