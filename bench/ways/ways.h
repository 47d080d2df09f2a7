/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ways.h - ways through the kernel by which a sender of MRC's packets might go, side by side.
 *
 * A way sends bursts of 64 packets, each of headers, payload and an end, from eight source ports in
 * runs, as the software NIC does; payload is that of messages of 1 MiB. What counts is the CPU time
 * of both ends for each byte that arrived.
 */
#ifndef BENCH_WAYS_H
#define BENCH_WAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define WAY_HEADERS 32u
#define WAY_PAYLOAD 4096u
#define WAY_END 4u
#define WAY_PACKET (WAY_HEADERS + WAY_PAYLOAD + WAY_END)
#define WAY_EVS 8u
#define WAY_BURST 64u
#define WAY_RUN_MAX 15u
#define WAY_MESSAGE (1u << 20)
#define WAY_PORT 4791u
#define WAY_EV_BASE 50000u
#define WAY_INTERFACE "mrcw0"

enum way {
	WAY_PIECES,	/* UDP sockets, each piece of a packet an iovec */
	WAY_JOINED,	/* the end of a packet and the headers of the next as one iovec */
	WAY_CONNECTED,	/* likewise, and sockets that are connected: the UDP driver */
	WAY_URING,	/* as joined, a burst by one call of io_uring */
	WAY_ZEROCOPY,	/* as joined, by MSG_ZEROCOPY */
	WAY_PACKET_GSO, /* a packet socket with PACKET_VNET_HDR, a burst by one call */
	WAY_XDP,	/* AF_XDP, copy mode, packet by packet */
	WAYS,
};

/* A sender; all of it belongs to one process. */
struct sender {
	enum way way;
	uint32_t run;	 /* packets that leave as one message */
	uint32_t n_msgs; /* of a burst */
	uint8_t *memory; /* WAY_MESSAGE bytes, and a run */
	size_t at;	 /* of the next payload */
	uint8_t headers[WAY_BURST][WAY_HEADERS], ends[WAY_BURST][WAY_END + WAY_HEADERS];
	int fd[WAY_EVS]; /* of a packet or XDP socket: fd[0] */
	uint8_t peer_mac[6];
	struct iovec iov[8 * WAY_BURST];
	struct mmsghdr msg[WAY_BURST];
};

/* way_payload returns where the next payload is. */
void *way_payload(struct sender *s);
/*
 * way_fill_run puts the pieces of a run, packets first .. first + run of a burst, to iov; how many.
 */
uint32_t way_fill_run(struct sender *s, uint32_t first, struct iovec *iov);

/*
 * Opens what a way sends through, and sends a burst: bytes of payload that left, or 0. What is not
 * to be had, or refused, leaves errno.
 */
bool way_udp_open(struct sender *s);
size_t way_udp_burst(struct sender *s);
bool way_uring_open(void);
size_t way_uring_burst(struct sender *s);
bool way_packet_open(struct sender *s);
size_t way_packet_burst(struct sender *s);
bool way_xdp_open(struct sender *s);
size_t way_xdp_burst(struct sender *s);

/* The addresses of both ends. */
extern const char *const way_ip[2];

#endif
