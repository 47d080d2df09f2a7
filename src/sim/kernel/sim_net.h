/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_net.h - the simulated fabric: hosts' ports, links, switches, time.
 *
 * A net is built from a topology (fabric/topology.h). Hosts are whatever the owner of the net makes
 * of them: the net calls them when a packet arrives, when a time has come that they asked for and
 * when one of their ports gains or loses its carrier; they send from within these calls. Everything
 * between two hosts is the net's: each port serves a data and a control class in strict priority,
 * marks, cuts and drops, each hop is computed from EV and destination, faults happen on time.
 *
 * Time is a 64-bit number of picoseconds, so that a byte takes a whole number of them on 100G,
 * 200G, 400G and 800G.
 *
 * Threads and ranks. Nodes are spread over `workers`, one to a thread, on one or more processes
 * (ranks). The calls for one host come from one thread, one after the other, in the order of time;
 * calls for different hosts may come from different threads at once. What a call may touch: its own
 * host, its own worker (ms_worker_number), and whatever is only read. The result of a run is the
 * same, bit for bit, for any number of threads and ranks, as long as hosts keep to that.
 *
 * Order. A host gets what comes at one instant in this order: its ports' carriers, packets by
 * plane, its wake-up. Queues see arrivals of one instant by the number of the port they come from.
 */
#ifndef SOFTMRC_SIM_KERNEL_SIM_NET_H
#define SOFTMRC_SIM_KERNEL_SIM_NET_H

#include "fabric/topology.h"
#include "sim/kernel/common.h"
#include "wire/dscp.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What can go wrong in the simulated fabric, and when.
 *
 * A fault is a change of one directed link at one instant. Whatever is larger (a switch, a NIC
 * port, a flap, a random process) is made of these. Faults are exact: what is on a wire when it is
 * cut is lost, what waits behind it is lost, and what comes later is lost at its port.
 */
enum ms_fault_kind {
	/*
	 * The link loses its carrier; both ends see it. Faults overlap: a link is up when it has
	 * come up as often as it went down.
	 */
	MS_FAULT_DOWN,
	MS_FAULT_UP,
	MS_FAULT_BLACKHOLE, /* value 1: it takes packets and delivers none, silently; 0: no more */
	MS_FAULT_LOSS,	    /* value: parts per million of packets lost on the wire */
	MS_FAULT_CORRUPT,   /* value: parts per million that arrive with a wrong ICRC */
	MS_FAULT_RATE,	    /* value: parts per million of its speed that are left, 1 .. 10^6 */
	MS_FAULT_KINDS,
};

struct ms_fault {
	uint64_t at_ps;
	uint32_t link; /* as fabric/link.h numbers them */
	uint32_t value;
	uint8_t kind; /* enum ms_fault_kind */
};

/* Why a packet was lost. */
enum ms_drop {
	MS_DROP_DATA_FULL,    /* the data queue was full, and the packet not to be cut */
	MS_DROP_CONTROL_FULL, /* the control queue was full */
	MS_DROP_LINK_DOWN,    /* waited for, was sent on or was meant for a link without carrier */
	MS_DROP_BLACKHOLE,
	MS_DROP_LOSS,
	MS_DROP_NO_ROUTE, /* EV or destination that the fabric does not have */
	MS_DROP_HEADROOM, /* PFC had no room left for what its link brought */
	MS_DROPS,
};

/* ms_drop_name returns a constant lower-case name, with underscores. */
const char *ms_drop_name(enum ms_drop d);

/*
 * The record that travels through the simulated fabric: one packet, decoded, without payload, in
 * one cache line.
 *
 * The fabric reads who sent it, to whom, by which EV, how long it is and in which class it
 * travels, and writes the congestion mark and the class of what it cuts. What the packet says to
 * the protocol is the NIC's business: 42 bytes that the fabric carries and never reads.
 */
/* 64-bit words of the protocol's part. */
#define MS_BODY_WORDS 5u
/* Planes are numbered in 4 bits. */
#define MS_PLANE_MASK 15u
/* Hosts are numbered in 24 bits. */
#define MS_HOSTS_MAX (UINT32_C(1) << 24)

struct ms_packet {
	/* The kernel's own: when and over which port it comes. Not the NIC's to read or write. */
	uint32_t at;
	uint32_t port;

	uint32_t src : 24; /* sending host */
	uint32_t plane : 4;
	uint32_t ecmp : 1; /* switches choose its path by a hash of `ev`; else `ev` is the path */
	uint32_t roce : 1; /* of roce_nic.h, else of MRC */
	uint32_t : 2;
	uint32_t dst : 24;    /* receiving host */
	uint32_t cls : 3;     /* enum mw_dscp_class: decides queue, marking and trimming */
	uint32_t ce : 1;      /* congestion experienced; set by ports */
	uint32_t corrupt : 1; /* its ICRC is wrong; set by a corrupting link */
	uint32_t cuts : 3;    /* the kernel's: how often its link had been cut when it was sent */
	/* fabric/ev.h, its plane is `plane`; with `ecmp` a hash of what names the flow */
	uint32_t ev;
	uint16_t bytes; /* on the wire, with all that a frame costs there; 1 .. 65535 */

	uint16_t head; /* the protocol's, with body */
	uint64_t body[MS_BODY_WORDS];
};

static_assert(sizeof(struct ms_packet) == 64, "a packet is one cache line");

/* ms_packet_cut says whether a switch has cut the packet. */
static inline bool ms_packet_cut(const struct ms_packet *p)
{
	return p->cls == MW_DSCP_TRIMMED || p->cls == MW_DSCP_TRIMMED_LASTHOP;
}

/* ms_packet_high says whether the packet travels in the control class: answers and what was cut. */
static inline bool ms_packet_high(const struct ms_packet *p)
{
	return p->cls >= MW_DSCP_TRIMMED;
}

struct ms_net;
struct ms_worker;
struct ms_ranks; /* ranks.h */

#define MS_NEVER UINT64_MAX
#define MS_PS_PER_NS UINT64_C(1000)

/* ms_ns_to_ps returns a time in ps; MS_NEVER when it is too late for that. */
static inline uint64_t ms_ns_to_ps(uint64_t ns)
{
	return ns >= UINT64_MAX / MS_PS_PER_NS ? MS_NEVER : ns * MS_PS_PER_NS;
}
#define MS_THREADS_MAX 64u

/* Links by where they begin and lead; each may have its own queue. */
enum ms_port_kind {
	MS_PORT_HOST_UP, /* a NIC's port, to its T0 */
	MS_PORT_T0_DOWN, /* the last hop */
	MS_PORT_T0_UP,
	MS_PORT_T1_DOWN,
	MS_PORT_T1_UP, /* three tiers */
	MS_PORT_T2_DOWN,
	MS_PORT_KINDS,
};

/*
 * The queue of a port. Lengths are those of packets that wait, the one being sent not counted, at
 * the time when another one comes.
 */
struct ms_queue_cfg {
	/*
	 * RED on the data class: never below ecn_min, always from ecn_max on, in between with a
	 * probability that rises linearly to ecn_ppm. ecn_max 0: no marking.
	 */
	uint32_t ecn_min_bytes, ecn_max_bytes, ecn_ppm;
	/* A trimmable packet that would make the data class longer is cut. 0: nothing is. */
	uint32_t trim_bytes;
	/* A packet that would make its class longer, and is not cut, is dropped. 0: no limit. */
	uint32_t data_limit_bytes, control_limit_bytes;
};

/* Priority flow control of the data class at all switches; worker.h. */
struct ms_pfc_cfg {
	bool on;
	/* Waiting bytes from one link above which it is paused, and down to which it goes on again.
	 * xon 0: two MTUs below xoff. */
	uint32_t xoff_bytes, xon_bytes;
	uint32_t headroom_bytes; /* for what comes after a pause was sent; beyond it is dropped */
};

/* What a net does with its owner's hosts. ctx is the owner's. None may be NULL but as said. */
struct ms_hosts {
	void *ctx;
	/* A packet has arrived at a host. *p is valid during the call. */
	void (*receive)(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
			const struct ms_packet *p);
	/* The time that the host asked for with ms_wake_at has come. */
	void (*wake)(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps);
	/* A port gained or lost its carrier, in either direction. NULL: hosts do not care. */
	void (*carrier)(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
			uint32_t plane, bool up);
	/* A port that PFC had paused may send data again. NULL: hosts do not care. */
	void (*pfc_resumed)(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
			    uint32_t plane);
	/*
	 * A host is about to be called, a host or two ahead: a chance to ask for its memory. NULL:
	 * none wanted.
	 */
	void (*prefetch)(void *ctx, uint32_t host);
	/* A tapped link begins to send a packet. NULL: no taps. */
	void (*tap)(void *ctx, struct ms_worker *worker, uint32_t link, uint64_t now_ps,
		    const struct ms_packet *p);
	/*
	 * All hosts of all ranks have come to now_ps, which is a multiple of cfg.edge_ps rounded up
	 * to a window, and stand still.
	 * Called on each rank, by the thread that called ms_net_run. False: stop, which every rank
	 * does if one says so. NULL: never called.
	 */
	bool (*edge)(void *ctx, uint64_t now_ps);
};

struct ms_net_cfg {
	struct mf_topology topology;
	struct ms_queue_cfg queue[MS_PORT_KINDS];
	/* Length on the wire of a cut packet; shorter ones go whole, before other data. */
	uint16_t trim_to_bytes;
	uint32_t threads;	      /* of this rank, 1 .. MS_THREADS_MAX */
	const struct ms_ranks *ranks; /* NULL: this process alone */
	uint64_t edge_ps;	      /* 0: no edges */
	uint64_t seed;
	/*
	 * Packets with `ecmp` may be sent. Then routing finds out about links that lose their
	 * carrier, or get it back, this long afterwards.
	 */
	bool ecmp;
	uint64_t reconverge_ps;
	struct ms_pfc_cfg pfc;
	struct ms_hosts hosts;
};

/* ---- life ---- */

/*
 * ms_net_cfg_check says whether a net can be made of cfg. False: why (MS_WHY_BYTES, common.h) says
 * what is wrong with which field.
 */
bool ms_net_cfg_check(const struct ms_net_cfg *cfg, char *why);
/*
 * ms_net_memory returns the bytes that this rank needs for a net, and for `in_flight` packets that
 * are on wires and in queues at once, over all ranks. An estimate from above for large nets.
 */
uint64_t ms_net_memory(const struct ms_net_cfg *cfg, uint64_t in_flight);
/* ms_net_create builds a net at time 0; cfg is copied. NULL: cfg is bad, or no memory (*why). */
struct ms_net *ms_net_create(const struct ms_net_cfg *cfg, char *why);
void ms_net_destroy(struct ms_net *net);

/* ---- running ---- */

/* Why ms_net_run came back. */
enum ms_net_end {
	MS_END_TIME,	/* until_ps is reached */
	MS_END_IDLE,	/* nothing moves, no host waits for a time, no fault is to come */
	MS_END_STOPPED, /* hosts.edge said so */
	MS_END_MEMORY,	/* memory ran out; the net can only be destroyed */
	MS_END_RANKS,	/* another rank failed or cannot be reached; likewise */
};

/*
 * ms_net_run lets time pass up to until_ps, rounded up to a window (what happens at that time
 * belongs to the next run). All ranks call it with the same until_ps.
 */
enum ms_net_end ms_net_run(struct ms_net *net, uint64_t until_ps);
/* ms_net_now_ps returns the time up to which everything has happened. */
uint64_t ms_net_now_ps(const struct ms_net *net);
/* ms_net_wake asks for a first wake-up of a host, not before now; between runs or in
 * hosts.edge; a rank that the host does not belong to ignores it. */
void ms_net_wake(struct ms_net *net, uint32_t host, uint64_t at_ps);
/* ms_net_host_is_local says whether a host belongs to this rank. */
bool ms_net_host_is_local(const struct ms_net *net, uint32_t host);

/* ---- what a host may do in its calls ---- */

/*
 * ms_send hands a packet to the port of the calling host on plane p->plane, now. The port takes it
 * within the limits of its queue; p->src must be the host. Copies *p.
 */
void ms_send(struct ms_worker *worker, const struct ms_packet *p);
/*
 * ms_port_idle_ps returns when the calling host's port on a plane will have sent all that it was
 * given, control and data, if it is given no more; not after now: it is free. A NIC that wants to
 * keep its choice of packets to the last asks to be woken then. A port without carrier is free; of
 * one that PFC has paused it is MS_NEVER, until hosts.pfc_resumed is called.
 */
uint64_t ms_port_idle_ps(const struct ms_worker *worker, uint32_t plane);
/* ms_wake_at sets when the calling host is to be woken, not before now; MS_NEVER: not at all. One
 * time for each host: a new one takes the place of the last. A wake-up uses it up. */
void ms_wake_at(struct ms_worker *worker, uint64_t at_ps);
/* ms_worker_number returns 0 .. threads - 1 of this rank, for scratch of the owner. */
uint32_t ms_worker_number(const struct ms_worker *worker);
/* ms_worker_of returns the number of the worker that a host of this rank belongs to. */
uint32_t ms_worker_of(const struct ms_net *net, uint32_t host);

/* ---- faults ---- */

/*
 * ms_net_add_fault adds a fault, at the time of the last run's end or later; on every rank the
 * same, in the same order, between runs or in hosts.edge. Faults of one instant happen in the order
 * in which they were added. False: out of memory, or link, value or time out of range.
 */
bool ms_net_add_fault(struct ms_net *net, const struct ms_fault *fault);

/* ---- looking in: between runs and in hosts.edge ---- */

struct ms_counters {
	uint64_t injected;  /* packets that hosts sent */
	uint64_t delivered; /* packets that hosts were given */
	uint64_t dropped[MS_DROPS];
	uint64_t waiting; /* in queues */
	uint64_t flying;  /* on wires */
	uint64_t hops;	  /* packets that ports sent */
	uint64_t trims, ecn_marks, corrupted;
	uint64_t pauses;       /* of PFC that switches have sent */
	uint64_t paused_ps;    /* times of all ports that were paused, together */
	uint64_t paused_ports; /* that ever were */
	uint64_t hash;	       /* of all arrivals of packets at nodes: equal runs have equal ones */
};

/*
 * ms_net_counters adds up the counters of this rank, or, with all_ranks, of all (every rank calls
 * it then). Goes through all queues and packets. False: another rank cannot be reached.
 */
bool ms_net_counters(const struct ms_net *net, bool all_ranks, struct ms_counters *c);
/* ms_net_hops returns the hops so far of this rank; costs next to nothing, for displays. */
uint64_t ms_net_hops(const struct ms_net *net);
/*
 * ms_counters_are_conserved says whether every packet is accounted for: what was injected was
 * delivered, was dropped, waits or flies. Of counters of all ranks.
 */
bool ms_counters_are_conserved(const struct ms_counters *c);

/* What a directed link has done and how it is. Counts of drops include all causes. */
struct ms_link_info {
	uint64_t sent_bytes;
	uint32_t ecn_marks, trims, drops;   /* modulo 2^32 */
	uint32_t data_bytes, control_bytes; /* that wait */
	uint32_t pauses;		    /* by PFC */
	uint64_t paused_ps;
	bool up, paused;
};

/* ms_net_link fills in a link that begins at a node of this rank; false: it does not. */
bool ms_net_link(const struct ms_net *net, uint32_t link, struct ms_link_info *info);
/* ms_net_set_tap has hosts.tap called for a link that begins on this rank, or no longer. */
void ms_net_set_tap(struct ms_net *net, uint32_t link, bool on);
/* ms_net_memory_used returns the bytes that the net holds on this rank. */
uint64_t ms_net_memory_used(const struct ms_net *net);

/* ms_queue_defaults fills in queues for a topology as UEC recommends: ECN from 0.2 to 0.8 BDP, off
 * at the last hop; cut from 1 BDP on, last hop 1.5; limit 5 BDP without trimming. */
void ms_queue_defaults(const struct mf_topology *t, bool trimming,
		       struct ms_queue_cfg queue[MS_PORT_KINDS]);

/* ms_pfc_defaults fills in PFC, switched off: xoff 1 BDP as of ms_queue_defaults, xon two MTUs
 * below, and as much headroom as any link of the topology needs. */
void ms_pfc_defaults(const struct mf_topology *t, struct ms_pfc_cfg *pfc);

#endif
