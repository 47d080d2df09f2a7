/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture.h - what passes in a script, as a capture that Wireshark and `mrc dump` read.
 *
 * The engine is 192.0.2.1, the peer 192.0.2.2, who is neither 192.0.2.3; an EV is the UDP source
 * port, a plane an interface, and the clock begins with 1970. Each packet has as its comment what a
 * script would write for it, the file what the script says at its top.
 */
#ifndef SCRIPT_CAPTURE_H
#define SCRIPT_CAPTURE_H

#include <stdio.h>

#include "packet.h"
#include "wire/dscp.h"

struct capture {
	FILE *to; /* NULL: nothing is captured */
};

struct capture_packet {
	enum direction dir;
	uint64_t now_ns;
	uint8_t other; /* last byte of the address of the other end, 2 or 3 */
	uint8_t plane;
	uint32_t ev;
	enum mw_dscp_class cls;
	bool ce;
	bool bad_icrc;
	const uint8_t *bytes; /* from the BTH on, without ICRC */
	size_t len;
	size_t cut_off;		     /* bytes that a switch took off behind them, ICRC included */
	const struct packet *packet; /* the same as fields */
};

/* capture_begin writes the head of a file of a script with so many planes; of its text, the top. */
void capture_begin(const struct capture *c, unsigned planes, const char *script);
void capture_add(const struct capture *c, const struct capture_packet *p);

#endif
