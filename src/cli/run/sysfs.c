/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of the device: see run.h. What is in them is what the kernel would write for RoCE. */
#include "cli/run/run.h"

#include "cli/gid_text.h"

#include <infiniband/verbs.h>

#include <endian.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CLASSES "/sys/class/"
#define PATH_BYTES 4096

static void find_interface(struct run_device *d)
{
	struct ifaddrs *all;

	if (getifaddrs(&all))
		return;
	for (const struct ifaddrs *a = all; a && !d->interface[0]; a = a->ifa_next)
		if (cli_address_is_of(a, d->gid))
			snprintf(d->interface, sizeof(d->interface), "%s", a->ifa_name);
	freeifaddrs(all);
}

/* The speed of one lane, as ibv_port_attr has it; all our ports have one. */
static double rate_gbps(const struct ibv_port_attr *port)
{
	static const struct {
		uint8_t speed;
		double gbps;
	} of[] = {{1, 2.5}, {2, 5}, {4, 10}, {8, 10}, {16, 14}, {32, 25}, {64, 50}, {128, 100}};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (of[i].speed == port->active_speed)
			return of[i].gbps;
	return 2.5;
}

static int query_device(struct ibv_device *device, struct run_device *d)
{
	struct ibv_context *context = ibv_open_device(device);
	struct ibv_port_attr port;
	union ibv_gid gid;
	int rc = -1;

	*d = (struct run_device){0};
	if (!context)
		return -1;
	if (ibv_query_gid(context, 1, 0, &gid) == 0 && ibv_query_port(context, 1, &port) == 0) {
		memcpy(d->gid, gid.raw, sizeof(d->gid));
		d->guid = be64toh(ibv_get_device_guid(device));
		d->up = port.state == IBV_PORT_ACTIVE;
		d->rate_gbps = rate_gbps(&port);
		d->n_gids = port.gid_tbl_len;
		snprintf(d->name, sizeof(d->name), "%.15s", ibv_get_device_name(device));
		snprintf(d->uverbs, sizeof(d->uverbs), "%.15s", device->dev_name);
		find_interface(d);
		rc = 0;
	}
	ibv_close_device(context);
	return rc;
}

static bool is_ours(struct ibv_device *device)
{
	return strncmp(ibv_get_device_name(device), "mrc", 3) == 0;
}

int run_device_query(struct run_device d[RUN_DEVICES_MAX])
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int n = 0;

	/* Behind them are real ones of the host, which the kernel shows. */
	for (; list && list[n] && n < RUN_DEVICES_MAX && is_ours(list[n]); n++) {
		if (query_device(list[n], &d[n])) {
			n = 0;
			break;
		}
	}
	if (list)
		ibv_free_device_list(list);
	return n;
}

/* A file and what is in it; its path is below the device's folder, or below that of its verbs. */
struct file {
	const char *path, *text;
	bool verbs;
};

static int show_files(const char *root, const struct run_device *d, const struct file *file,
		      size_t n, struct run_view_error *e)
{
	char path[PATH_BYTES];

	for (size_t i = 0; i < n; i++) {
		if (file[i].verbs)
			snprintf(path, sizeof(path), CLASSES "infiniband_verbs/%s/%s", d->uverbs,
				 file[i].path);
		else
			snprintf(path, sizeof(path), CLASSES "infiniband/%s/%s", d->name,
				 file[i].path);
		if (run_view_file(root, path, file[i].text, e))
			return -1;
	}
	return 0;
}

/* As sysfs writes a GID and a GUID: groups of four digits. */
static void put_gid_groups(char *out, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i += 2)
		out += sprintf(out, "%s%02x%02x", i ? ":" : "", bytes[i], bytes[i + 1]);
	strcpy(out, "\n");
}

/* One GID at every index of the table, as ibv_query_gid has it. */
static int show_gids(const char *root, const struct run_device *d, struct run_view_error *e)
{
	char gid_text[48], interface[20], path[3][40];
	const struct file files[] = {
		{path[0], gid_text, false},
		{path[1], "RoCE v2\n", false},
		{path[2], interface, false},
	};

	put_gid_groups(gid_text, d->gid, sizeof(d->gid));
	snprintf(interface, sizeof(interface), "%s\n", d->interface);
	for (int i = 0; i < d->n_gids; i++) {
		snprintf(path[0], sizeof(path[0]), "ports/1/gids/%d", i);
		snprintf(path[1], sizeof(path[1]), "ports/1/gid_attrs/types/%d", i);
		snprintf(path[2], sizeof(path[2]), "ports/1/gid_attrs/ndevs/%d", i);
		if (show_files(root, d, files, sizeof(files) / sizeof(files[0]), e))
			return -1;
	}
	return 0;
}

static int show_device(const char *root, const struct run_device *d, struct run_view_error *e)
{
	uint64_t guid = htobe64(d->guid);
	char guid_text[24], rate[32], name[20];
	const struct file files[] = {
		{"node_type", "1: CA\n", false},
		{"node_guid", guid_text, false},
		{"sys_image_guid", guid_text, false},
		{"node_desc", "softmrc\n", false},
		{"fw_ver", "softmrc\n", false},
		{"hca_type", "softmrc\n", false},
		{"board_id", "softmrc\n", false}, /* node_exporter 1.5 wants one */
		{"device/numa_node", "-1\n", false},
		{"device/local_cpus", "ffffffff\n", false},
		{"device/class", "0x020000\n", false},
		{"ports/1/state", d->up ? "4: ACTIVE\n" : "1: DOWN\n", false},
		{"ports/1/phys_state", d->up ? "5: LinkUp\n" : "3: Disabled\n", false},
		{"ports/1/rate", rate, false},
		{"ports/1/link_layer", "Ethernet\n", false},
		{"ports/1/lid", "0x0\n", false},
		{"ports/1/pkeys/0", "0xffff\n", false},
		{"ibdev", name, true},
		{"abi_version", "1\n", true},
	};

	put_gid_groups(guid_text, (const uint8_t *)&guid, sizeof(guid));
	snprintf(rate, sizeof(rate), "%g Gb/sec (1X)\n", d->rate_gbps);
	snprintf(name, sizeof(name), "%s\n", d->name);
	return show_files(root, d, files, sizeof(files) / sizeof(files[0]), e) ||
			       show_gids(root, d, e)
		       ? -1
		       : 0;
}

/* Folders that are there because of real devices can be added to once they are opened as well. */
static int open_folders(struct run_view_error *e)
{
	static const char *const folders[] = {"/sys/class", CLASSES "infiniband",
					      CLASSES "infiniband_verbs", "/dev",
					      "/dev/infiniband"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (access(folders[i], F_OK) == 0 && run_view_open(folders[i], e))
			return -1;
	return 0;
}

static int show_devices(const char *root, const struct run_device *d, int n,
			struct run_view_error *e)
{
	char version[PATH_BYTES];

	snprintf(version, sizeof(version), "%s" CLASSES "infiniband_verbs/abi_version", root);
	if (access(version, F_OK) && run_view_file(root, version + strlen(root), "6\n", e))
		return -1;
	for (int i = 0; i < n; i++)
		if (show_device(root, &d[i], e))
			return -1;
	return 0;
}

int run_device_mount_sysfs(const struct run_device *d, int n, struct run_view_error *e)
{
	char node[48];

	if (open_folders(e) || show_devices("", d, n, e))
		return -1;
	for (int i = 0; i < n; i++) {
		snprintf(node, sizeof(node), "/dev/infiniband/%s", d[i].uverbs);
		if (run_view_bind(node, "/dev/null", e))
			return -1;
	}
	return 0;
}

int run_device_write_sysfs(const char *root, const struct run_device *d, int n,
			   struct run_view_error *e)
{
	char node[48];

	if (run_view_copy("/sys/class", root, e) || show_devices(root, d, n, e))
		return -1;
	for (int i = 0; i < n; i++) {
		snprintf(node, sizeof(node), "/dev/infiniband/%s", d[i].uverbs);
		if (run_view_node(root, node, e))
			fprintf(stderr,
				"mrc run: %s; for UCX the container is to have /dev/null there\n",
				e->text);
	}
	return 0;
}
