/* SPDX-License-Identifier: BSD-2-Clause */
/* link.h - how the kit's packets reach the target, and what it asks of the program there. */
#ifndef SOFTMRC_CONFORM_LINK_H
#define SOFTMRC_CONFORM_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conform/packet.h"

/* Source ports that the kit sends from: its EVs. */
#define CF_EVS 8u

/* Packets and time: sockets and the clock, or a model of both. */
struct cf_link {
	void *context;
	uint16_t ev[CF_EVS];
	uint8_t ours[16], theirs[16]; /* addresses */
	uint16_t our_port, their_port;
	uint32_t first_qpn; /* of those that lead to our_port */
	/* Sends a packet. Returns 0, ECONNREFUSED where nobody listens, or another errno value. */
	int (*send)(void *context, const struct cf_frame *f);
	/* Waits for a packet until a moment. Returns 1, 0 for none, or -1 with errno. */
	int (*receive)(void *context, uint64_t until_ns, struct cf_frame *f);
	uint64_t (*now_ns)(void *context);
};

/* What a QP of the target has to be, and what it became. */
struct cf_qp_wish {
	uint8_t gid[16]; /* of the kit */
	uint32_t qpn, psn, mtu, timeout;
	uint32_t peer_psn; /* the target's first PSN; UINT32_MAX: its choice */
};

struct cf_qp {
	uint8_t gid[16];
	uint32_t scope; /* of a link-local gid: the index of the interface; 0: not known */
	uint32_t qpn, psn, rkey, mtu;
	uint64_t va, length;
	uint32_t next_psn, next_msn, next_rqmsn; /* of the kit's packets; not 0 when it was used */
};

#define CF_SAY_MAX 160u
#define CF_CASE_NAME_MAX 64u /* of what is said of a case's name, with the words around it */

/*
 * The program beside the target's QP. Each call returns 0 or, with a reason in why, 1: it refuses,
 * or -1: it cannot be asked any more.
 */
struct cf_server {
	void *context;
	int (*make_qp)(void *context, const struct cf_qp_wish *wish, struct cf_qp *qp,
		       char why[CF_SAY_MAX]);
	int (*post_write)(void *context, uint32_t bytes, bool has_imm, uint32_t imm,
			  char why[CF_SAY_MAX]);
	int (*post_recv)(void *context, uint32_t n, char why[CF_SAY_MAX]);
	/* *status: 0 success, 1 error, 2 none came. */
	int (*completion)(void *context, uint32_t wait_ms, int *status, char why[CF_SAY_MAX]);
	/* *status as above; *imm is that of a receive. */
	int (*received)(void *context, uint32_t wait_ms, int *status, uint32_t *imm,
			char why[CF_SAY_MAX]);
	/* Bytes of the target's memory; len is at most CF_MEMORY_MAX. */
	int (*memory)(void *context, uint64_t offset, uint32_t len, uint8_t *bytes,
		      char why[CF_SAY_MAX]);
};

#define CF_MEMORY_MAX 4096u

#endif
