/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_exchange.h - what two processes tell each other beside MRC, over a TCP connection or a socket
 * pair between parent and child. Functions block, and print what went wrong on stderr.
 */
#ifndef EXAMPLES_COMMON_TCP_EXCHANGE_H
#define EXAMPLES_COMMON_TCP_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#define MEET_PORT 18185u

/* meet_server waits for one caller on a TCP port; meet_client calls, for up to 10 s. fd, or -1. */
int meet_server(const char *program, uint16_t port);
int meet_client(const char *program, const char *host, uint16_t port);

/* meet_swap gives the peer `size` bytes and takes as many; size at most 4096. 0 or -1. */
int meet_swap(const char *program, int fd, const void *mine, void *theirs, size_t size);

/* meet_barrier returns when both have called it. 0 or -1. */
int meet_barrier(const char *program, int fd);

#endif
