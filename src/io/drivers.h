/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drivers.h - the drivers of ports: UDP sockets, AF_PACKET rings, raw sockets of protocol 41, and
 * two that wrap another driver: fault rules and capture.
 */
#ifndef SOFTMRC_IO_DRIVERS_H
#define SOFTMRC_IO_DRIVERS_H

#include <mrc/fault.h>

#include "io/io_port.h"

/*
 * A port over ordinary UDP sockets, IPv4 or IPv6; needs no privilege.
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

/*
 * A port over AF_PACKET rings: whole Ethernet frames, IPv4 or IPv6, with UDP.
 *
 * On the wire it is the same as a port over UDP sockets, and the two talk to each other. The
 * difference is the cost: one system call sends a burst however it is sprayed over EVs, received
 * frames are read where the kernel put them, and routing and UDP are not asked for each packet.
 *
 * Needs CAP_NET_RAW and an Ethernet interface (the loopback interface is one). The UDP checksum is
 * zero; over IPv6 the peer's sockets must accept that, which those of mio_udp_open do.
 */

struct mio_af_packet_cfg {
	struct mio_addr local;	  /* of this port; udp_port is where it receives */
	const char *ifname;	  /* the interface with this address */
	uint32_t rx_buffer_bytes; /* of the receiving ring */
};

/*
 * mio_af_packet_open opens the port around the claimed UDP socket (mio_udp_claim), which it takes
 * over if it succeeds: that socket keeps the number and makes the kernel's own UDP drop its copy
 * of each frame. EPERM: no CAP_NET_RAW. ENODEV: no such interface. EPFNOSUPPORT: not Ethernet.
 * error says what to do.
 */
int mio_af_packet_open(const struct mio_af_packet_cfg *cfg, int claimed_fd, struct mio_port **port,
		       struct mio_error *error);

/*
 * A port over raw sockets of protocol 41: IPv6 in IPv6, MRC's SRv6 wire form.
 *
 * A frame travels as outer IPv6 | inner IPv6 | UDP | frame. The outer destination is where it goes
 * first: the peer's address on this plane, or a list of uSIDs. The inner one is the peer itself.
 * The EV is in the source port and in both flow labels. The outer header is taken off here and not
 * by the kernel, whose decapsulation loses trims and ECN marks; see mw_ecn_combine.
 * REQ(wire.carrier.srv6) REQ(srv6.decapsulate) REQ(wire.ev.srv6-echo)
 *
 * Needs CAP_NET_RAW. One socket sends for all EVs, so a burst costs one system call however it is
 * sprayed. The inner UDP checksum is zero, as RoCEv2's is; no kernel looks at it.
 */

struct mio_raw41_cfg {
	struct mio_addr local;	  /* of this port, IPv6: the outer source; and our UDP port */
	uint8_t gid[16];	  /* of this endpoint: the inner source, and where peers send to */
	const char *ifname;	  /* receive from this interface only; NULL: from any */
	uint32_t rx_buffer_bytes; /* asked of the system, which may give less */
};

/*
 * mio_raw41_open opens the port around the claimed UDP socket (mio_udp_claim), which it takes over
 * if it succeeds and keeps so that no other process gets the number. Only frames to cfg->gid and
 * the UDP port reach it. EPERM: no CAP_NET_RAW. EAFNOSUPPORT: an address is IPv4. error says what
 * to do.
 */
int mio_raw41_open(const struct mio_raw41_cfg *cfg, int claimed_fd, struct mio_port **port,
		   struct mio_error *error);

/*
 * A driver that wraps a driver and does to frames what a fault table says.
 *
 * The table (include/mrc/fault.h) is shared memory and may change at any time. Rules are applied
 * to frames being sent, in the order of the table; a frame that one rule dropped is not shown to
 * the next. Delayed frames wait as copies in a bounded queue; when it is full a frame is sent at
 * once and not counted as hit.
 *
 * Whoever owns the file can cut it off, and then the mapped memory is gone. So the table is touched
 * twice a burst only, when its rules are copied and when hits are counted, under the guard.
 */

/*
 * mio_fault_guard calls fn(ctx), which touches [base, base + len) and may be left at any
 * instruction that does. false: it was left, for the memory is gone.
 */
typedef bool (*mio_fault_guard)(const void *base, size_t len, void (*fn)(void *ctx), void *ctx);

struct mio_fault_cfg {
	struct mrc_fault_table *table; /* mapped as long as the port is open */
	mio_fault_guard guard;	       /* NULL: the table stays */
	uint32_t port;		       /* which plane this is, 0 .. 31 */
	uint8_t gid[16];	       /* of this endpoint */
	uint8_t trimmed_dscp;	       /* what a switch writes into a frame that it cut */
	uint32_t trim_bytes; /* how much of a frame a switch leaves behind the UDP header */
};

/*
 * mio_fault_map maps the table in the file `path` and checks it. EINVAL: not a table of this
 * version; EPERM: not a regular file of this user or root that others cannot write; other errno
 * values from the system. error names the file and what is wrong with it.
 */
int mio_fault_map(const char *path, struct mrc_fault_table **table, struct mio_error *error);
void mio_fault_unmap(struct mrc_fault_table *table);
/*
 * mio_fault_open wraps `below`, which from then on belongs to the new port. ENOMEM: below is as
 * it was.
 */
int mio_fault_open(const struct mio_fault_cfg *cfg, struct mio_port *below, struct mio_port **port);

/*
 * A driver that wraps a driver and writes every frame to a pcapng file.
 *
 * One file serves all ports of a NIC, each as an interface of its own. Frames appear as IP packets
 * with the addresses, ports, flow labels, DSCP and ECN that they travel with; what is sent is
 * written when it is handed to the driver below, so a frame that a fault rule above took away is
 * not there. Frames that the driver below wraps (raw41) are written with both headers when
 * they are sent; of what is received only the inner one is left. A file that can no longer be
 * written ends the capture, not the port.
 */

struct mio_capture;

/*
 * mio_capture_open makes the file `path`, which only its user may read, or empties it. What must be
 * added to a CLOCK_MONOTONIC time to give ns since 1970 is realtime_offset_ns. An errno value, and
 * error names the file: ELOOP where it is a link, EPERM where it is another user's.
 */
int mio_capture_open(const char *path, uint64_t realtime_offset_ns, struct mio_capture **capture,
		     struct mio_error *error);
/*
 * mio_capture_close writes what is still in memory and closes the file; every port on it must be
 * closed. Returns 0, or the errno value of the first write that failed.
 */
int mio_capture_close(struct mio_capture *capture);
/* mio_capture_close_inherited closes a forked child's file: nothing is written, nothing freed. */
void mio_capture_close_inherited(struct mio_capture *capture);

/*
 * mio_pcap_open wraps `below`, which from then on belongs to the new port, as the next interface of
 * the capture. `local` is the port's own address; gid (16 bytes) the inner one if the driver wraps
 * frames, else NULL; summed: its frames have a UDP checksum. ENOMEM: below is as it was. The ports
 * of a capture belong to one thread at a time, as one.
 */
int mio_pcap_open(struct mio_capture *capture, const char *name, const struct mio_addr *local,
		  const uint8_t *gid, bool summed, struct mio_port *below, struct mio_port **port);

#endif
