/* SPDX-License-Identifier: BSD-2-Clause */
/* udp.h - the two sides of a UDP port and their sockets; private to io. */
#ifndef SOFTMRC_IO_UDP_H
#define SOFTMRC_IO_UDP_H

#include <netinet/in.h>

#include "io/drivers.h"
#include "io/io_port.h"

/* IPV6_FLOWINFO of the kernel's in6.h, which does not go together with the C library's header. */
#define MIO_UDP_FLOWINFO 11

/* A socket address of either family. */
union mio_udp_sa {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* mio_udp_sockaddr converts an address and returns the length of what it wrote. */
socklen_t mio_udp_sockaddr(const struct mio_addr *addr, union mio_udp_sa *sa);
/* mio_udp_from_sockaddr converts back. */
void mio_udp_from_sockaddr(const union mio_udp_sa *sa, struct mio_addr *addr);
/*
 * mio_udp_send_socket makes a socket that sends from local->ip and source port ev, don't-fragment,
 * on IPv6 with the flow label of each message, shared with other processes that do the same; its
 * descriptor in *fd, or an errno value.
 */
int mio_udp_send_socket(const struct mio_addr *local, const char *ifname, uint16_t ev, int *fd,
			struct mio_error *error);
/*
 * mio_udp_send_zero_checksum makes a socket send with zero checksums, mio_udp_accept_zero_checksum
 * take such packets; IPv6 only. An errno value; local is who they are, for error.
 */
int mio_udp_send_zero_checksum(int fd, const struct mio_addr *local, struct mio_error *error);
int mio_udp_accept_zero_checksum(int fd, const struct mio_addr *local, struct mio_error *error);
/* mio_udp_grow_buffer asks for `want` bytes of receive buffer and returns what was granted. */
uint32_t mio_udp_grow_buffer(int fd, uint32_t want);

/*
 * Whom the socket of an EV is connected to.
 *
 * A message to an unconnected socket names its destination, its class and on IPv6 its flow label,
 * and the kernel looks for a route each time. A socket that is connected knows all that, and a
 * message of one packet costs a tenth less (docs/performance.md). One that names its destination
 * goes as before, whatever the socket is connected to.
 *
 * So the socket is connected to where most of its messages go, found as the majority of a vote.
 * Where there is no majority it stays as it is, and a vote that turns again and again costs one
 * call for dozens of messages.
 *
 * A connected socket is told what ICMP says of its peer, as the error of the next message. A
 * process that died is said to be unreachable so; but anybody who guesses the ports can say it. It
 * is no more than a reason to send the message again without a connection.
 */
struct mio_udp_flow {
	struct mio_addr dst;
	uint32_t flow_label;
	uint8_t tos;
};

struct mio_udp_peer {
	struct mio_udp_flow usual, connected; /* connected.dst.udp_port 0: not connected */
	uint32_t votes;			      /* for usual */
	uint64_t again_ns;		      /* no connection before */
};

static inline bool mio_udp_flow_is(const struct mio_udp_flow *flow, const struct mio_tx *frame)
{
	return flow->dst.udp_port == frame->dst.udp_port && flow->tos == frame->tos &&
	       flow->flow_label == frame->flow_label &&
	       memcmp(flow->dst.ip, frame->dst.ip, sizeof(flow->dst.ip)) == 0;
}

/* mio_udp_peer_is says whether the socket is connected to where the frame goes, in its class. */
static inline bool mio_udp_peer_is(const struct mio_udp_peer *peer, const struct mio_tx *frame)
{
	return peer->connected.dst.udp_port != 0 && mio_udp_flow_is(&peer->connected, frame);
}

/* mio_udp_peer_note counts a message that went, as one vote for where its frame goes. */
void mio_udp_peer_note(struct mio_udp_peer *peer, const struct mio_tx *frame);
/*
 * mio_udp_peer_settle connects the socket if the vote says so; not while messages are made, which
 * rely on what it is connected to. A refusal changes nothing, and is asked again a second later.
 */
void mio_udp_peer_settle(struct mio_udp_peer *peer, int fd, uint64_t now_ns);
/* mio_udp_peer_leave ends the connection for a second at least; false: there is none. */
bool mio_udp_peer_leave(struct mio_udp_peer *peer, int fd, uint64_t now_ns);

/*
 * The receiving side of a UDP port: messages fetched in bursts, runs cut up again.
 *
 * Where runs are expected the kernel is asked to hand over several datagrams of one flow as one
 * message (UDP_GRO); each becomes as many frames as were merged. What does not fit into a burst
 * waits for the next call.
 */

struct mio_udp_rx;

/*
 * mio_udp_rx_create prepares to receive on the socket status->fd, which stays the caller's; runs
 * says whether merged datagrams are wanted. NULL: no memory.
 */
struct mio_udp_rx *mio_udp_rx_create(struct mio_status *status, bool runs);
void mio_udp_rx_destroy(struct mio_udp_rx *rx);
/* As the operation of a port with this name. */
uint32_t mio_udp_rx_burst(struct mio_udp_rx *rx, uint64_t now_ns, struct mio_rx *frames,
			  uint32_t n);

/*
 * The sending side of a UDP port: bursts sorted by EV, runs merged into one message.
 *
 * The frames of a burst are chained by source port, and each chain goes out in one sendmmsg on
 * that port's socket. Frames of a chain that follow each other, to one destination and of one size
 * (the last may be shorter), become one message that the kernel or the NIC cuts up again
 * (UDP_SEGMENT). Where the system does not do that, they are sent one by one.
 *
 * A frame for which a socket has no room is copied to the backlog, and so are all that follow it
 * until the backlog is empty again, so that frames of one EV stay in order.
 */

struct mio_udp_tx;

/*
 * mio_udp_runs_are_cut sends a small run from one socket of a port to the other, which is at
 * `local`, and looks at what arrives. false: something else did, so this system says that it cuts
 * up runs, and does not. true: the frames of the run did, or nothing, which may have reasons
 * enough. What a network device does it cannot see: the run does not leave the host. Waits for 10
 * ms at most; frames of others that wait at rx_fd are lost.
 */
bool mio_udp_runs_are_cut(int tx_fd, int rx_fd, const struct mio_addr *local);
/* mio_udp_tx_create opens the sending sockets; an errno value, and error says which failed. */
int mio_udp_tx_create(const struct mio_udp_cfg *cfg, struct mio_status *status,
		      struct mio_udp_tx **tx, struct mio_error *error);
void mio_udp_tx_destroy(struct mio_udp_tx *tx);
/* mio_udp_tx_close_inherited closes the sockets and frees nothing, for a forked child. */
void mio_udp_tx_close_inherited(struct mio_udp_tx *tx);
/* mio_udp_tx_fd returns the socket of the first EV. */
int mio_udp_tx_fd(const struct mio_udp_tx *tx);
/* mio_udp_tx_stop_runs has all frames go one by one from now on. */
void mio_udp_tx_stop_runs(struct mio_udp_tx *tx);
/* As the operations of a port with these names. */
void mio_udp_tx_burst(struct mio_udp_tx *tx, uint64_t now_ns, const struct mio_tx *frames,
		      uint32_t n);
uint64_t mio_udp_tx_deadline(const struct mio_udp_tx *tx);
void mio_udp_tx_tick(struct mio_udp_tx *tx, uint64_t now_ns);

#endif
