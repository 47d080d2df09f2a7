/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switchq.h - a switch port's queue in the kernel: the BPF program of bpf/, loaded, attached, given
 * its parameters and its faults, and read.
 *
 * One program and one set of maps serve every port of a network. A port is named by its interface
 * index, which must be unique over all namespaces of that network (`ip link add X index N ...`
 * gives a link its index). The program stays in the kernel as long as it is attached somewhere or
 * a handle is open; a later process finds it again by its id (mswq_id, mswq_reopen), so that
 * nothing needs to be pinned in a file system, and nothing stays when the namespaces go.
 *
 * Order of work for a port: mswq_port_set, mswq_attach, and the tc lines of mswq_htb_lines where
 * the queue is to delay packets for real. A port without an attached program, or attached without
 * mswq_port_set, passes everything and counts nothing.
 *
 * Rights: mswq_load and mswq_attach need CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON in the initial user
 * namespace, mswq_reopen CAP_SYS_ADMIN; in practice root. Calls return 0 or an errno value, and
 * then error->text is one line that names the cause. They do not block beyond a system call. A
 * handle may be used by one thread at a time.
 */
#ifndef SOFTMRC_SWITCHQ_SWITCHQ_H
#define SOFTMRC_SWITCHQ_SWITCHQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/dscp.h"

/* Chances are in parts per million. */
#define MSWQ_PPM_MAX 1000000u

/* Bounds of struct mswq_port. */
#define MSWQ_RATE_MIN 800u	       /* bit/s */
#define MSWQ_RATE_MAX 1000000000000ull /* bit/s: a byte takes 8 ps */
#define MSWQ_LIMIT_MAX (256u << 20)    /* bytes */
#define MSWQ_TRIM_MIN 64u	       /* bytes */
#define MSWQ_TRIM_MAX 4084u

/*
 * The queue of a port towards its link. A packet is billed its length with the Ethernet header,
 * without preamble, checksum and gap; HTB bills the same.
 */
struct mswq_port {
	uint64_t rate_bits;   /* bit/s; 0: no queue, only faults and counters (a host's own port) */
	uint32_t limit_bytes; /* data that may wait; what does not fit is trimmed or dropped */
	uint32_t control_limit_bytes; /* of control and trimmed packets; more are dropped */
	bool ecn;		      /* RED; off on the port towards the receiver */
	uint32_t ecn_min_bytes;	      /* data that waits when marking begins */
	uint32_t ecn_max_bytes;	      /* more than ecn_min_bytes; from here on all are marked */
	uint32_t ecn_max_ppm;	      /* chance just below ecn_max_bytes */
	uint16_t trim_bytes;	      /* 0: no trimming; else MSWQ_TRIM_MIN to MSWQ_TRIM_MAX,
				    Ethernet header included. A receiver needs 118 bytes to know the
				    packet in IPv6-in-IPv6, 24 more behind an SRH of one segment. */
	uint8_t trim_dscp;	      /* 0..63, one of `control`; towards a host TRIMMED_LASTHOP */
	bool repair_udp;	      /* UDP of the outer header: right length and checksum */
	bool remark_short;	      /* too short to trim: trim_dscp all the same */
	uint64_t trimmable_dscp;      /* bit d: DSCP d may be trimmed */
	uint64_t control_dscp;	      /* bit d: DSCP d is control; none in both */
	uint64_t seed; /* of RED and faults: the same packets in the same order fare alike */
};

/* What is wrong with a port. All zero: nothing. Chances are of each packet, in ppm. */
struct mswq_faults {
	bool blackhole; /* nothing leaves, the link stays up */
	uint32_t loss_ppm;
	uint32_t corrupt_ppm; /* one bit behind the headers flips; TCP of this very host is lost */
	uint32_t duplicate_ppm; /* the packet leaves twice */
	uint32_t reorder_ppm;	/* the packet leaves behind the next one; IPv6 only */
	uint64_t slow_bits;	/* bit/s instead of rate_bits; 0: full rate. HTB needs
				   mswq_htb_change_lines as well */
};

/*
 * Packets of a port by what became of them. Always exact, also while packets pass:
 * offered + duplicated = full + control + trimmed + whole + dropped + trim_dropped
 *			  + control_dropped + blackholed + lost + held
 */
struct mswq_counters {
	uint64_t offered; /* what the stack handed to the port */
	uint64_t offered_bytes;
	uint64_t duplicated; /* copies that the fault added */
	uint64_t sent_bytes; /* let through, at the length at which it left */
	uint64_t full;	     /* data, sent as it came */
	uint64_t control;    /* control class; also what another switch trimmed */
	uint64_t trimmed;
	uint64_t whole;		  /* too short to trim, sent whole in the control class */
	uint64_t dropped;	  /* data without room that may not be trimmed */
	uint64_t trim_dropped;	  /* was to be trimmed, but the control class was full */
	uint64_t control_dropped; /* control class full */
	uint64_t marked;	  /* got CE here; contained in full */
	uint64_t blackholed;
	uint64_t lost;
	uint64_t held; /* 0 or 1: waits to be overtaken */
	uint64_t corrupted;
	uint64_t reordered;
};

/* mswq_read's answer: the counters, and how many bytes wait in the model right now. */
struct mswq_reading {
	struct mswq_counters count;
	uint64_t data_bytes;
	uint64_t control_bytes;
};

struct mswq;

/* What went wrong, for people, without a final full stop. */
struct mswq_error {
	char text[256];
};

/*
 * mswq_load puts the program into the kernel, with maps for max_ports ports (1 to 65536), and
 * returns a handle for mswq_close. ENOTSUP: this build was made without clang or libbpf and has no
 * program; EPERM: not root. Either way links work, without trimming, marks and these faults.
 */
int mswq_load(uint32_t max_ports, struct mswq **out, struct mswq_error *error);

/*
 * mswq_id returns the kernel's number of the loaded program, for mswq_reopen.
 * mswq_reopen opens a program that another process loaded. ENOENT: it is gone; EINVAL: the number
 * belongs to another program, or to that of another version.
 */
uint32_t mswq_id(const struct mswq *swq);
int mswq_reopen(uint32_t id, struct mswq **out, struct mswq_error *error);

/* mswq_close frees a handle; NULL is allowed. Where the program is attached it works on. */
void mswq_close(struct mswq *swq);

/*
 * mswq_attach makes the program run on what leaves by an interface, once more after an interface
 * was made again; attaching twice is as good as once. netns_fd is an open network namespace, or -1
 * for that of the calling thread. ENODEV: no interface of that number there.
 */
int mswq_attach(const struct mswq *swq, int netns_fd, uint32_t ifindex, struct mswq_error *error);

/*
 * mswq_port_default fills in a port by the recommendations for such fabrics: data limit 1 BDP, in
 * front of a host 1.5 (last_hop), marks from 0.2 to 0.8 BDP, none in front of a host, trimming to
 * 128 bytes; the BDP is taken as 96 KiB at least. rtt_ns is the base round trip of the fabric.
 * The classes are those of the fabric's map, which mw_dscp_map_check must accept.
 * REQ(switch.ecn.not-last-hop) REQ(switch.trim.last-hop)
 */
void mswq_port_default(struct mswq_port *port, const struct mw_dscp_map *dscp, uint64_t rate_bits,
		       uint64_t rtt_ns, bool last_hop);

/*
 * mswq_port_set gives a port its parameters; it keeps its faults, counters and backlog. EINVAL
 * names the field, its value and what is allowed, and changes nothing. E2BIG: max_ports are known
 * already.
 * mswq_port_forget removes what is known of a port, counters included; an unknown one is fine.
 */
int mswq_port_set(struct mswq *swq, uint32_t ifindex, const struct mswq_port *port,
		  struct mswq_error *error);
int mswq_port_forget(struct mswq *swq, uint32_t ifindex, struct mswq_error *error);

/*
 * mswq_fault_set replaces the faults of a port, at once for the next packet; all zero heals it. A
 * packet held for reordering stays until another passes. ENOENT: mswq_port_set comes first.
 */
int mswq_fault_set(struct mswq *swq, uint32_t ifindex, const struct mswq_faults *faults,
		   struct mswq_error *error);

/* mswq_read reads counters and backlog of a port. ENOENT: no mswq_port_set. */
int mswq_read(const struct mswq *swq, uint32_t ifindex, struct mswq_reading *out,
	      struct mswq_error *error);

/*
 * mswq_htb_lines writes, as snprintf does, lines for `tc -batch` that put HTB below the program: it
 * delays what the program admits and sends the control class first. rate_bits (or slow_bits of
 * the faults, which may be NULL) must be the rate of the port; mtu is that of the link.
 * mswq_htb_change_lines changes the rate of one that is there. Returns the length without the
 * final 0; a value >= size means cut. A port without a rate gives no lines.
 */
size_t mswq_htb_lines(char *out, size_t size, const char *dev, uint32_t mtu,
		      const struct mswq_port *port, const struct mswq_faults *faults);
size_t mswq_htb_change_lines(char *out, size_t size, const char *dev, uint32_t mtu,
			     const struct mswq_port *port, const struct mswq_faults *faults);

#endif
