/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of the device: see device.h. What is in them is what the kernel would write for RoCE. */
#include "cli/run/device.h"

#include "cli/address.h"

#include <infiniband/verbs.h>

#include <arpa/inet.h>
#include <endian.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#define DEVICE "/sys/class/infiniband/mrc0"
#define VERBS "/sys/class/infiniband_verbs/uverbs0"

/* Whether an interface's address is the GID, IPv4 mapped. */
static bool is_gid(const struct sockaddr *sa, const uint8_t gid[16])
{
	if (sa->sa_family == AF_INET)
		return cli_address_is_ipv4(gid) &&
		       memcmp(&((const struct sockaddr_in *)(const void *)sa)->sin_addr, gid + 12,
			      4) == 0;
	return sa->sa_family == AF_INET6 &&
	       memcmp(&((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr, gid, 16) == 0;
}

static void find_interface(struct run_device *d)
{
	struct ifaddrs *all;

	if (getifaddrs(&all))
		return;
	for (const struct ifaddrs *a = all; a && !d->interface[0]; a = a->ifa_next)
		if (a->ifa_addr && is_gid(a->ifa_addr, d->gid))
			snprintf(d->interface, sizeof(d->interface), "%s", a->ifa_name);
	freeifaddrs(all);
}

int run_device_ask(struct run_device *d)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_port_attr port;
	union ibv_gid gid;
	int rc = -1;

	*d = (struct run_device){0};
	if (context && ibv_query_gid(context, 1, 0, &gid) == 0 &&
	    ibv_query_port(context, 1, &port) == 0) {
		memcpy(d->gid, gid.raw, sizeof(d->gid));
		d->guid = be64toh(ibv_get_device_guid(list[0]));
		d->up = port.state == IBV_PORT_ACTIVE;
		find_interface(d);
		rc = 0;
	}
	if (context)
		ibv_close_device(context);
	if (list)
		ibv_free_device_list(list);
	return rc;
}

struct file {
	const char *path, *text;
};

static int show_files(const struct file *file, size_t n, struct run_view_error *e)
{
	for (size_t i = 0; i < n; i++)
		if (run_view_file(file[i].path, file[i].text, e))
			return -1;
	return 0;
}

/* As sysfs writes a GID and a GUID: groups of four digits. */
static void groups(char *out, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i += 2)
		out += sprintf(out, "%s%02x%02x", i ? ":" : "", bytes[i], bytes[i + 1]);
	strcpy(out, "\n");
}

int run_device_show(const struct run_device *d, struct run_view_error *e)
{
	uint64_t guid = htobe64(d->guid);
	char gid_text[48], guid_text[24], interface[20];
	const struct file files[] = {
		{DEVICE "/node_type", "1: CA\n"},
		{DEVICE "/node_guid", guid_text},
		{DEVICE "/sys_image_guid", guid_text},
		{DEVICE "/node_desc", "softmrc\n"},
		{DEVICE "/fw_ver", "softmrc\n"},
		{DEVICE "/hca_type", "softmrc\n"},
		{DEVICE "/device/numa_node", "-1\n"},
		{DEVICE "/device/local_cpus", "ffffffff\n"},
		{DEVICE "/device/class", "0x020000\n"},
		{DEVICE "/ports/1/state", d->up ? "4: ACTIVE\n" : "1: DOWN\n"},
		{DEVICE "/ports/1/phys_state", d->up ? "5: LinkUp\n" : "3: Disabled\n"},
		{DEVICE "/ports/1/link_layer", "Ethernet\n"},
		{DEVICE "/ports/1/lid", "0x0\n"},
		{DEVICE "/ports/1/pkeys/0", "0xffff\n"},
		{DEVICE "/ports/1/gids/0", gid_text},
		{DEVICE "/ports/1/gid_attrs/types/0", "RoCE v2\n"},
		{DEVICE "/ports/1/gid_attrs/ndevs/0", interface},
		{VERBS "/ibdev", "mrc0\n"},
		{VERBS "/abi_version", "1\n"},
		{"/sys/class/infiniband_verbs/abi_version", "6\n"},
	};

	groups(gid_text, d->gid, sizeof(d->gid));
	groups(guid_text, (const uint8_t *)&guid, sizeof(guid));
	snprintf(interface, sizeof(interface), "%s\n", d->interface);
	if (run_view_open("/sys/class", e) || run_view_open("/dev", e))
		return -1;
	if (show_files(files, sizeof(files) / sizeof(files[0]), e))
		return -1;
	return run_view_bind("/dev/infiniband/uverbs0", "/dev/null", e);
}
