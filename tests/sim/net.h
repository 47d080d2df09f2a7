/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * net.h - a fabric in virtual time.
 *
 * Nodes have the same number of ports; port p of every node leads into plane p. Between two nodes
 * each plane has the same number of paths each way, and the EV value of a packet picks one. A path
 * is one direction: it may be slow, jittery, lossy, dead, marking or trimming without its return
 * path noticing. A packet passes, in this order:
 *
 *	filter     the test's own hand: look, change, hold up or throw away
 *	egress     the sender's port, when it has a rate: data and probes wait for their turn,
 *	           control does not
 *	path       dead? lost? corrupted? trimmed? marked? doubled? held back? A path may have a
 *	           queue of its own
 *	last hop   the queue in front of the receiver's port, when that has a rate
 *
 * A queue marks data above one delay and above another trims or drops it. Time is a
 * heap of events; nothing here looks at a clock, and randomness comes from the seed alone.
 */
#ifndef SIM_NET_H
#define SIM_NET_H

#include "core/types.h"
#include "heap.h"
#include "rng.h"

#define SIM_NODES_MAX 8u
#define SIM_NOBODY UINT32_MAX
/* BTH and METH: the least that a switch leaves of a trimmed packet. */
#define SIM_TRIM_MIN 16u

struct sim_net;

struct sim_event {
	void (*run)(struct sim_net *net, struct sim_event *event);
};

enum sim_fate {
	SIM_FLYING,
	SIM_ARRIVED,
	SIM_LOST,
	SIM_BLACKHOLED,
	SIM_FILTERED,
	SIM_OVERFLOWED, /* a queue was full */
	SIM_UNHEARD,	/* the receiver was stopped and its buffer gone */
};

/* A packet on its way. `bytes` is what follows the UDP header. */
struct sim_packet {
	struct sim_event event;
	uint32_t src, dst;
	struct mt_rx_meta meta;
	struct mw_packet pkt; /* as it was sent */
	uint8_t tclass;
	bool data;		 /* one of the write opcodes: may be marked and trimmed */
	bool waits;		 /* not of the control class: waits in queues */
	uint64_t sent_ns;	 /* when it was handed to the fabric */
	uint64_t extra_ns;	 /* a filter may hold it up */
	bool in_buffer;		 /* it has arrived and waits for a slow receiver */
	uint64_t log_number;	 /* of its line in the log */
	void *flow;		 /* data: the flow it belongs to; NULL for what a test made up */
	struct sim_packet *next; /* in a receiver's queue */
	size_t headers_len, len;
	uint8_t bytes[];
};

/* A FIFO with a rate. A rate of 0 is endless and has no queue. */
struct sim_queue {
	uint64_t bps;
	uint64_t ecn_ns;  /* packets that would wait longer are marked; 0: never */
	uint64_t full_ns; /* longer: trimmed or dropped; 0: never */
	bool trims;
	uint64_t busy_until_ns;
};

struct sim_path {
	uint64_t latency_ns, jitter_ns;
	uint32_t loss_ppm, corrupt_ppm, dup_ppm, ecn_ppm;
	uint32_t trim_ppm, trim_lasthop_ppm;
	uint32_t reorder_ppm; /* of the packets are held back by up to reorder_ns */
	uint64_t reorder_ns;
	bool dead;
	struct sim_queue queue;
};

/* One line of the log: a packet as it was sent, and what became of it. */
struct sim_seen {
	uint64_t at_ns;
	uint32_t src, dst;
	uint32_t ev;
	uint8_t port, tclass, trim, fate;
	bool ce;
	struct mw_packet pkt;
};

struct sim_counts {
	uint64_t sent, arrived, lost, corrupted, trimmed, doubled, marked, held;
};

struct sim_net_cfg {
	uint64_t seed;
	uint32_t n_nodes, n_planes, n_paths; /* paths per plane */
	uint32_t ev_base;		     /* EV value v takes path (v - ev_base) mod n_paths */
	struct sim_path path;		     /* what every path is at first */
	size_t log_room;		     /* lines kept; a power of two */
};

struct sim_net {
	struct sim_net_cfg cfg;
	uint64_t now_ns;
	struct sim_heap heap;
	struct sim_rng rng;
	struct sim_path *paths[SIM_NODES_MAX][SIM_NODES_MAX];
	struct sim_queue egress[SIM_NODES_MAX][MT_PORTS_MAX];
	struct sim_queue lasthop[SIM_NODES_MAX][MT_PORTS_MAX];
	uint64_t egress_room_ns; /* how much may wait in an egress port */
	struct sim_counts counts;
	struct sim_seen *log;
	uint64_t logged;
	/* The receiver's side; it owns the packet from then on. */
	void (*deliver)(void *ctx, struct sim_packet *p);
	void *deliver_ctx;
	/* Sees every packet first; false throws it away. May be NULL. */
	bool (*filter)(void *ctx, struct sim_packet *p);
	void *filter_ctx;
};

void sim_net_init(struct sim_net *net, const struct sim_net_cfg *cfg);
void sim_net_fini(struct sim_net *net);

/* sim_net_path returns one path from src to dst. */
struct sim_path *sim_net_path(struct sim_net *net, uint32_t src, uint32_t dst, uint32_t plane,
			      uint32_t path);
/* sim_net_path_of returns the number, within its plane, of the path that an EV value takes. */
uint32_t sim_net_path_of(const struct sim_net *net, uint32_t ev_value);

/* sim_packet_new allocates a packet of len bytes. */
struct sim_packet *sim_packet_new(size_t len);
/* sim_net_send takes the packet over; pkt, src, dst, meta and bytes are filled in. */
void sim_net_send(struct sim_net *net, struct sim_packet *p);
/* sim_packet_trim cuts a packet to `keep` bytes, at least SIM_TRIM_MIN, and marks it as cut. */
void sim_packet_trim(struct sim_packet *p, enum mt_trim how, size_t keep);
/* sim_packet_corrupt flips one bit; the ICRC no longer matches. */
void sim_packet_corrupt(struct sim_packet *p, size_t bit);

/* sim_net_free_ports: bit p is set if port p of the node has room for n packets of `bytes`. */
uint32_t sim_net_free_ports(const struct sim_net *net, uint32_t node, uint32_t n, uint32_t bytes);
/* sim_net_room_at returns when some full port of the node has room again, SIM_NEVER if none is. */
uint64_t sim_net_room_at(const struct sim_net *net, uint32_t node, uint32_t n, uint32_t bytes);

/* sim_net_at calls run(ctx, arg) at `when`. */
void sim_net_at(struct sim_net *net, uint64_t when, void (*run)(void *ctx, uint64_t arg), void *ctx,
		uint64_t arg);
/* sim_net_again puts an event that has just run back, to run at `when`. */
void sim_net_again(struct sim_net *net, uint64_t when, struct sim_event *event);
/* sim_net_step runs the next event and moves the time to it; there must be one. */
void sim_net_step(struct sim_net *net);

/* sim_log_first .. logged - 1 are the numbers of the lines that are kept. */
uint64_t sim_log_first(const struct sim_net *net);
struct sim_seen *sim_log_line(const struct sim_net *net, uint64_t number);
void sim_log_fate(struct sim_net *net, uint64_t number, enum sim_fate fate);
/* sim_log_print writes the last n lines to standard output, as comments. */
void sim_log_print(const struct sim_net *net, uint64_t n);

#endif
