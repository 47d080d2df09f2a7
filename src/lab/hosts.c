/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings of programs on hosts: see hosts.h. */
#include "lab/hosts.h"
#include "base/quantity.h"
#include "fabric/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX 1024

char *ml_host_address(const struct ml_lab *lab, uint32_t host, char *out)
{
	uint8_t bytes[MF_ADDRESS_BYTES];

	mf_address_of_host(ml_lab_topology(lab), host, bytes);
	inet_ntop(AF_INET6, bytes, out, INET6_ADDRSTRLEN);
	return out;
}

/* One address on all planes: ADDRESS%e0,ADDRESS%e1,... */
static void list_ports(const struct ml_lab *lab, uint32_t host, char *out, size_t size)
{
	char address[INET6_ADDRSTRLEN];
	size_t len = 0;

	ml_host_address(lab, host, address);
	for (uint32_t plane = 0; plane < ml_lab_topology(lab)->cfg.planes && len < size; plane++)
		len += (size_t)snprintf(out + len, size - len, "%s%s%%e%u", plane ? "," : "",
					address, plane);
}

int ml_host_environment(const struct ml_lab *lab, uint32_t node, struct ml_error *e)
{
	const struct mf_topology *t = ml_lab_topology(lab);
	char ports[LIST_MAX], address[INET6_ADDRSTRLEN], number[16], pace[MB_QUANTITY_MAX];
	char name[MF_NODE_NAME_BYTES];
	int failed;

	mf_node_name(t, node, name);
	failed = setenv("MRC_LAB", ml_lab_name(lab), 1) || setenv("MRC_LAB_NODE", name, 1);
	if (node < t->n_hosts) {
		list_ports(lab, node, ports, sizeof(ports));
		snprintf(number, sizeof(number), "%u", node);
		failed = failed || setenv("MRC_LAB_HOST", number, 1) ||
			 setenv("MRC_LAB_ADDRESS", ml_host_address(lab, node, address), 1) ||
			 setenv("MRC_PORTS", ports, 0) || setenv("MRC_PORT_PREFIX", "0", 0);
		if (ml_lab_pace(lab))
			failed =
				failed || setenv("MRC_PACE",
						 mb_quantity_write_rate(pace, ml_lab_pace(lab)), 0);
	}
	return failed ? ml_error_set(e, "no memory for the environment") : 0;
}
