/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve_request.h - what a kit asks the program beside the target for, as a line:
 *
 *	qp gid ADDR qpn N psn N [mtu N] [timeout N] [peer_psn N]
 *	write BYTES [IMM]
 *	recv N
 *	completion MS
 *	received MS
 *	memory OFFSET BYTES
 *
 * Needs nothing but the system, as serve.c does.
 */
#ifndef SOFTMRC_CONFORM_SERVE_REQUEST_H
#define SOFTMRC_CONFORM_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFORM_MEMORY_BYTES (1u << 20)
#define CONFORM_SHOWN_MAX 4096u /* bytes of memory in an answer */
#define CONFORM_DEPTH 64u	/* WQEs of a queue */
#define CONFORM_WAIT_MAX_MS 10000u
#define CONFORM_LINE_MAX 512u
#define CONFORM_WHY_MAX 160u

enum conform_verb {
	CONFORM_QP,
	CONFORM_WRITE,
	CONFORM_RECV,
	CONFORM_COMPLETION,
	CONFORM_RECEIVED,
	CONFORM_MEMORY,
	CONFORM_VERBS
};

/* The kit's side of a QP. */
struct conform_wish {
	uint8_t gid[16];
	uint32_t qpn, psn, mtu, timeout, peer_psn;
};

struct conform_request {
	enum conform_verb verb;
	struct conform_wish wish; /* of CONFORM_QP */
	uint32_t number[2];	  /* of the others, in the order of the line */
	unsigned n_numbers;
};

/*
 * conform_wish_read reads "gid ADDR qpn N psn N ...", in any order.
 * Returns 0, or -1 with a message, of printable characters, in why.
 */
int conform_wish_read(const char *words, struct conform_wish *wish, char why[CONFORM_WHY_MAX]);

/*
 * conform_request_read reads a line of a kit, without its end. Whoever can connect may have sent
 * it.
 * Returns 0, or -1 with a message, of printable characters, in why.
 */
int conform_request_read(const char *line, struct conform_request *request,
			 char why[CONFORM_WHY_MAX]);

#endif
