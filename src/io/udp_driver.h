/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_driver.h - a port over ordinary UDP sockets, IPv4 or IPv6; needs no privilege.
 *
 * A source port cannot be chosen per message, so each source port of an EV has a socket of its own
 * that only sends, and a burst costs one sendmmsg per source port that occurs in it. One more
 * socket receives. With max_run above 1 frames of one EV in a row go as one message, which
 * the system cuts up as late as it can (segmentation offload): far cheaper where the path allows
 * it. Don't-fragment is always set; DSCP, ECN and on IPv6 the flow label travel with each message.
 * Frames are stamped with the time at which the kernel got them.
 *
 * A frame's destination may be a list of uSIDs: MRC's direct form over SRv6, without an inner
 * header. All paths of a port have one source port then, and tell themselves apart by their flow
 * labels.
 */
#ifndef SOFTMRC_IO_UDP_DRIVER_H
#define SOFTMRC_IO_UDP_DRIVER_H

#include "io/io_port.h"

#define MIO_UDP_EVS_MAX 64u

struct mio_udp_cfg {
	struct mio_addr local;	  /* of this port; udp_port is where it receives */
	const char *ifname;	  /* sockets are bound to this interface; NULL: not bound */
	uint16_t ev_base;	  /* source ports are ev_base .. ev_base + n_evs - 1 */
	uint32_t n_evs;		  /* 1 .. MIO_UDP_EVS_MAX */
	uint32_t max_run;	  /* frames of one EV that may go as one, 1 .. MIO_BURST_MAX */
	uint32_t rx_buffer_bytes; /* asked of the system, which may give less */
	/*
	 * UDP checksums are zero, in both directions: where destinations change on the way, as
	 * carriers of uSIDs do, the kernel's would be wrong. IPv6 only; max_run must be 1, for the
	 * kernel cuts up no message without a checksum. REQ(wire.carrier.srv6-direct)
	 */
	bool zero_checksum;
};

/*
 * mio_udp_claim binds the receiving socket of a port and returns it in *fd. No other process gets
 * this address and port until it is closed, so binding is also how a process claims a number.
 * EADDRINUSE: taken; try another. Other errno values: hopeless; error says why.
 */
int mio_udp_claim(const struct mio_addr *local, const char *ifname, int *fd,
		  struct mio_error *error);
/*
 * mio_udp_open makes the port around the claimed socket, which it takes over if it succeeds, and
 * opens the sending sockets. Several processes may send from one EV of one address.
 */
int mio_udp_open(const struct mio_udp_cfg *cfg, int claimed_fd, struct mio_port **port,
		 struct mio_error *error);

#endif
