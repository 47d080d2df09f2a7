/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host_ifaces.c - asks the kernel about interfaces, by getifaddrs, an ioctl and /proc/net.
 *
 * Nothing is kept: interfaces come and go while a process runs, and every answer is what is true at
 * the call. A flag or an MTU that cannot be asked for, in a sandbox for instance, does not keep a
 * port from being used.
 */
#include "host/config/env.h"

#include <errno.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

uint32_t mh_iface_index(const char *name)
{
	return if_nametoindex(name);
}

/* iface_ask makes an ioctl about an interface, with `data` if it takes any; false: it failed. */
static bool iface_ask(const char *name, unsigned long what, void *data, struct ifreq *request)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool good;

	if (fd < 0)
		return false;
	snprintf(request->ifr_name, sizeof(request->ifr_name), "%s", name);
	if (data)
		request->ifr_data = data;
	good = ioctl(fd, what, request) == 0;
	close(fd);
	return good;
}

static enum mh_iface_state down(const char *what, const char **why)
{
	*why = what;
	return MH_IFACE_DOWN;
}

/*
 * IFF_RUNNING is carrier: an interface with its cable pulled stays up for its administrator. The
 * kernel notes a carrier, and lets packets out, up to a second after the driver has reported it,
 * but at once (since 6.8) when it is asked for the link. An interface that has a carrier and is not
 * running, of an older kernel or waiting to be authenticated, often carries packets.
 */
static enum mh_iface_state iface_link(const char *name, const char **why)
{
	struct ethtool_value link = {.cmd = ETHTOOL_GLINK};
	struct ifreq request = {0};

	iface_ask(name, SIOCETHTOOL, &link, &request);
	if (!iface_ask(name, SIOCGIFFLAGS, NULL, &request))
		return MH_IFACE_UP;
	if (!(request.ifr_flags & IFF_UP))
		return down("its interface is down", why);
	if (request.ifr_flags & IFF_RUNNING)
		return MH_IFACE_UP;
	if (!link.data)
		return down("no carrier", why);
	*why = "its interface is not running yet";
	return MH_IFACE_DOUBTFUL;
}

/* iface_ip reads an address that a peer could use; false: another family, or of one link only. */
static bool iface_ip(const struct sockaddr *sa, uint8_t ip[16])
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	if (sa && sa->sa_family == AF_INET) {
		memcpy(&in, sa, sizeof(in));
		mh_addr_from_ip(ntohl(in.sin_addr.s_addr), ip);
		return true;
	}
	if (sa && sa->sa_family == AF_INET6) {
		memcpy(&in6, sa, sizeof(in6));
		memcpy(ip, &in6.sin6_addr, 16);
		return !IN6_IS_ADDR_LINKLOCAL(&in6.sin6_addr);
	}
	return false;
}

/*
 * IPv4 before IPv6, as the default route is looked for: what is found by name must be of one
 * family.
 */
bool mh_iface_address(const char *name, uint8_t ip[16])
{
	struct ifaddrs *all;
	bool found = false;

	if (getifaddrs(&all) != 0)
		return false;
	for (int family = AF_INET; !found; family = AF_INET6) {
		for (struct ifaddrs *a = all; a && !found; a = a->ifa_next)
			found = a->ifa_addr && a->ifa_addr->sa_family == family &&
				strcmp(a->ifa_name, name) == 0 && iface_ip(a->ifa_addr, ip);
		if (family == AF_INET6)
			break;
	}
	freeifaddrs(all);
	return found;
}

int mh_iface_with_address(const uint8_t ip[16], char name[IF_NAMESIZE])
{
	struct ifaddrs *all;
	bool found = false;

	if (getifaddrs(&all) != 0)
		return errno;
	for (struct ifaddrs *a = all; a && !found; a = a->ifa_next) {
		uint8_t one[16];

		found = iface_ip(a->ifa_addr, one) && memcmp(one, ip, sizeof(one)) == 0;
		if (found)
			snprintf(name, IF_NAMESIZE, "%.*s", (int)strcspn(a->ifa_name, ":"),
				 a->ifa_name); /* without the label of an alias */
	}
	freeifaddrs(all);
	/* All of 127.0.0.0/8 is this host, whatever of it is written down. */
	if (!found && memcmp(ip, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f", 13) == 0) {
		strcpy(name, "lo");
		found = true;
	}
	return found ? 0 : EADDRNOTAVAIL;
}

uint32_t mh_iface_mtu(const char *name)
{
	struct ifreq request;

	if (!iface_ask(name, SIOCGIFMTU, NULL, &request) || request.ifr_mtu < 0)
		return 0;
	return (uint32_t)request.ifr_mtu;
}

/*
 * A line of the kernel's tables of routes: true, with metric and interface, if it is one of a
 * default route that is up.
 */
typedef bool (*iface_route_fn)(const char *line, unsigned long *metric, char name[IF_NAMESIZE]);

static bool iface_route4(const char *line, unsigned long *metric, char name[IF_NAMESIZE])
{
	unsigned long to, gateway, flags, mask;

	return sscanf(line, "%15s %lx %lx %lx %*s %*s %lu %lx", name, &to, &gateway, &flags, metric,
		      &mask) == 6 &&
	       to == 0 && mask == 0 && (flags & 1);
}

/* Routes that reject are written with the interface lo. */
static bool iface_route6(const char *line, unsigned long *metric, char name[IF_NAMESIZE])
{
	unsigned long bits, flags;
	char to[33];

	return sscanf(line, "%32s %lx %*s %*s %*s %lx %*s %*s %lx %15s", to, &bits, metric, &flags,
		      name) == 5 &&
	       bits == 0 && (flags & 1) && strcmp(name, "lo") != 0;
}

/* iface_default_of returns the interface of the default route with the least metric. */
static bool iface_default_of(const char *path, iface_route_fn read_route, char name[IF_NAMESIZE])
{
	FILE *table = fopen(path, "re");
	unsigned long best = (unsigned long)-1, metric;
	char line[256], one[IF_NAMESIZE];

	while (table && fgets(line, sizeof(line), table)) {
		if (!read_route(line, &metric, one) || metric >= best)
			continue;
		best = metric;
		strcpy(name, one);
	}
	if (table)
		fclose(table);
	return best != (unsigned long)-1;
}

bool mh_iface_default(char name[IF_NAMESIZE])
{
	return iface_default_of("/proc/net/route", iface_route4, name) ||
	       iface_default_of("/proc/net/ipv6_route", iface_route6, name);
}

/* iface_bound names the interface of a port that is bound to one: by number, else by name. */
static enum mh_iface_state iface_bound(const char *wanted, uint32_t index, char name[IF_NAMESIZE],
				       const char **why)
{
	if (index && if_indextoname(index, name))
		return MH_IFACE_UP;
	if (index && errno != ENXIO)
		return MH_IFACE_UNKNOWN;
	strcpy(name, wanted);
	if (mh_iface_index(name))
		return MH_IFACE_UP;
	return errno == ENODEV ? down("its interface does not exist any more", why)
			       : MH_IFACE_UNKNOWN;
}

/*
 * A port that is not bound to an interface follows its address: where that moves to another
 * interface, the port stays up and the other one's carrier counts. One that is bound follows the
 * interface, as its sockets do, through changes of name.
 */
enum mh_iface_state mh_iface_state(const uint8_t ip[16], const char *wanted, uint32_t index,
				   char name[IF_NAMESIZE], const char **why)
{
	enum mh_iface_state state = MH_IFACE_UP;
	int err = mh_iface_with_address(ip, name);

	*why = "";
	if (err)
		strcpy(name, "?");
	if (err == EADDRNOTAVAIL)
		return down("no interface has its address any more", why);
	if (err)
		return MH_IFACE_UNKNOWN;
	if (wanted[0])
		state = iface_bound(wanted, index, name, why);
	return state != MH_IFACE_UP ? state : iface_link(name, why);
}
