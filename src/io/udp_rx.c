/* SPDX-License-Identifier: BSD-2-Clause */
/* udp_rx.c - fetches messages in bursts and cuts runs up into frames. */
#include "io/udp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "io/backlog.h"

#define RX_BATCH 32u
/* Messages that may be runs are large, and a cache does not get larger by asking for more. */
#define RX_RUN_BATCH 8u
#define RX_RUN_BYTES 65536u
#define RX_FLOW_LABEL_MASK 0xFFFFFu
#define RX_AGE_MAX_NS 1000000000
#define NS_PER_S UINT64_C(1000000000)

/* Traffic class, flow label, drops, segment size, time. */
struct rx_control {
	_Alignas(struct cmsghdr) char bytes[4 * CMSG_SPACE(sizeof(uint32_t)) +
					    CMSG_SPACE(sizeof(struct timespec))];
};

struct mio_udp_rx {
	struct mio_status *status;
	uint32_t slots;	     /* messages a call */
	uint32_t slot_bytes; /* the largest message */
	struct mmsghdr msg[RX_BATCH];
	struct iovec iov[RX_BATCH];
	union mio_udp_sa from[RX_BATCH];
	struct rx_control control[RX_BATCH];
	struct timespec wall;	/* at the last recvmmsg */
	uint32_t overflow_seen; /* the kernel's running count of drops, 32 bits */
	uint32_t got, at;	/* messages of the last recvmmsg; the one being cut up */
	uint32_t offset;	/* in that one */
	bool full;		/* the last recvmmsg got all it asked for */
	uint32_t segment;	/* size of its segments; 0: not looked at yet */
	struct mio_rx like;	/* what its frames have in common */
	uint8_t bytes[];	/* slots * slot_bytes */
};

/* How long ago a frame came, by the kernel's stamp. */
static uint64_t frame_age_ns(const struct timespec *stamp, const struct timespec *now)
{
	int64_t age = (int64_t)(now->tv_sec - stamp->tv_sec) * 1000000000 +
		      (now->tv_nsec - stamp->tv_nsec);

	/* The wall clock may have been set in between. */
	return age < 0 || age > RX_AGE_MAX_NS ? 0 : (uint64_t)age;
}

/* Takes one piece of ancillary data of the message being cut up. */
static void read_ancillary(struct mio_udp_rx *rx, const struct cmsghdr *c)
{
	const uint8_t *data = CMSG_DATA(c);
	struct mio_rx *like = &rx->like;
	struct timespec stamp;
	uint32_t number;
	uint64_t age;

	if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
		like->tos = *data;
	} else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS) {
		memcpy(&stamp, data, sizeof(stamp));
		like->stamp_ns = (uint64_t)stamp.tv_sec * NS_PER_S + (uint64_t)stamp.tv_nsec;
		age = frame_age_ns(&stamp, &rx->wall);
		like->time_ns -= age < like->time_ns ? age : like->time_ns;
	} else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
		memcpy(&number, data, sizeof(number));
		rx->status->rx_overruns += number - rx->overflow_seen;
		rx->overflow_seen = number;
	} else if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
		memcpy(&number, data, sizeof(number));
		rx->segment = number;
	} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS) {
		memcpy(&number, data, sizeof(number));
		like->tos = (uint8_t)number;
	} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == MIO_UDP_FLOWINFO) {
		memcpy(&number, data, sizeof(number));
		like->flow_label = ntohl(number) & RX_FLOW_LABEL_MASK;
	}
}

/* Looks at the next message: whose it is, and how it is cut. */
static void begin_message(struct mio_udp_rx *rx, uint64_t now_ns)
{
	struct msghdr *m = &rx->msg[rx->at].msg_hdr;

	rx->offset = 0;
	rx->segment = 0;
	rx->like = (struct mio_rx){.time_ns = now_ns};
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
		read_ancillary(rx, c);
	if (rx->segment == 0)
		rx->segment = rx->msg[rx->at].msg_len ? rx->msg[rx->at].msg_len : 1;
	mio_udp_from_sockaddr(&rx->from[rx->at], &rx->like.src);
}

static void end_message(struct mio_udp_rx *rx)
{
	rx->at++;
	rx->segment = 0;
}

/* The next frame of what was fetched; false: none is left, or this one is longer than any. */
static bool next_frame(struct mio_udp_rx *rx, uint64_t now_ns, struct mio_rx *frame)
{
	uint32_t len;
	bool cut;

	if (rx->segment == 0)
		begin_message(rx, now_ns);
	len = rx->msg[rx->at].msg_len - rx->offset;
	if (len > rx->segment)
		len = rx->segment;
	*frame = rx->like;
	frame->bytes = rx->bytes + (size_t)rx->at * rx->slot_bytes + rx->offset;
	frame->len = len;
	rx->offset += len;
	cut = rx->msg[rx->at].msg_hdr.msg_flags & MSG_TRUNC;
	if (rx->offset >= rx->msg[rx->at].msg_len)
		end_message(rx);
	if (len > MIO_FRAME_MAX || cut) {
		rx->status->rx_oversize++;
		return false;
	}
	rx->status->rx_frames++;
	rx->status->rx_bytes += len;
	return true;
}

static void recv_batch(struct mio_udp_rx *rx, uint32_t n)
{
	uint32_t want = n < rx->slots ? n : rx->slots;
	int got;

	for (uint32_t i = 0; i < want; i++) {
		rx->msg[i].msg_hdr.msg_namelen = sizeof(rx->from[i]);
		rx->msg[i].msg_hdr.msg_controllen = sizeof(rx->control[i]);
	}
	got = recvmmsg(rx->status->fd, rx->msg, want, MSG_DONTWAIT, NULL);
	if (got < 0 && mio_is_fatal(errno))
		rx->status->error = errno;
	rx->at = 0;
	rx->got = got > 0 ? (uint32_t)got : 0;
	rx->full = rx->got == want;
	if (got > 0)
		clock_gettime(CLOCK_REALTIME, &rx->wall);
}

uint32_t mio_udp_rx_burst(struct mio_udp_rx *rx, uint64_t now_ns, struct mio_rx *frames, uint32_t n)
{
	uint32_t taken = 0;

	/* The frames of the last call are the caller's until now, those left over still wait. */
	if (rx->at == rx->got)
		recv_batch(rx, n);
	while (taken < n && rx->at < rx->got)
		taken += next_frame(rx, now_ns, &frames[taken]);
	rx->status->rx_more = rx->at < rx->got || rx->full;
	return taken;
}

struct mio_udp_rx *mio_udp_rx_create(struct mio_status *status, bool runs)
{
	uint32_t slots = RX_BATCH, slot_bytes = MIO_FRAME_MAX;
	struct mio_udp_rx *rx;
	int one = 1;

	/* A kernel that does not merge hands over single datagrams, as without asking. */
	if (runs && setsockopt(status->fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one)) == 0) {
		slots = RX_RUN_BATCH;
		slot_bytes = RX_RUN_BYTES;
	}
	rx = calloc(1, sizeof(*rx) + (size_t)slots * slot_bytes);
	if (!rx)
		return NULL;
	rx->status = status;
	rx->slots = slots;
	rx->slot_bytes = slot_bytes;
	for (uint32_t i = 0; i < slots; i++) {
		struct msghdr *m = &rx->msg[i].msg_hdr;

		rx->iov[i] = (struct iovec){rx->bytes + (size_t)i * slot_bytes, slot_bytes};
		m->msg_name = &rx->from[i];
		m->msg_iov = &rx->iov[i];
		m->msg_iovlen = 1;
		m->msg_control = &rx->control[i];
	}
	return rx;
}

void mio_udp_rx_destroy(struct mio_udp_rx *rx)
{
	free(rx);
}
