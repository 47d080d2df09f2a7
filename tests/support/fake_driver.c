/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fake_driver.c - two ports joined in memory. Each end has a queue of frame copies that wait to be
 * received; a blocked end keeps what it is told to send in its own backlog.
 */
#include "support/fake_driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/list.h"
#include "io/backlog.h"

struct fake_port {
	struct mio_port port;
	struct mio_status status;
	struct mio_addr remote;
	struct fake_port *peer;	    /* NULL once it is closed */
	struct mio_delayq *backlog; /* to send when no longer blocked */
	struct mio_delayq *arrived; /* as the sender gave them */
	/* What the last rx_burst handed out. */
	uint8_t lent[MIO_BURST_MAX][MIO_FRAME_MAX];
};

static struct fake_port *fake_of(struct mio_port *port)
{
	return mb_container_of(port, struct fake_port, port);
}

static void fake_deliver(struct fake_port *f, const struct mio_tx *frame)
{
	if (!f->peer) {
		f->status.tx_refused++;
		f->status.last_refusal = ECONNREFUSED;
		return;
	}
	f->status.tx_frames++;
	f->status.tx_bytes += frame->len;
	if (!mio_delayq_put(f->peer->arrived, frame, 0))
		f->peer->status.rx_overruns++;
}

static void fake_tx_burst(struct mio_port *port, uint64_t now_ns, const struct mio_tx *frames,
			  uint32_t n)
{
	struct fake_port *f = fake_of(port);

	mb_assert(n <= MIO_BURST_MAX);
	for (uint32_t i = 0; i < n; i++) {
		if (!f->status.blocked)
			fake_deliver(f, &frames[i]);
		else if (mio_delayq_put(f->backlog, &frames[i], now_ns))
			f->status.tx_backlogged++;
		else
			f->status.tx_refused++;
	}
}

static uint32_t fake_rx_burst(struct mio_port *port, uint64_t now_ns, struct mio_rx *frames,
			      uint32_t n)
{
	struct fake_port *f = fake_of(port);
	uint32_t got = 0;

	for (; got < n && mio_delayq_count(f->arrived) > 0; got++) {
		const struct mio_tx *frame = mio_delayq_first(f->arrived);

		memcpy(f->lent[got], frame->iov[0].iov_base, frame->len);
		frames[got] = (struct mio_rx){
			.bytes = f->lent[got],
			.len = frame->len,
			.src.udp_port = frame->sport,
			.flow_label = frame->flow_label,
			.tos = frame->tos,
			.time_ns = now_ns,
		};
		memcpy(frames[got].src.ip, f->remote.ip, sizeof(f->remote.ip));
		f->status.rx_frames++;
		f->status.rx_bytes += frame->len;
		mio_delayq_pop(f->arrived);
	}
	f->status.rx_more = mio_delayq_count(f->arrived) > 0;
	return got;
}

static uint64_t fake_deadline(const struct mio_port *port)
{
	const struct fake_port *f = mb_container_of(port, const struct fake_port, port);

	return f->status.blocked ? MIO_NEVER : mio_delayq_deadline(f->backlog);
}

static void fake_tick(struct mio_port *port, uint64_t now_ns)
{
	struct fake_port *f = fake_of(port);

	while (!f->status.blocked && mio_delayq_deadline(f->backlog) <= now_ns) {
		fake_deliver(f, mio_delayq_first(f->backlog));
		mio_delayq_pop(f->backlog);
	}
}

static void fake_close(struct mio_port *port)
{
	struct fake_port *f = fake_of(port);

	if (f->peer)
		f->peer->peer = NULL;
	mio_delayq_destroy(f->backlog);
	mio_delayq_destroy(f->arrived);
	free(f);
}

/* It has no descriptors. */
static void fake_close_inherited(struct mio_port *port)
{
	(void)port;
}

static const struct mio_port_ops fake_ops = {
	.tx_burst = fake_tx_burst,
	.rx_burst = fake_rx_burst,
	.deadline = fake_deadline,
	.tick = fake_tick,
	.close = fake_close,
	.close_inherited = fake_close_inherited,
};

static struct fake_port *fake_create(const struct mio_addr *remote)
{
	struct fake_port *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->backlog = mio_delayq_create(FAKE_DRIVER_QUEUE);
	f->arrived = mio_delayq_create(FAKE_DRIVER_QUEUE);
	f->port = (struct mio_port){&fake_ops, &f->status, 1};
	f->status.fd = -1;
	f->remote = *remote;
	if (f->backlog && f->arrived)
		return f;
	fake_close(&f->port);
	return NULL;
}

int fake_driver_open(const struct mio_addr *a, const struct mio_addr *b, struct mio_port *ends[2])
{
	struct fake_port *x = fake_create(b);
	struct fake_port *y = fake_create(a);

	if (!x || !y) {
		if (x)
			fake_close(&x->port);
		if (y)
			fake_close(&y->port);
		return ENOMEM;
	}
	x->peer = y;
	y->peer = x;
	ends[0] = &x->port;
	ends[1] = &y->port;
	return 0;
}

void fake_driver_block(struct mio_port *port, bool blocked)
{
	fake_of(port)->status.blocked = blocked;
}
