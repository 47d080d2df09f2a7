/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_tx.h - the sending side of a UDP port: bursts sorted by EV, runs merged into one message.
 *
 * The frames of a burst are chained by source port, and each chain goes out in one sendmmsg on
 * that port's socket. Frames of a chain that follow each other, to one destination and of one size
 * (the last may be shorter), become one message that the kernel or the NIC cuts up again
 * (UDP_SEGMENT). Where the system does not do that, they are sent one by one.
 *
 * A frame for which a socket has no room is copied to the backlog, and so are all that follow it
 * until the backlog is empty again, so that frames of one EV stay in order. Private to io.
 */
#ifndef SOFTMRC_IO_UDP_TX_H
#define SOFTMRC_IO_UDP_TX_H

#include "io/udp_driver.h"

struct mio_udp_tx;

/* mio_udp_tx_create opens the sending sockets; an errno value, and error says which failed. */
int mio_udp_tx_create(const struct mio_udp_cfg *cfg, struct mio_status *status,
		      struct mio_udp_tx **tx, struct mio_error *error);
void mio_udp_tx_destroy(struct mio_udp_tx *tx);
/* As the operations of a port with these names. */
void mio_udp_tx_burst(struct mio_udp_tx *tx, uint64_t now_ns, const struct mio_tx *frames,
		      uint32_t n);
uint64_t mio_udp_tx_deadline(const struct mio_udp_tx *tx);
void mio_udp_tx_tick(struct mio_udp_tx *tx, uint64_t now_ns);

#endif
