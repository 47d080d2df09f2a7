/* SPDX-License-Identifier: BSD-2-Clause */
/* Interfaces by address: see doctor.h. */
#include "cli/doctor/doctor.h"

#include "cli/gid_text.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

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

/* A setting of an interface; family is ipv4 or ipv6. */
static int64_t conf_of_one(const char *root, const char *family, const char *interface,
			   const char *name)
{
	char path[256], text[16];
	int64_t value = DOCTOR_UNKNOWN;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/sys/net/%s/conf/%s/%s", root, family, interface,
		 name);
	f = fopen(path, "re");
	if (!f)
		return value;
	if (fgets(text, sizeof(text), f))
		value = atoi(text);
	fclose(f);
	return value;
}

/* The larger of what holds for all interfaces and for this one counts, as it does in the kernel. */
static int64_t conf_of(const char *root, const char *interface, const char *name)
{
	int64_t all = conf_of_one(root, "ipv4", "all", name);
	int64_t one = conf_of_one(root, "ipv4", interface, name);

	return all > one ? all : one;
}

/* Of this one the smaller counts. */
static int64_t seg6_of(const char *root, const char *interface)
{
	int64_t all = conf_of_one(root, "ipv6", "all", "seg6_enabled");
	int64_t one = conf_of_one(root, "ipv6", interface, "seg6_enabled");

	return all < one ? all : one;
}

void doctor_interface_describe(struct doctor_port *p, const uint8_t gid[16], const char *bound,
			       const char *root)
{
	struct ifaddrs *list;

	cli_address_write(p->address, gid);
	p->ipv6 = !cli_address_is_ipv4(gid);
	p->mtu = DOCTOR_UNKNOWN;
	p->rp_filter = DOCTOR_UNKNOWN;
	p->accept_local = DOCTOR_UNKNOWN;
	p->seg6_enabled = DOCTOR_UNKNOWN;
	if (getifaddrs(&list))
		return;
	for (const struct ifaddrs *a = list; a; a = a->ifa_next) {
		if (bound[0] ? strcmp(a->ifa_name, bound) != 0
			     : !cli_address_is_of(a, gid) && !is_loopback_net(a, gid))
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
	p->seg6_enabled = seg6_of(root, p->interface);
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
