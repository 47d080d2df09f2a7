/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * backlog.c - frames that wait for room in the order of their arrival, and headers around frames.
 */
#include "io/backlog.h"

#include <errno.h>
#include <unistd.h>

#define SLOTS 256u

bool mio_is_fatal(int code)
{
	return code == EBADF || code == ENOTSOCK || code == ENODEV || code == ENXIO;
}

void mio_count_refused(struct mio_status *status, int code)
{
	status->tx_refused++;
	status->last_refusal = code;
	if (mio_is_fatal(code))
		status->error = code;
}

bool mio_backlog_init(struct mio_backlog *b, struct mio_status *status)
{
	*b = (struct mio_backlog){.held = mio_delayq_create(SLOTS), .status = status};
	return b->held;
}

void mio_backlog_fini(struct mio_backlog *b)
{
	if (b->held)
		mio_delayq_destroy(b->held);
}

void mio_backlog_put(struct mio_backlog *b, uint64_t now_ns, const struct mio_tx *frame)
{
	if (!mio_delayq_put(b->held, frame, 0)) {
		mio_count_refused(b->status, ENOBUFS);
		return;
	}
	b->status->tx_backlogged++;
	if (!b->status->blocked) {
		b->retry_ns = now_ns + MIO_BACKLOG_RETRY_NS;
		b->moved_ns = now_ns;
	}
	b->status->blocked = true;
}

static void give_up(struct mio_backlog *b)
{
	while (mio_delayq_count(b->held) > 0) {
		mio_count_refused(b->status, ENOBUFS);
		mio_delayq_pop(b->held);
	}
	b->status->blocked = false;
}

void mio_backlog_tick(struct mio_backlog *b, uint64_t now_ns,
		      bool (*send)(void *ctx, uint64_t now_ns, const struct mio_tx *frame),
		      void *ctx)
{
	if (!b->status->blocked || now_ns < b->retry_ns)
		return;
	while (mio_delayq_count(b->held) > 0) {
		if (!send(ctx, now_ns, mio_delayq_first(b->held))) {
			b->retry_ns = now_ns + MIO_BACKLOG_RETRY_NS;
			if (now_ns > b->moved_ns + MIO_BACKLOG_PATIENCE_NS)
				give_up(b);
			return;
		}
		mio_delayq_pop(b->held);
		b->moved_ns = now_ns;
	}
	b->status->blocked = false;
}

struct mw_ip_udp mio_tx_headers(const struct mio_tx *frame, const uint8_t src[16],
				const uint8_t dst[16])
{
	struct mw_ip_udp h = {
		.sport = frame->sport,
		.dport = frame->dst.udp_port,
		.flow_label = frame->flow_label,
		.len = frame->len,
		.tos = frame->tos,
	};

	memcpy(h.src, src, sizeof(h.src));
	memcpy(h.dst, dst, sizeof(h.dst));
	return h;
}

struct mio_rx mio_rx_frame(struct mio_status *status, const struct mw_ip_udp *h,
			   const uint8_t *bytes, uint64_t now_ns)
{
	struct mio_rx frame = {
		.bytes = bytes,
		.len = h->len,
		.src = {.udp_port = h->sport},
		.flow_label = h->flow_label,
		.tos = h->tos,
		.time_ns = now_ns,
	};

	memcpy(frame.src.ip, h->src, sizeof(frame.src.ip));
	status->rx_frames++;
	status->rx_bytes += frame.len;
	return frame;
}

void mio_close_fds(const int *fds, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}
