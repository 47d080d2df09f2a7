/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture_driver.h - a driver that wraps a driver and writes every frame to a pcapng file.
 *
 * One file serves all ports of a NIC, each as an interface of its own. Frames appear as IP packets
 * with the addresses, ports, flow labels, DSCP and ECN that they travel with; what is sent is
 * written when it is handed to the driver below, so a frame that a fault rule above took away is
 * not there. Frames that the driver below wraps (raw41_driver.h) are written with both headers when
 * they are sent; of what is received only the inner one is left. A file that can no longer be
 * written ends the capture, not the port.
 */
#ifndef SOFTMRC_IO_CAPTURE_DRIVER_H
#define SOFTMRC_IO_CAPTURE_DRIVER_H

#include "io/io_port.h"

struct mio_capture;

/*
 * mio_capture_open makes the file `path`, or empties it. realtime_offset_ns is what must be added
 * to a CLOCK_MONOTONIC time to give ns since 1970. An errno value, and error names the file.
 */
int mio_capture_open(const char *path, uint64_t realtime_offset_ns, struct mio_capture **capture,
		     struct mio_error *error);
/*
 * mio_capture_close writes what is still in memory and closes the file; every port on it must be
 * closed. Returns 0, or the errno value of the first write that failed.
 */
int mio_capture_close(struct mio_capture *capture);

/*
 * mio_pcap_open wraps `below`, which from then on belongs to the new port, as the next interface of
 * the capture. `local` is the port's own address; gid (16 bytes) the inner one if the driver wraps
 * frames, else NULL. ENOMEM: below is as it was. The ports of a capture belong to one thread at a
 * time, as one.
 */
int mio_pcap_open(struct mio_capture *capture, const char *name, const struct mio_addr *local,
		  const uint8_t *gid, struct mio_port *below, struct mio_port **port);

#endif
