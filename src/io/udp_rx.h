/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_rx.h - the receiving side of a UDP port: messages fetched in bursts, runs cut up again.
 *
 * Where runs are expected the kernel is asked to hand over several datagrams of one flow as one
 * message (UDP_GRO); each becomes as many frames as were merged. What does not fit into a burst
 * waits for the next call. Private to io.
 */
#ifndef SOFTMRC_IO_UDP_RX_H
#define SOFTMRC_IO_UDP_RX_H

#include "io/udp_driver.h"

struct mio_udp_rx;

/*
 * mio_udp_rx_create prepares to receive on the socket status->fd, which stays the caller's; runs
 * says whether merged datagrams are wanted. NULL: no memory.
 */
struct mio_udp_rx *mio_udp_rx_create(struct mio_status *status, bool runs);
void mio_udp_rx_destroy(struct mio_udp_rx *rx);
/* As the operation of a port with this name. */
uint32_t mio_udp_rx_burst(struct mio_udp_rx *rx, uint64_t now_ns, struct mio_rx *frames,
			  uint32_t n);

#endif
