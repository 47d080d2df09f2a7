/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * env_ports.c - which ports the device has.
 *
 * A port of the list is an address, an address with an interface, or an interface. An interface
 * stands for its address; one without an address takes that of the first port that has one, for one
 * host address may serve all planes. Ports that share an address are bound to their interfaces.
 */
#include "host/config/env.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "wire/icrc.h"
#include "wire/packet.h"

#define PORTS_LIST_MAX 1024u
#define IPV4_BITS_BEFORE 96u
#define IPV4_PREFIX 24u
#define IPV6_PREFIX 64u
#define IPV4_BYTES 20u
#define IPV6_BYTES 40u
#define UDP_BYTES 8u
#define ICRC_BYTES 4u

static const uint8_t no_address[16];

/* The first port stands for all: ports_check_addresses refuses a mixture. */
bool mh_env_is_ipv4(const struct mh_env *env)
{
	return mh_addr_is_ipv4(env->port[0].ip);
}

/* ---- one item of the list ---- */

/* ports_parse_address reads an IPv4 or IPv6 address; false: it is none. */
static bool ports_parse_address(const char *text, uint8_t ip[16])
{
	struct in_addr in;

	if (inet_pton(AF_INET, text, &in) != 1)
		return inet_pton(AF_INET6, text, ip) == 1;
	mh_addr_from_ip(ntohl(in.s_addr), ip);
	return true;
}

/* ports_is_address_unusable: 0.0.0.0/8, groups, reserved, broadcast; ::, groups, one link only. */
static bool ports_is_address_unusable(const uint8_t ip[16])
{
	if (mh_addr_is_ipv4(ip))
		return ip[12] == 0 || ip[12] >= 0xE0;
	return memcmp(ip, no_address, 16) == 0 || ip[0] == 0xFF ||
	       (ip[0] == 0xFE && (ip[1] & 0xC0) == 0x80);
}

/* ports_parse reads ADDR, ADDR%INTERFACE or INTERFACE and returns what is wrong, NULL: nothing. */
static const char *ports_parse(char *item, struct mh_env_port *port)
{
	char *ifname = strchr(item, '%');

	if (ifname)
		*ifname++ = '\0';
	if (ports_parse_address(item, port->ip)) {
		if (ports_is_address_unusable(port->ip))
			return "holds an address that no single interface can have";
	} else if (ifname) {
		return "what stands before % must be an IPv4 or IPv6 address";
	} else {
		ifname = item;
	}
	if (!ifname)
		return NULL;
	if (*ifname == '\0' || strlen(ifname) >= MH_IFNAME_MAX)
		return "must be addresses or interfaces separated by commas; an interface's name "
		       "has 1 to 15 characters";
	strcpy(port->ifname, ifname);
	if (memcmp(port->ip, no_address, 16) == 0 && mh_iface_index(ifname) == 0)
		return "names something that is neither an IPv4 or IPv6 address nor an interface "
		       "of this host (see `ip link`)";
	return NULL;
}

/* The list is copied because strsep cuts it, and the text may be the environment's. */
static const char *ports_parse_all(struct mh_env *env, const char *all)
{
	char list[PORTS_LIST_MAX];
	char *rest = list;
	char *item;

	if (strlen(all) >= sizeof(list))
		return "is longer than 1023 characters";
	strcpy(list, all);
	while ((item = strsep(&rest, ",")) != NULL) {
		const char *wrong;

		if (env->n_ports == MT_PORTS_MAX)
			return "lists more than 32 ports";
		wrong = ports_parse(item, &env->port[env->n_ports]);
		if (wrong)
			return wrong;
		env->n_ports++;
	}
	return NULL;
}

/* ---- addresses ---- */

/* Ports that share an address can be told apart by their interfaces only. */
static bool ports_is_interface_shared(const struct mh_env *env, uint32_t i)
{
	for (uint32_t k = 0; k < env->n_ports; k++)
		if (k != i && memcmp(env->port[k].ip, env->port[i].ip, 16) == 0)
			return true;
	return false;
}

/* ports_resolve_interfaces gives interfaces their addresses and unbinds those that need no
 * binding. */
static const char *ports_resolve_interfaces(struct mh_env *env)
{
	bool by_name[MT_PORTS_MAX];
	const uint8_t *host = NULL;

	for (uint32_t i = 0; i < env->n_ports; i++) {
		struct mh_env_port *port = &env->port[i];

		by_name[i] = memcmp(port->ip, no_address, 16) == 0;
		if (by_name[i] && !mh_iface_address(port->ifname, port->ip))
			memcpy(port->ip, no_address, 16);
		else if (!host)
			host = port->ip;
	}
	if (!host)
		return "names no interface that has an address (see `ip address`)";
	for (uint32_t i = 0; i < env->n_ports; i++)
		if (memcmp(env->port[i].ip, no_address, 16) == 0)
			memcpy(env->port[i].ip, host, 16);
	/* A socket bound to an interface does not hear this host itself: bind only who must. */
	for (uint32_t i = 0; i < env->n_ports; i++)
		if (by_name[i] && !ports_is_interface_shared(env, i))
			env->port[i].ifname[0] = '\0';
	return NULL;
}

/*
 * ports_default: with nothing configured the one port is the interface of the default route, whose
 * address reaches this host itself too; without a route, this host alone.
 */
static void ports_default(struct mh_env *env)
{
	char name[IF_NAMESIZE];

	env->n_ports = 1;
	if (!mh_iface_default(name) || !mh_iface_address(name, env->port[0].ip))
		mh_addr_from_ip(INADDR_LOOPBACK, env->port[0].ip);
}

/* ---- subnets ---- */

/*
 * Whole bytes by memcmp; the byte that the prefix, of less than 128 bits, cuts is compared under a
 * mask.
 */
static bool ports_is_same_host(const uint8_t a[16], const uint8_t b[16], uint32_t prefix)
{
	uint32_t byte = prefix / 8;

	if ((a[byte] ^ b[byte]) & (0xFFu >> prefix % 8))
		return false;
	return memcmp(a + byte + 1, b + byte + 1, 15 - byte) == 0;
}

static bool ports_has_one_address(const struct mh_env *env)
{
	for (uint32_t i = 1; i < env->n_ports; i++)
		if (memcmp(env->port[i].ip, env->port[0].ip, 16) != 0)
			return false;
	return true;
}

/* ports_prefix: one address for all planes needs no subnets; else the usual ones. */
static int ports_prefix(struct mh_env *env, const struct mh_settings *s, struct mh_env_error *error)
{
	bool ipv4 = mh_env_is_ipv4(env);
	uint64_t prefix = ports_has_one_address(env) ? 0 : ipv4 ? IPV4_PREFIX : IPV6_PREFIX;
	const struct mh_settings_range range = {0, ipv4 ? 31 : 127, " (bits)"};
	int err = mh_settings_number(s, MH_SET_PREFIX, &range, &prefix, error);

	env->prefix = (uint32_t)prefix + (ipv4 ? IPV4_BITS_BEFORE : 0);
	return err;
}

/*
 * ports_check_addresses: one GID names an endpoint on all planes, so the bits behind the subnet
 * must be the same on all ports; and no two ports may be one and the same.
 */
static int ports_check_addresses(const struct mh_env *env, const struct mh_settings *s,
				 struct mh_env_error *error)
{
	char why[200];

	if (env->driver == MH_DRIVER_RAW41 && mh_env_is_ipv4(env))
		return mh_settings_error(s, MH_SET_DRIVER,
					 "carries IPv6 in IPv6 and needs ports with IPv6 addresses",
					 error);
	for (uint32_t i = 1; i < env->n_ports; i++) {
		const struct mh_env_port *a = &env->port[i];

		if (mh_addr_is_ipv4(a->ip) != mh_addr_is_ipv4(env->port[0].ip))
			return mh_settings_error(s, MH_SET_PORTS, "mixes IPv4 and IPv6 addresses",
						 error);
		for (uint32_t k = 0; k < i; k++)
			if (memcmp(a->ip, env->port[k].ip, 16) == 0 &&
			    strcmp(a->ifname, env->port[k].ifname) == 0)
				return mh_settings_error(s, MH_SET_PORTS, "lists a port twice",
							 error);
		if (ports_is_same_host(a->ip, env->port[0].ip, env->prefix))
			continue;
		snprintf(why, sizeof(why),
			 "the last %u bits must be the same on all ports, for peers know this host "
			 "by them (MRC_PORT_PREFIX, ports.prefix)",
			 128 - env->prefix);
		return mh_settings_error(s, MH_SET_PORTS, why, error);
	}
	return 0;
}

/* ---- path MTU ---- */

uint32_t mh_env_mtu_of(const struct mh_env *env, uint32_t ip_mtu)
{
	uint32_t ip = mh_env_is_ipv4(env) ? IPV4_BYTES : IPV6_BYTES;
	uint32_t outer = env->driver == MH_DRIVER_RAW41 ? IPV6_BYTES : 0;
	uint32_t around = outer + ip + UDP_BYTES + MW_HEADERS_MAX + ICRC_BYTES;
	uint32_t mtu = 4096;

	while (mtu >= 256 && mtu + around > ip_mtu)
		mtu /= 2;
	return mtu >= 256 ? mtu : 0;
}

/*
 * ports_choose_mtu: packets are never fragmented, so no packet may be larger than the smallest port
 * takes. A port whose interface is not known yet is not asked; opening it will say so.
 */
static int ports_choose_mtu(struct mh_env *env, const struct mh_settings *s,
			    struct mh_env_error *error)
{
	const char *value = s->of[MH_SET_MTU].text;
	uint32_t largest = 4096, ip_mtu = 0;
	char name[IF_NAMESIZE] = "?";
	uint64_t mtu = 0;
	char why[160];

	for (uint32_t i = 0; i < env->n_ports; i++) {
		char one[IF_NAMESIZE];
		uint32_t bytes;

		snprintf(one, sizeof(one), "%s", env->port[i].ifname);
		if (one[0] == '\0' && mh_iface_with_address(env->port[i].ip, one) != 0)
			continue;
		bytes = mh_iface_mtu(one);
		if (bytes == 0 || mh_env_mtu_of(env, bytes) >= largest)
			continue;
		largest = mh_env_mtu_of(env, bytes);
		ip_mtu = bytes;
		strcpy(name, one);
	}
	if (value && (mh_settings_digits(value, &mtu) == NULL || *mh_settings_digits(value, &mtu) ||
		      mtu < 256 || mtu > 4096 || (mtu & (mtu - 1))))
		return mh_settings_error(s, MH_SET_MTU,
					 "must be 256, 512, 1024, 2048 or 4096 (bytes)", error);
	if (largest > 0 && mtu <= largest) {
		env->mtu = value ? (uint32_t)mtu : largest;
		return 0;
	}
	snprintf(why, sizeof(why), "interface %s has an MTU of %u, which holds %u at most", name,
		 ip_mtu, largest);
	return mh_settings_error(s, largest > 0 ? MH_SET_MTU : MH_SET_PORTS, why, error);
}

/* ---- SRv6 paths ---- */

/*
 * ports_srv6: with SRv6 paths a port is an interface, and the host's one address is that of all.
 * Which plane a packet belongs to is known by its interface only.
 */
static const char *ports_srv6(struct mh_env *env)
{
	if (env->n_ports > MH_SRV6_PLANES_MAX)
		return "lists more than the 16 planes that an EV can tell apart";
	for (uint32_t i = 0; i < env->n_ports; i++) {
		if (memcmp(env->port[i].ip, no_address, 16) != 0)
			return "must list interfaces only, one for each plane, with SRv6 paths "
			       "(MRC_SRV6_ROWS, srv6.rows)";
		memcpy(env->port[i].ip, env->srv6.gid, 16);
	}
	return NULL;
}

/* ---- devices ---- */

/*
 * ports_assign_to_devices leaves the ports of this device: the list, in its order, is cut into
 * equal parts. Every device is then a host of its own to its peers.
 */
static int ports_assign_to_devices(struct mh_env *env, const struct mh_settings *s,
				   struct mh_env_error *error)
{
	uint32_t each = env->n_ports / env->devices;
	char why[100];

	if (env->device >= env->devices) {
		snprintf(error->text, sizeof(error->text),
			 "there is no device mrc%u: MRC_DEVICES (ports.devices) is %u", env->device,
			 env->devices);
		return ENODEV;
	}
	if (env->devices == 1)
		return 0;
	if (mh_env_is_srv6(env))
		return mh_settings_error(s, MH_SET_DEVICES,
					 "must be 1 with SRv6 paths: they lead to one host", error);
	if (each == 0 || env->n_ports % env->devices) {
		snprintf(why, sizeof(why),
			 "must divide the number of ports (MRC_PORTS, ports.list), %u",
			 env->n_ports);
		return mh_settings_error(s, MH_SET_DEVICES, why, error);
	}
	memmove(env->port, env->port + (size_t)env->device * each, each * sizeof(env->port[0]));
	memset(env->port + each, 0, (MT_PORTS_MAX - each) * sizeof(env->port[0]));
	env->n_ports = each;
	return 0;
}

/* ports_list reads the list of all ports; returns what is wrong, NULL: nothing. */
static const char *ports_list(struct mh_env *env, const char *all)
{
	if (all)
		return ports_parse_all(env, all);
	if (mh_env_is_srv6(env))
		return "must list the interface of each plane with SRv6 paths (MRC_SRV6_ROWS, "
		       "srv6.rows)";
	ports_default(env);
	return NULL;
}

int mh_env_read_ports(struct mh_env *env, const struct mh_settings *s, struct mh_env_error *error)
{
	const char *all = s->of[MH_SET_PORTS].text;
	const char *wrong = ports_list(env, all);
	int err = wrong ? 0 : ports_assign_to_devices(env, s, error);

	if (err)
		return err;
	if (!wrong && all)
		wrong = mh_env_is_srv6(env) ? ports_srv6(env) : ports_resolve_interfaces(env);
	if (wrong)
		return mh_settings_error(s, MH_SET_PORTS, wrong, error);
	err = ports_prefix(env, s, error);
	if (!err)
		err = ports_check_addresses(env, s, error);
	return err ? err : ports_choose_mtu(env, s, error);
}
