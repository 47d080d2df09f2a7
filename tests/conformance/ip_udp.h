/* SPDX-License-Identifier: BSD-2-Clause */
/* ip_udp.h - just enough IPv4, IPv6 and UDP to take the packets of the vectors apart. */
#ifndef CONFORMANCE_IP_UDP_H
#define CONFORMANCE_IP_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/icrc.h"

struct ip_udp {
	struct mw_icrc_carrier carrier;
	uint8_t dscp;
	uint8_t ecn;
	uint32_t flow_label;	/* 0 with IPv4 */
	const uint8_t *payload; /* what follows the UDP header */
	size_t payload_len;
};

/*
 * ip_udp_parse takes a packet apart: IPv4 without options or IPv6 without extension headers, around
 * UDP, all lengths agreeing with each other. Returns false for anything else. Checksums are not
 * looked at.
 */
bool ip_udp_parse(const uint8_t *bytes, size_t len, struct ip_udp *out);

/* ip_udp_checksums_hold says whether IPv4 header and UDP checksums of a parsed packet are right. */
bool ip_udp_checksums_hold(const uint8_t *bytes, size_t len);

#endif
