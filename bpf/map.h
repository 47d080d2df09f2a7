/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map.h - what the switch's egress program and the module that loads it (src/switchq) say to each
 * other: the values of the program's maps, its limits, the marks it leaves on packets.
 *
 * Included by BPF C and by C alike, so it holds kernel types and constants and nothing else. All
 * maps are keyed by interface index; a lab gives every port of its network an index that is unique
 * over all namespaces.
 */
#ifndef SOFTMRC_BPF_MAP_H
#define SOFTMRC_BPF_MAP_H

#include <linux/bpf.h>
#include <linux/types.h>

/* What the program writes into skb->priority: the HTB classes 1:10 and 1:20. */
#define SWQ_PRIORITY_CONTROL 0x10010u
#define SWQ_PRIORITY_DATA 0x10020u

/*
 * Marks of packets that pass the program a second time, because it sent them on itself. They never
 * leave the port: the second pass clears them.
 */
#define SWQ_MARK_ADMITTED 0x5651c001u	/* went through the queue already */
#define SWQ_MARK_COPY 0x5651c002u	/* a duplicate: through the queue, past the faults */
#define SWQ_MARK_OVERTAKING 0x5651c003u /* overtakes a held packet: the same, and not a duplicate */

/* Longest frame that can be held back for reordering: 9000 bytes and an Ethernet header. */
#define SWQ_HOLD_MAX 9014
/* Chances are in parts per million. */
#define SWQ_PPM_MAX 1000000u

/* Bits of swq_config.flags. */
enum {
	SWQ_ECN = 1,	      /* mark CE by RED */
	SWQ_REPAIR_UDP = 2,   /* a trimmed packet's outer UDP gets its new length and checksum */
	SWQ_REMARK_SHORT = 4, /* what is too short to trim gets the trim DSCP all the same */
	SWQ_BLACKHOLE = 8,    /* every packet disappears */
};

/* What user space tells the program of a port; the program only reads it. */
struct swq_config {
	__u64 trimmable; /* bit d: packets with DSCP d may be trimmed */
	__u64 control;	 /* bit d: DSCP d travels in the control class */
	__u64 seed;	 /* of the port's random numbers */
	__u64 rate_bits; /* for user space, which computes the next field from these */
	__u64 slow_bits;
	__u64 ps_per_byte; /* picoseconds that a byte takes on the wire; 0: no queue */
	__u32 limit_bytes; /* data class: most bytes that wait */
	__u32 control_limit_bytes;
	__u32 ecn_min_bytes; /* data backlog from which marking begins */
	__u32 ecn_max_bytes; /* and from which every packet is marked */
	__u32 ecn_max_ppm;   /* chance of a mark just below ecn_max_bytes */
	__u32 loss_ppm;
	__u32 corrupt_ppm;
	__u32 duplicate_ppm;
	__u32 reorder_ppm;
	__u16 trim_bytes; /* length of a trimmed frame, Ethernet header included; 0: never */
	__u8 trim_dscp;	  /* DSCP that a trimmed packet gets */
	__u8 flags;
};

/*
 * Packets of a port by what became of them. Under the lock of the state these always add up:
 * offered + duplicated = full + control + trimmed + whole + dropped + trim_dropped
 *			  + control_dropped + blackholed + lost + held
 */
struct swq_counters {
	__u64 offered; /* what the stack handed to the port */
	__u64 offered_bytes;
	__u64 duplicated; /* copies that the duplicate fault added */
	__u64 sent_bytes; /* of what the queue let through, as it left */
	__u64 full;	  /* data, sent as it came */
	__u64 control;	  /* control class, what was trimmed further up included */
	__u64 trimmed;
	__u64 whole;	       /* should have been trimmed but was too short; sent in control */
	__u64 dropped;	       /* data that found no room and could not be trimmed */
	__u64 trim_dropped;    /* to be trimmed, but the control class was full */
	__u64 control_dropped; /* control that found its class full */
	__u64 marked;	       /* data that got CE here; a part of full */
	__u64 blackholed;
	__u64 lost;
	__u64 held;	 /* waits to be overtaken, 0 or 1 */
	__u64 corrupted; /* parts of the above, not sums of their own: */
	__u64 reordered;
};

/* The queue of a port. User space creates it zeroed and reads it under the lock. */
struct swq_state {
	struct bpf_spin_lock lock;
	__u32 unused;
	__u64 last_ns; /* when the backlogs below were true */
	__u64 data_ps; /* time on the wire of the data that waits */
	__u64 control_ps;
	__u64 ps_per_byte;  /* the rate at which these were counted */
	__u64 random_draws; /* random numbers drawn */
	struct swq_counters count;
};

/* A packet held back so that the next one overtakes it. */
enum {
	SWQ_HOLD_EMPTY = 0,
	SWQ_HOLD_BUSY = 1, /* being filled or emptied */
	SWQ_HOLD_FULL = 2,
};

struct swq_hold {
	__u32 state;
	__u32 bytes;
	__u8 frame[SWQ_HOLD_MAX + 2]; /* rounded up to 8 */
};

#endif
