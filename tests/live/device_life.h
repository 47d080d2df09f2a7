/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * device_life.h - the life of two devices in one process, for tests of what disturbs it.
 *
 * It opens mrc0 and mrc1, makes an object of each kind of verbs on both and a pair of QPs of the
 * MRC API on the first, sends and writes in both directions, looks at every byte, and closes all
 * that was opened. It takes no memory from the heap itself.
 */
#ifndef LIVE_DEVICE_LIFE_H
#define LIVE_DEVICE_LIFE_H

/* The first step: who is refused it has no device. */
#define DEVICE_LIFE_OPENING "opening the devices"

/*
 * device_life_run returns what was refused, with the reason in errno; NULL: nothing was. Then errno
 * is EIO for an error completion, ETIMEDOUT for a completion that did not come within 10 s and
 * EBADMSG for wrong bytes. What cannot be closed ends the process with status 1 and a line.
 */
const char *device_life_run(void);

#endif
