/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_net.h - the network between engines, in virtual time.
 *
 * Nodes have the same number of ports; port p of every node leads into plane p. Between two nodes
 * each plane has the same number of paths each way, and the EV value of a packet picks one. A path
 * is one direction: it may be slow, jittery, lossy, dead, marking or trimming without its return
 * path noticing. A packet passes, in this order:
 *
 *	filter     a hook of the test: sees, changes, delays or drops it
 *	egress     the sender's port, when it has a rate: data and probes wait for their turn,
 *	           control does not
 *	path       dead? lost? corrupted? trimmed? marked? doubled? held back? A path may have a
 *	           queue of its own
 *	last hop   the queue in front of the receiver's port, when that has a rate
 *
 * A queue marks data above one delay and above another trims or drops it. Time is a
 * heap of events; nothing here looks at a clock, and randomness comes from the seed alone.
 */
#ifndef SUPPORT_ENGINE_NET_H
#define SUPPORT_ENGINE_NET_H

#include "core/types.h"
#include "support/rng.h"

#define NET_NEVER UINT64_MAX
#define NET_NODES_MAX 72u
#define NET_NO_NODE UINT32_MAX
/* BTH and METH: the least that a switch leaves of a trimmed packet. */
#define NET_TRIM_MIN 16u

struct engine_net;

/* What will happen is freed by what it does, or when the network is closed. */
struct net_event {
	void (*run)(struct engine_net *net, struct net_event *event);
};

struct net_heap_item {
	uint64_t when;
	uint64_t order;
	struct net_event *event;
};

/*
 * Events, earliest first. Those due at the same time come out in the order in which they went in,
 * which makes a run repeatable.
 */
struct net_heap {
	struct net_heap_item *items;
	size_t n, room;
	uint64_t pushed;
};

enum net_fate {
	NET_FLYING,
	NET_ARRIVED,
	NET_LOST,
	NET_BLACKHOLED,
	NET_FILTERED,
	NET_OVERFLOWED, /* a queue was full */
	NET_UNHEARD,	/* the receiver was stopped and its buffer gone */
};

/* A packet in flight. `bytes` is what follows the UDP header. */
struct net_packet {
	struct net_event event;
	uint32_t src, dst;
	struct mt_rx_meta meta;
	struct mw_packet pkt; /* as it was sent */
	uint8_t tclass;
	bool data;		 /* one of the write opcodes: may be marked and trimmed */
	bool waits;		 /* not of the control class: waits in queues */
	uint64_t sent_ns;	 /* when it was handed to the network */
	uint64_t extra_ns;	 /* a filter may hold it up */
	bool in_buffer;		 /* it has arrived and waits for a slow receiver */
	uint64_t log_number;	 /* of its line in the log */
	void *flow;		 /* data: the flow it belongs to; NULL for what a test made up */
	uint32_t life;		 /* of that flow's connection, when it was sent */
	struct net_packet *next; /* in a receiver's queue */
	size_t headers_len, len;
	uint8_t bytes[];
};

/* A FIFO with a rate. A rate of 0 is endless and has no queue. */
struct net_queue {
	uint64_t bps;
	uint64_t ecn_ns;  /* packets that would wait longer are marked; 0: never */
	uint64_t full_ns; /* longer: trimmed or dropped; 0: never */
	bool trims;
	uint64_t busy_until_ns;
};

struct net_path {
	uint64_t latency_ns, jitter_ns;
	uint32_t loss_ppm, corrupt_ppm, dup_ppm, ecn_ppm;
	uint32_t copies;     /* of a packet that is doubled; 0 stands for 1 */
	uint32_t lost_above; /* packets of more bytes than this never arrive; 0: any pass */
	uint32_t trim_ppm, trim_lasthop_ppm;
	uint32_t reorder_ppm; /* of the packets are held back by up to reorder_ns */
	uint64_t reorder_ns;
	bool dead;
	struct net_queue queue;
};

/* One line of the log: a packet as it was sent, and what became of it. */
struct net_seen {
	uint64_t at_ns;
	uint32_t src, dst;
	uint32_t ev;
	uint8_t port, tclass, trim, fate;
	bool ce;
	struct mw_packet pkt;
};

struct net_counts {
	uint64_t sent, arrived, lost, corrupted, trimmed, doubled, marked, held;
};

struct engine_net_cfg {
	uint64_t seed;
	uint32_t n_nodes, n_planes, n_paths; /* paths per plane */
	uint32_t nodes_per_host; /* which have their paths to other hosts in common; 0: 1 */
	uint32_t ev_base;	 /* EV value v takes path (v - ev_base) mod n_paths */
	struct net_path path;	 /* what every path is at first */
	size_t log_room;	 /* lines kept; a power of two */
};

struct engine_net {
	struct engine_net_cfg cfg;
	uint64_t now_ns;
	struct net_heap heap;
	struct rng rng;
	struct net_path *paths[NET_NODES_MAX][NET_NODES_MAX];
	struct net_queue egress[NET_NODES_MAX][MT_PORTS_MAX];
	struct net_queue lasthop[NET_NODES_MAX][MT_PORTS_MAX];
	uint64_t egress_room_ns; /* how much may wait in an egress port */
	struct net_counts counts;
	struct net_seen *log;
	uint64_t logged;
	/* The receiver's side; it owns the packet from then on. */
	void (*deliver)(void *ctx, struct net_packet *p);
	void *deliver_ctx;
	/* Sees every packet first; false drops it. May be NULL. */
	bool (*filter)(void *ctx, struct net_packet *p);
	void *filter_ctx;
};

void engine_net_init(struct engine_net *net, const struct engine_net_cfg *cfg);
void engine_net_fini(struct engine_net *net);

/* engine_net_host returns the first node of a node's host. */
uint32_t engine_net_host(const struct engine_net *net, uint32_t node);
/* engine_net_path returns one path from src to dst. */
struct net_path *engine_net_path(struct engine_net *net, uint32_t src, uint32_t dst, uint32_t plane,
				 uint32_t path);
/* engine_net_path_of returns the number, within its plane, of the path that an EV value takes. */
uint32_t engine_net_path_of(const struct engine_net *net, uint32_t ev_value);

/* net_packet_new allocates a packet of len bytes. */
struct net_packet *net_packet_new(size_t len);
/* engine_net_send takes the packet over; pkt, src, dst, meta and bytes are filled in. */
void engine_net_send(struct engine_net *net, struct net_packet *p);
/* net_packet_trim cuts a packet to `keep` bytes, at least NET_TRIM_MIN, and marks it as cut. */
void net_packet_trim(struct net_packet *p, enum mt_trim how, size_t keep);
/* net_packet_corrupt flips one bit; the ICRC no longer matches. */
void net_packet_corrupt(struct net_packet *p, size_t bit);

/* engine_net_free_ports: bit p is set if port p of the node has room for n packets of `bytes`. */
uint32_t engine_net_free_ports(const struct engine_net *net, uint32_t node, uint32_t n,
			       uint32_t bytes);
/* engine_net_room_at returns when a full port has room again; NET_NEVER: none is full. */
uint64_t engine_net_room_at(const struct engine_net *net, uint32_t node, uint32_t n,
			    uint32_t bytes);

/* engine_net_at calls run(ctx, arg) at `when`. */
void engine_net_at(struct engine_net *net, uint64_t when, void (*run)(void *ctx, uint64_t arg),
		   void *ctx, uint64_t arg);
/* engine_net_again puts an event that has just run back, to run at `when`. */
void engine_net_again(struct engine_net *net, uint64_t when, struct net_event *event);
/* engine_net_next returns when the next event is due, NET_NEVER when there is none. */
uint64_t engine_net_next(const struct engine_net *net);
/* engine_net_step runs the next event and moves the time to it; there must be one. */
void engine_net_step(struct engine_net *net);

/* net_log_first .. logged - 1 are the numbers of the lines that are kept. */
uint64_t net_log_first(const struct engine_net *net);
struct net_seen *net_log_line(const struct engine_net *net, uint64_t number);
void net_log_fate(struct engine_net *net, uint64_t number, enum net_fate fate);
/* net_log_print writes the last n lines to standard output, as comments. */
void net_log_print(const struct engine_net *net, uint64_t n);

#endif
