/* SPDX-License-Identifier: BSD-2-Clause */
/* udp_peer.c - connects the socket of an EV to where most of its messages go. */
#include "io/udp.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "wire/ip_udp.h"

/* A majority: so many messages more than went elsewhere. Less than it costs to connect. */
#define VOTES_TO_CONNECT 16u
/* After a refusal, or an error that a connected socket was told of. */
#define PAUSE_NS UINT64_C(1000000000)

void mio_udp_peer_note(struct mio_udp_peer *peer, const struct mio_tx *frame)
{
	if (mio_udp_flow_is(&peer->usual, frame)) {
		peer->votes += peer->votes < VOTES_TO_CONNECT;
	} else if (peer->votes > 0) {
		peer->votes--;
	} else {
		peer->usual = (struct mio_udp_flow){frame->dst, frame->flow_label, frame->tos};
		peer->votes = 1;
	}
}

static bool is_same_flow(const struct mio_udp_flow *a, const struct mio_udp_flow *b)
{
	return a->dst.udp_port == b->dst.udp_port && a->tos == b->tos &&
	       a->flow_label == b->flow_label &&
	       memcmp(a->dst.ip, b->dst.ip, sizeof(a->dst.ip)) == 0;
}

/* Connects the socket, which takes the class of its messages from it; false: it is as it was. */
static bool connect_to(int fd, const struct mio_udp_flow *flow)
{
	union mio_udp_sa sa;
	socklen_t len = mio_udp_sockaddr(&flow->dst, &sa);
	bool ipv4 = mw_is_ipv4(flow->dst.ip);
	int tos = flow->tos;

	if (!ipv4)
		sa.in6.sin6_flowinfo = htonl(flow->flow_label);
	return setsockopt(fd, ipv4 ? IPPROTO_IP : IPPROTO_IPV6, ipv4 ? IP_TOS : IPV6_TCLASS, &tos,
			  sizeof(tos)) == 0 &&
	       connect(fd, &sa.any, len) == 0;
}

void mio_udp_peer_settle(struct mio_udp_peer *peer, int fd, uint64_t now_ns)
{
	if (peer->votes < VOTES_TO_CONNECT || now_ns < peer->again_ns ||
	    is_same_flow(&peer->usual, &peer->connected))
		return;
	/* One that it may still be connected to has lost its class. */
	peer->connected = (struct mio_udp_flow){{{0}, 0}, 0, 0};
	if (connect_to(fd, &peer->usual))
		peer->connected = peer->usual;
	else
		peer->again_ns = now_ns + PAUSE_NS;
}

bool mio_udp_peer_leave(struct mio_udp_peer *peer, int fd, uint64_t now_ns)
{
	const struct sockaddr nobody = {.sa_family = AF_UNSPEC};

	if (peer->connected.dst.udp_port == 0)
		return false;
	peer->connected = (struct mio_udp_flow){{{0}, 0}, 0, 0};
	peer->again_ns = now_ns + PAUSE_NS;
	/* Should this fail the error is gone all the same, and messages name where they go. */
	(void)connect(fd, &nobody, sizeof(nobody));
	return true;
}
