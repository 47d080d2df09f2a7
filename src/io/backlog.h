/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * backlog.h - what drivers share: keeping frames for which the system has no room, in order, and
 * the headers around frames.
 *
 * While the backlog holds anything status->blocked is set, and every further frame must go behind
 * it, so that frames of one EV do not overtake each other. The system is asked again after a while;
 * a full buffer drains at the speed of the link, and looking sooner gains nothing. Private to io.
 */
#ifndef SOFTMRC_IO_BACKLOG_H
#define SOFTMRC_IO_BACKLOG_H

#include "io/io_port.h"
#include "wire/ip_udp.h"

/*
 * A bounded queue of frame copies, ordered by when each is due.
 *
 * Drivers that cannot or shall not send a frame now keep a copy here. All memory is taken when
 * the queue is made: slots of MIO_FRAME_MAX bytes and a binary heap of slot numbers, the earliest
 * due at its root; frames due at the same time leave in the order in which they came.
 */

struct mio_delayq;

/* mio_delayq_create makes a queue of `slots` frames, 1 .. 65536; NULL: no memory. */
struct mio_delayq *mio_delayq_create(uint32_t slots);
void mio_delayq_destroy(struct mio_delayq *hold);
/* mio_delayq_put copies the frame and returns true, or false when all slots are taken. */
bool mio_delayq_put(struct mio_delayq *hold, const struct mio_tx *frame, uint64_t due_ns);
uint32_t mio_delayq_count(const struct mio_delayq *hold);
/* mio_delayq_deadline returns when the first frame is due, MIO_NEVER for an empty queue. */
uint64_t mio_delayq_deadline(const struct mio_delayq *hold);
/*
 * mio_delayq_first returns the first frame, NULL for an empty queue. It stays valid until
 * mio_delayq_pop or mio_delayq_put.
 */
const struct mio_tx *mio_delayq_first(const struct mio_delayq *hold);
void mio_delayq_pop(struct mio_delayq *hold);

#define MIO_BACKLOG_RETRY_NS 200000u
/*
 * A queue of which nothing leaves for so long does not drain. What waits for it is given up then:
 * while it waits a QP does not count its attempts (REQ(req.retry.sent)), and would never fail.
 */
#define MIO_BACKLOG_PATIENCE_NS UINT64_C(1000000000)

struct mio_backlog {
	struct mio_delayq *held; /* in order of arrival */
	struct mio_status *status;
	uint64_t retry_ns;
	uint64_t moved_ns; /* when the last frame left, or the first one came */
};

/* mio_backlog_init takes the memory for the frames; false: there is none. */
bool mio_backlog_init(struct mio_backlog *b, struct mio_status *status);
void mio_backlog_fini(struct mio_backlog *b);

/* mio_backlog_put keeps a copy of the frame, or counts that it is lost. */
void mio_backlog_put(struct mio_backlog *b, uint64_t now_ns, const struct mio_tx *frame);
/* mio_backlog_deadline returns when mio_backlog_tick is due, MIO_NEVER when nothing is held. */
static inline uint64_t mio_backlog_deadline(const struct mio_backlog *b)
{
	return b->status->blocked ? b->retry_ns : MIO_NEVER;
}
/*
 * mio_backlog_tick hands frames to send, which says whether the system took (or refused) the frame,
 * until one finds no room; then everything waits once more, or is refused (ENOBUFS) when no frame
 * has left for MIO_BACKLOG_PATIENCE_NS.
 */
void mio_backlog_tick(struct mio_backlog *b, uint64_t now_ns,
		      bool (*send)(void *ctx, uint64_t now_ns, const struct mio_tx *frame),
		      void *ctx);

/*
 * mio_count_refused counts a frame that the system would not take. What says that the interface or
 * the descriptor is gone ends the port; everything else is the frame's bad luck.
 */
void mio_count_refused(struct mio_status *status, int code);
/* mio_tx_headers returns the headers that a frame travels with between two addresses. */
struct mw_ip_udp mio_tx_headers(const struct mio_tx *frame, const uint8_t src[16],
				const uint8_t dst[16]);
/* mio_rx_frame counts a received frame with its headers, and returns it. */
struct mio_rx mio_rx_frame(struct mio_status *status, const struct mw_ip_udp *h,
			   const uint8_t *bytes, uint64_t now_ns);
/* mio_close_fds closes those of n descriptors that are open: not below 0. */
void mio_close_fds(const int *fds, uint32_t n);
/* mio_is_fatal says whether an errno value of a send or receive ends a port. */
bool mio_is_fatal(int code);

#endif
