/* SPDX-License-Identifier: BSD-2-Clause */
#include "io/backlog.h"

#include <errno.h>

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
	if (!b->status->blocked)
		b->retry_ns = now_ns + MIO_BACKLOG_RETRY_NS;
	b->status->blocked = true;
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
			return;
		}
		mio_delayq_pop(b->held);
	}
	b->status->blocked = false;
}
