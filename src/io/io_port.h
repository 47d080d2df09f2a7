/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_port.h - the small burst interface between the software NIC and whatever carries its frames.
 *
 * A port is one plane. Its driver moves frames: what follows a UDP header, headers, payload and
 * ICRC included. It knows nothing of packets, QPs or EV sets; an EV is a number that picks a path.
 * Drivers stack: one may wrap another (fault_driver.c).
 *
 * Sending never returns an error. A frame handed to tx_burst is sent, held
 * back in a bounded queue of copies because the system had no room (then status->blocked is set
 * and no data should be offered until it is clear), or lost and counted: to the protocol above a
 * frame that the system refused is a frame that the network lost.
 *
 * A port belongs to one thread at a time. Nothing here blocks.
 */
#ifndef SOFTMRC_IO_IO_PORT_H
#define SOFTMRC_IO_IO_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

/* The most frames that one call moves. */
#define MIO_BURST_MAX 64u
/* A frame: 48 bytes of headers, 4096 of payload, pad and ICRC, rounded up to 64. */
#define MIO_FRAME_MAX 4224u
#define MIO_IOV_MAX 20u
#define MIO_NEVER UINT64_MAX

/* An address on one plane, network order; an IPv4 address is mapped, ::ffff:a.b.c.d. */
struct mio_addr {
	uint8_t ip[16];
	uint16_t udp_port; /* host order */
};

/* A frame to send. Everything it points to is read during the call only. */
struct mio_tx {
	/*
	 * Headers, payload, pad and ICRC. The first and the last are memory of the caller's own,
	 * which stays; those between may be of a program, see copy.
	 */
	const struct iovec *iov;
	uint32_t n_iov; /* 1 .. MIO_IOV_MAX */
	uint32_t len;	/* of all iovecs, 1 .. MIO_FRAME_MAX */
	uint32_t ev;	/* names the path, for drivers that judge frames by it (fault_driver.c) */
	uint16_t sport; /* where the EV travels: the UDP source port, host order, and */
	uint32_t flow_label; /* on IPv6 the flow label, 20 bits */
	struct mio_addr dst;
	uint8_t dst_gid[16]; /* the peer on whatever plane, for drivers that judge by endpoint */
	uint8_t tos;	     /* DSCP << 2 | ECN */
	bool is_data;	     /* carries payload */
	/*
	 * copy reads what an iovec points to, for drivers that do so with the CPU: memory of a
	 * program may go away at any time. false: it is gone. NULL: memcpy will do.
	 */
	bool (*copy)(void *to, const void *from, size_t len);
};

/* mio_tx_gather copies all bytes of a frame; false: some are gone, the frame cannot be sent. */
static inline bool mio_tx_gather(const struct mio_tx *frame, void *to)
{
	uint8_t *at = (uint8_t *)to;

	for (uint32_t i = 0; i < frame->n_iov; i++) {
		size_t len = frame->iov[i].iov_len;

		if (len == 0)
			continue;
		if (!frame->copy)
			memcpy(at, frame->iov[i].iov_base, len);
		else if (!frame->copy(at, frame->iov[i].iov_base, len))
			return false;
		at += len;
	}
	return true;
}

/* A frame that arrived. The bytes are the driver's and valid until the next call on the port. */
struct mio_rx {
	const uint8_t *bytes;
	uint32_t len;
	struct mio_addr src;
	uint8_t outer_src[16]; /* of the packet that carried it in a tunnel; zero: none did */
	uint32_t flow_label;   /* 20 bits; 0 on IPv4 or where the driver cannot see it */
	uint8_t tos;
	uint64_t time_ns; /* CLOCK_MONOTONIC; when the driver took it, or earlier */
	/* The system's stamp, to compare with those of frames of other ports; 0: it gave none. */
	uint64_t stamp_ns;
};

/* What can be known of a port from outside. Written by the driver only. */
struct mio_status {
	int fd;			  /* polls readable when frames wait; -1: none */
	bool blocked;		  /* frames are held back for lack of room: offer no data */
	bool rx_more;		  /* the last rx_burst may have left frames behind */
	bool rx_asks_system;	  /* rx_burst is a system call, for nothing as well; fd tells */
	int error;		  /* errno that ended the port: nothing moves any more; 0: works */
	int last_refusal;	  /* errno of the newest frame counted in tx_refused */
	uint32_t rx_buffer_bytes; /* what the system grants for frames that wait */
	uint64_t tx_frames, tx_bytes;
	uint64_t tx_refused;	/* frames that the system would not take, lost */
	uint64_t tx_backlogged; /* frames that had to wait for room at least once */
	/* Runs that the system took as one, and the frames in them; both are in tx_frames, too. */
	uint64_t tx_runs, tx_run_frames;
	/* Why frames go one by one although runs are wanted; NULL: runs go, or were never tried. */
	const char *no_runs;
	uint64_t rx_frames, rx_bytes;
	uint64_t rx_overruns; /* frames that the system dropped because its buffer was full */
	uint64_t rx_oversize; /* frames longer than MIO_FRAME_MAX, dropped */
	uint64_t rx_unsound;  /* packets that the host's own sockets would not get, dropped */
};

/* What went wrong, in words: the call, the object, the reason and what may be done about it. */
struct mio_error {
	char text[240];
};

struct mio_port;

struct mio_port_ops {
	/* tx_burst sends n frames, 0 .. MIO_BURST_MAX; order is kept among frames of one EV. */
	void (*tx_burst)(struct mio_port *port, uint64_t now_ns, const struct mio_tx *frames,
			 uint32_t n);
	/*
	 * rx_burst fetches at most n frames, 1 .. MIO_BURST_MAX, and returns how many;
	 * status->rx_more says whether others may wait, which fd need not show.
	 */
	uint32_t (*rx_burst)(struct mio_port *port, uint64_t now_ns, struct mio_rx *frames,
			     uint32_t n);
	/* deadline returns when tick must be called because frames are held back; MIO_NEVER. */
	uint64_t (*deadline)(const struct mio_port *port);
	/* tick sends what is due. */
	void (*tick)(struct mio_port *port, uint64_t now_ns);
	/* close gives everything back, held frames included, and frees the port. */
	void (*close)(struct mio_port *port);
	/*
	 * close_inherited closes the descriptors and mappings that a forked child got with the
	 * port. It sends nothing and frees nothing: the allocator of a program may have forked with
	 * a lock that one of the parent's threads held.
	 */
	void (*close_inherited)(struct mio_port *port);
};

struct mio_port {
	const struct mio_port_ops *ops;
	const struct mio_status *status; /* a wrapping driver shows that of the driver below */
	uint32_t max_run; /* frames of one EV in a row that the driver sends as one, >= 1 */
};

static inline void mio_port_tx(struct mio_port *port, uint64_t now_ns, const struct mio_tx *frames,
			       uint32_t n)
{
	port->ops->tx_burst(port, now_ns, frames, n);
}

static inline uint32_t mio_port_rx(struct mio_port *port, uint64_t now_ns, struct mio_rx *frames,
				   uint32_t n)
{
	return port->ops->rx_burst(port, now_ns, frames, n);
}

static inline uint64_t mio_port_deadline(const struct mio_port *port)
{
	return port->ops->deadline(port);
}

static inline void mio_port_tick(struct mio_port *port, uint64_t now_ns)
{
	port->ops->tick(port, now_ns);
}

static inline void mio_port_close(struct mio_port *port)
{
	port->ops->close(port);
}

static inline void mio_port_close_inherited(struct mio_port *port)
{
	port->ops->close_inherited(port);
}

#endif
