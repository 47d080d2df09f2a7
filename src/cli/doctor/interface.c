/* SPDX-License-Identifier: BSD-2-Clause */
/* Interfaces by address: see interface.h. */
#include "cli/doctor/interface.h"

#include "cli/address.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static bool has_address(const struct ifaddrs *a, const uint8_t gid[16])
{
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	if (!a->ifa_addr)
		return false;
	if (a->ifa_addr->sa_family == AF_INET && cli_address_is_ipv4(gid)) {
		memcpy(&four, a->ifa_addr, sizeof(four));
		return memcmp(&four.sin_addr, gid + 12, 4) == 0;
	}
	if (a->ifa_addr->sa_family == AF_INET6 && !cli_address_is_ipv4(gid)) {
		memcpy(&six, a->ifa_addr, sizeof(six));
		return memcmp(&six.sin6_addr, gid, 16) == 0;
	}
	return false;
}

/* All of 127.0.0.0/8 is the loopback interface's, whether it is written there or not. */
static bool is_loopback_net(const struct ifaddrs *a, const uint8_t gid[16])
{
	return (a->ifa_flags & IFF_LOOPBACK) && cli_address_is_ipv4(gid) && gid[12] == 127;
}

static int64_t mtu_of(const char *name)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {0};
	int64_t mtu = DOCTOR_UNKNOWN;

	if (fd < 0)
		return mtu;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (ioctl(fd, SIOCGIFMTU, &request) == 0)
		mtu = request.ifr_mtu;
	close(fd);
	return mtu;
}

/* The larger of what holds for all interfaces and for this one counts, as it does in the kernel. */
static int64_t conf_of(const char *root, const char *interface, const char *name)
{
	const char *who[2] = {"all", interface};
	int64_t worst = DOCTOR_UNKNOWN;

	for (size_t i = 0; i < 2; i++) {
		char path[256], text[16];
		FILE *f;

		snprintf(path, sizeof(path), "%s/proc/sys/net/ipv4/conf/%s/%s", root, who[i], name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fgets(text, sizeof(text), f) && atoi(text) > worst)
			worst = atoi(text);
		fclose(f);
	}
	return worst;
}

void doctor_interface_describe(struct doctor_port *p, const uint8_t gid[16], const char *root)
{
	struct ifaddrs *list;

	cli_address_write(p->address, gid);
	p->ipv6 = !cli_address_is_ipv4(gid);
	p->mtu = DOCTOR_UNKNOWN;
	p->rp_filter = DOCTOR_UNKNOWN;
	p->accept_local = DOCTOR_UNKNOWN;
	if (getifaddrs(&list))
		return;
	for (const struct ifaddrs *a = list; a; a = a->ifa_next) {
		if (!has_address(a, gid) && !is_loopback_net(a, gid))
			continue;
		snprintf(p->interface, sizeof(p->interface), "%s", a->ifa_name);
		p->up = (a->ifa_flags & IFF_UP) && (a->ifa_flags & IFF_RUNNING);
		p->loopback = (a->ifa_flags & IFF_LOOPBACK) != 0;
		break;
	}
	freeifaddrs(list);
	if (!p->interface[0])
		return;
	p->mtu = mtu_of(p->interface);
	p->rp_filter = conf_of(root, p->interface, "rp_filter");
	p->accept_local = conf_of(root, p->interface, "accept_local");
}

bool doctor_interface_loopback_up(void)
{
	struct ifaddrs *list;
	bool up = false;

	if (getifaddrs(&list))
		return false;
	for (const struct ifaddrs *a = list; a; a = a->ifa_next)
		up |= (a->ifa_flags & IFF_LOOPBACK) && (a->ifa_flags & IFF_UP);
	freeifaddrs(list);
	return up;
}
