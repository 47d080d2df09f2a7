/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_link.h - a link over UDP sockets: one that hears, and one for each source port that the kit
 * sends from. No rights are needed.
 */
#ifndef SOFTMRC_CONFORM_UDP_LINK_H
#define SOFTMRC_CONFORM_UDP_LINK_H

#include <netinet/in.h>

#include "conform/link.h"

struct cf_udp_link {
	struct cf_link link;
	int family, hears, sends[CF_EVS];
	struct sockaddr_in6 to6;
	struct sockaddr_in to4;
};

/*
 * cf_udp_link_open opens the sockets towards an address and sets up l->link, whose their_port the
 * caller may change; scope is the index of the interface where the address is link-local, else 0.
 * It hears at the first UDP port from base_port on that is free at the local address `from`, or
 * with NULL at that by which the target is reached; QP numbers of the kit say which, as ours do
 * (docs/design/0003). Returns 0, or -1 with a message.
 */
int cf_udp_link_open(struct cf_udp_link *l, const uint8_t theirs[16], uint32_t scope,
		     const uint8_t *from, uint16_t base_port, char why[CF_SAY_MAX]);
void cf_udp_link_close(struct cf_udp_link *l);

#endif
