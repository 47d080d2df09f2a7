/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve.h - the program beside the target: makes QPs for the kit, posts for it and shows its
 * memory. serve.c needs mrc.h, serve_request.c and the system only, so that it can be built against
 * any libmrc.
 */
#ifndef SOFTMRC_CONFORM_SERVE_H
#define SOFTMRC_CONFORM_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#define CONFORM_PORT 18187u

struct conform_serve_options {
	const char *device; /* NULL: the first */
	uint32_t port;	    /* TCP */
	uint32_t gid_index;
	bool once; /* ends when the kit has gone */
	/* How long a kit may say nothing while the next one waits; 1 and more. */
	uint32_t silence_ms;
	/* NULL, or the QP's peer as "gid ADDR qpn N psn N": no kit connects, one QP is made. */
	const char *peer;
};

/*
 * conform_serve runs until it is ended, or as `once` says. It prints a line when it is ready.
 * Returns 0, or 1 with a message on stderr.
 */
int conform_serve(const struct conform_serve_options *options);

#endif
