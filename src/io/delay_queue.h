/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * delay_queue.h - a bounded queue of frame copies, ordered by when each is due.
 *
 * Drivers that cannot or shall not send a frame now keep a copy here. All memory is taken when
 * the queue is made: slots of MIO_FRAME_MAX bytes and a binary heap of slot numbers, the earliest
 * due at its root; frames due at the same time leave in the order in which they came.
 */
#ifndef SOFTMRC_IO_DELAY_QUEUE_H
#define SOFTMRC_IO_DELAY_QUEUE_H

#include "io/io_port.h"

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

#endif
