/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fake_driver.h - two ports joined in memory: what one sends the other receives, in order.
 */
#ifndef SUPPORT_FAKE_DRIVER_H
#define SUPPORT_FAKE_DRIVER_H

#include "io/io_port.h"

/* Frames that may wait at a port; what comes on top is an overrun. */
#define FAKE_DRIVER_QUEUE 256u

/*
 * fake_driver_open joins a port at address a with one at address b. Frames arrive with the sender's
 * ip and their EV as source port, whatever their destination says. Each end is closed on its own;
 * what is sent to a closed end is refused. ENOMEM.
 */
int fake_driver_open(const struct mio_addr *a, const struct mio_addr *b, struct mio_port *ends[2]);
/* fake_driver_block makes the port hold back frames (as if the system had no room) or not. */
void fake_driver_block(struct mio_port *port, bool blocked);

#endif
