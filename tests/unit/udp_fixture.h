/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_fixture.h - what tests of the UDP driver share: ports on loopback, frames and runs of them,
 * and a system that does as a test wants.
 *
 * sendmmsg, recvmmsg, connect and clock_gettime are wrapped by the linker (io.cmake). A test leaves
 * what it has changed here as it was.
 */
#ifndef UNIT_UDP_FIXTURE_H
#define UNIT_UDP_FIXTURE_H

#include "support/test.h"

#include <errno.h>
#include <limits.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "io/drivers.h"
#include "io/udp.h"
#include "unit/loopback.h"

#define UDP_PORT_A 34791u
#define UDP_PORT_B 34792u
#define UDP_EV_BASE 52000u
#define UDP_EVS 4u
#define UDP_RUN 8u
#define UDP_RUN_BYTES 1000u
#define SECOND_NS UINT64_C(1000000000)
#define SECONDS(n) ((n)*SECOND_NS)

/* What the system does, and what was asked of it. */
extern uint32_t udp_empty_looks;	 /* so many times nothing has arrived */
extern const struct timespec *udp_stamp; /* what the kernel says of a frame's arrival */
extern const struct timespec *udp_wall;	 /* what the wall clock shows */
extern unsigned int udp_room;		 /* so many messages pass, then the socket is full */
extern int udp_refusal;			 /* and says this */
extern bool udp_no_runs;		 /* as where no device can segment */
extern uint32_t udp_runs_tried;		 /* calls that began with a run */
extern bool udp_no_route;		 /* nothing goes */
extern bool udp_lies;			 /* takes runs, and sends each as one packet */
extern bool udp_no_connect;		 /* as where there is no route */
extern uint32_t udp_connects;		 /* tried, to somebody */
extern uint32_t udp_named;		 /* messages that named where they go */
extern uint32_t udp_pieces;		 /* iovecs of the largest message */
extern uint32_t udp_errors_to_say;	 /* of a connected socket, one a call */
/* What udp_send_runs sends. */
extern uint8_t udp_run_bytes[MIO_BURST_MAX][UDP_RUN_BYTES];

/* udp_addr returns a port of host `last` of this process's loopback. */
struct mio_addr udp_addr(uint8_t last, uint16_t port);

/* udp_open_runs_of opens a port there, that sends runs of at most so many frames. */
struct mio_port *udp_open_runs_of(uint32_t max_run, uint8_t last, uint16_t port);

static inline struct mio_port *udp_open(uint8_t last, uint16_t port)
{
	return udp_open_runs_of(1, last, port);
}

static inline struct mio_port *udp_open_runs(uint8_t last, uint16_t port)
{
	return udp_open_runs_of(UDP_RUN, last, port);
}

/* udp_frame returns a frame of this text, which iov then names, on an EV to a port. */
struct mio_tx udp_frame(struct iovec *iov, const char *text, uint32_t ev, uint8_t last,
			uint16_t port);

/* udp_receive waits up to a second for n frames. */
uint32_t udp_receive(struct mio_port *port, struct mio_rx *got, uint32_t n);

/*
 * udp_runs makes frames of two pieces, each filled with its number; every 20th is shorter, and so
 * ends a run.
 */
uint32_t udp_runs(struct mio_tx *frames, uint8_t bytes[][UDP_RUN_BYTES], struct iovec *iov);

/* udp_expect_runs takes all those frames, a few at a time, and checks that each is whole and from
 * its EV. */
void udp_expect_runs(struct mio_port *port, uint32_t a_time);

/* udp_send_runs sends them as a burst and returns how many of its calls began with a run. */
uint32_t udp_send_runs(struct mio_port *a, uint64_t now_ns);

/* udp_send_singles sends single frames from one EV, and returns how many of them named where they
 * go. */
uint32_t udp_send_singles(struct mio_port *a, uint64_t now_ns, uint8_t to, uint8_t tos, uint32_t n);

#endif
