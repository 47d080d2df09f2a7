/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host_config.h - the configuration file of a host's software NIC, docs/configuration.md, for a
 * host of the fabric: its ports, the round trip of the empty fabric, its address, and the rows of
 * destinations with the path to each.
 *
 * Rows are few whatever the fabric's size, for what differs among destinations is copied from their
 * addresses: one for the hosts of the same T0, one for those of the pod, and with three tiers one
 * for all.
 */
#ifndef SOFTMRC_FABRIC_HOST_CONFIG_H
#define SOFTMRC_FABRIC_HOST_CONFIG_H

#include <stddef.h>

#include "fabric/topology.h"

/* The wire form, which is the driver of the host's ports. */
enum mf_host_form {
	MF_HOST_RAW41, /* IPv6 in IPv6; needs CAP_NET_RAW */
	MF_HOST_UDP,   /* UDP to the carrier; needs no rights */
};

struct mf_host_options {
	enum mf_host_form form;
	uint64_t pace_bps;  /* of each port; 0: the rate of the links of hosts */
	const char *ifname; /* before the number of the plane; NULL: "e" */
	/* What the slowest queue of a switch takes to drain when it is full; 0: not known. The
	 * reorder window may grow above it, since a packet that waits there is not lost. */
	uint64_t queue_ns;
};

/*
 * mf_host_config_write writes the file of a host and returns its length, as snprintf does: what
 * does not fit in size is left out, and out may be NULL with size 0. About 600 bytes.
 */
size_t mf_host_config_write(const struct mf_topology *t, uint32_t host,
			    const struct mf_host_options *options, char *out, size_t size);

#endif
