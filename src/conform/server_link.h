/* SPDX-License-Identifier: BSD-2-Clause */
/* server_link.h - the kit's end of the conversation with serve.c. */
#ifndef SOFTMRC_CONFORM_SERVER_LINK_H
#define SOFTMRC_CONFORM_SERVER_LINK_H

#include <stdio.h>

#include "conform/link.h"

struct cf_server_link {
	struct cf_server server;
	FILE *in, *out;
	uint8_t ours[16]; /* our end of the connection, as a GID */
	uint32_t scope;	  /* the interface of a connection between link-local addresses, or 0 */
};

/* cf_server_link_init makes one whose streams are the caller's affair. */
void cf_server_link_init(struct cf_server_link *l);
/*
 * cf_server_link_open connects to a host, "NAME", "NAME:PORT" or "[ADDR]:PORT", and waits at most
 * ten seconds for it, as for each answer later. Returns 0, or -1 with a message.
 */
int cf_server_link_open(struct cf_server_link *l, const char *host, char why[CF_SAY_MAX]);
void cf_server_link_close(struct cf_server_link *l);

/*
 * cf_gid_read reads an IPv4 or IPv6 address, a link-local one with its interface perhaps, as in
 * fe80::1%eth0: *scope becomes that one's index, else 0. Returns 0 or -1, also where there is no
 * such interface.
 */
int cf_gid_read(const char *text, uint8_t gid[16], uint32_t *scope);

/* cf_qp_read reads "gid ADDR qpn N psn N rkey N va N length N mtu N"; 0, or -1 with a message. */
int cf_qp_read(const char *text, struct cf_qp *qp, char why[CF_SAY_MAX]);

#endif
