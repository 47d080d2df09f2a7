/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_link.h - how the two ends of `mrc perf` talk beside MRC: a TCP connection that carries one
 * JSON object a line. Whatever comes in is checked; a line that is too long or no JSON ends the
 * run.
 */
#ifndef SOFTMRC_CLI_PERF_PEER_LINK_H
#define SOFTMRC_CLI_PERF_PEER_LINK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_LINK_PORT 18186u
#define PERF_LINK_LINE 16384u

struct perf_link {
	int fd; /* -1: none */
	size_t have;
	char line[PERF_LINK_LINE];
	char error[240]; /* why the last call failed */
};

/* perf_link_listen returns a socket that waits for clients, or -1 with link->error. */
int perf_link_listen(struct perf_link *link, uint16_t port);
/* perf_link_accept waits for a client. 0, or -1; with an empty error a signal came. */
int perf_link_accept(struct perf_link *link, int listener);
/* perf_link_connect connects to a server, trying for as long as `patience_ms`. 0, or -1. */
int perf_link_connect(struct perf_link *link, const char *host, uint16_t port,
		      uint32_t patience_ms);
void perf_link_close(struct perf_link *link);

/* perf_link_send sends an object and drops the reference to it. 0, or -1. */
int perf_link_send(struct perf_link *link, json_t *message);
/*
 * perf_link_receive waits for the next object, at most timeout_ms; -1 waits for ever. NULL with an
 * error; with *nothing (may be NULL) true the time was over and nothing is wrong. An object that
 * says {"error": text} is an error with that text.
 */
json_t *perf_link_receive(struct perf_link *link, int timeout_ms, bool *nothing);
/* perf_link_is_closed says, without taking anything, whether the peer has closed the connection. */
bool perf_link_is_closed(const struct perf_link *link);

#endif
