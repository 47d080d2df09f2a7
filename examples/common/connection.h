/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * connection.h - what every MRC program needs before it can send: memory, and an endpoint that is
 * connected to a peer. Functions print what went wrong on stderr.
 */
#ifndef EXAMPLES_COMMON_CONNECTION_H
#define EXAMPLES_COMMON_CONNECTION_H

#include <mrc/endpoint.h>

#include <stddef.h>
#include <stdint.h>

struct connection {
	const char *program;
	struct mrc_endpoint ep; /* whose CQ is of sends and receives, and has a channel */
	void *memory;		/* `bytes` of it, zeroed, page aligned */
	size_t bytes;
	uint64_t peer_address; /* of the peer's memory */
	uint32_t peer_rkey;
};

/* connection_open makes everything up to a QP in INIT. 0, or -1; then connection_close is still to
 * be called. */
int connection_open(struct connection *r, const char *program, size_t bytes, uint32_t sends,
		    uint32_t receives);

/* connection_connect takes the QP to RTS, with the peer at the other end of fd. 0 or -1. */
int connection_connect(struct connection *r, int fd);

/*
 * connection_post_write posts a signaled WRITE of so many bytes, at most those of the connection,
 * from the begin of this memory to that of the peer's. 0, or -1.
 */
int connection_post_write(struct connection *r, size_t bytes);

/* connection_poll takes what the CQ has. Returns how many completions, all successful, or -1. */
int connection_poll(struct connection *r);

/* connection_wait sleeps until the CQ has completions and takes at most n. Returns how many, or
 * -1. */
int connection_wait(struct connection *r, struct ibv_wc *wc, int n);

/* connection_check_wc returns 0 for a successful completion, -1 after a message for another. */
int connection_check_wc(const struct connection *r, const struct ibv_wc *wc);

void connection_close(struct connection *r);

#endif
