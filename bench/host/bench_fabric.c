/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric.c - two hosts with three switches between them, each a network namespace, that forward by
 * SRv6: a T0, a T1 and a T0, as on the longest path of two tiers. Packets go to lists of uSIDs.
 */
#include "host/bench_host.h"

#include <stdio.h>
#include <string.h>

/* Host 0, T0, T1, T0, host 1; cable i joins node i to node i + 1. */
#define NODES 5u
#define CABLES (NODES - 1)
#define HOST_B (NODES - 1)
#define COMMAND 512u

static const char *const usid[NODES] = {"1000", "a000", "b000", "a001", "1001"};

static bool run_on(uint32_t node, const char *command, char why[HB_WHY])
{
	if (hb_node_run(node, command))
		return true;
	snprintf(why, HB_WHY, "ip(8) could not do on node %u: %.100s", node, command);
	return false;
}

/* One end of cable i: its address, and the other's for ever. */
static bool end_up(uint32_t node, uint32_t i, uint32_t end, char why[HB_WHY])
{
	char command[COMMAND];

	snprintf(command, sizeof(command),
		 "ip link set c%u addrgenmode none up && ip address add fe80::%u/64 dev c%u nodad "
		 "&& ip neighbour replace fe80::%u lladdr 02:00:00:00:%02x:%02x dev c%u nud "
		 "permanent",
		 i, end + 1, i, 2 - end, i, 2 - end, i);
	return run_on(node, command, why);
}

/* An MTU that holds a packet of 4096 bytes in IPv6 in IPv6. */
static bool make_cable(uint32_t i, char why[HB_WHY])
{
	char command[COMMAND];

	snprintf(command, sizeof(command),
		 "ip link add c%u mtu 4400 address 02:00:00:00:%02x:01 type veth peer name c%u mtu "
		 "4400 address 02:00:00:00:%02x:02 netns %d",
		 i, i, i, i, hb_node_pid(i + 1));
	return run_on(i, command, why) && end_up(i, i, 0, why) && end_up(i + 1, i, 1, why);
}

/* A switch knows its own uSID and its neighbours'. */
static bool switch_routes(uint32_t node, char why[HB_WHY])
{
	char command[COMMAND];

	snprintf(command, sizeof(command),
		 "echo 1 >/proc/sys/net/ipv6/conf/all/forwarding && "
		 "ip -6 route add fcbb:bb00:%s::/48 encap seg6local action End flavors next-csid "
		 "lblen 32 nflen 16 dev c%u && "
		 "ip -6 route add fcbb:bb00:%s::/48 via fe80::1 dev c%u && "
		 "ip -6 route add fcbb:bb00:%s::/48 via fe80::2 dev c%u",
		 usid[node], node, usid[node - 1], node - 1, usid[node + 1], node);
	return run_on(node, command, why);
}

static bool host_routes(uint32_t node, char why[HB_WHY])
{
	uint32_t side = node == HOST_B, end = side ? CABLES - 1 : 0;
	char command[COMMAND];

	snprintf(command, sizeof(command),
		 "ip link set lo up && ip address add %s/128 dev lo nodad && "
		 "ip -6 route add fcbb:bb00::/32 via fe80::%u dev c%u && "
		 "ip -6 route add local fcbb:bb00:%s::/48 dev lo",
		 hb_space_address(HB_FABRIC, (int)side, true), side ? 1 : 2, end, usid[node]);
	return run_on(node, command, why);
}

bool hb_fabric_build(char why[HB_WHY])
{
	for (uint32_t i = 0; i < CABLES; i++)
		if (!make_cable(i, why))
			return false;
	for (uint32_t node = 0; node < NODES; node++)
		if (!(node == 0 || node == HOST_B ? host_routes(node, why)
						  : switch_routes(node, why)))
			return false;
	return true;
}

const char *hb_fabric_carrier(int side)
{
	return side ? "fcbb:bb00:a001:b000:a000:1000::" : "fcbb:bb00:a000:b000:a001:1001::";
}

void hb_fabric_environment(int side, void (*set)(const char *name, const char *value))
{
	set("MRC_PORTS", hb_space_interface(HB_FABRIC, side));
	set("MRC_SRV6_GID", hb_space_address(HB_FABRIC, side, true));
	set("MRC_SRV6_UPLINKS", "8");
	set("MRC_SRV6_ROWS", side ? "fd77::1/64 = fcbbbb00 a001 b000 a000 1000+host:4"
				  : "fd77::1/64 = fcbbbb00 a000 b000 a001 1000+host:4");
}
