/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * worker.h - what the kernel's files share: the state of a net, and of one thread's part of it.
 *
 * Time is cut into windows as long as the smallest latency. What a unit does in a window reaches
 * another unit in a later window at the earliest, so a window is run unit by unit, each with all
 * that comes to it, in its order. What is sent to a unit lies in the sender's worker until its
 * window:
 *
 * 	inbox[slot of the window][unit]	a tail of packets (memory.h), `at` counted from the window
 *
 * A worker writes its own inboxes and reads everybody's; windows are separated by a barrier, so
 * nothing is locked.
 */
#ifndef SOFTMRC_SIM_KERNEL_WORKER_H
#define SOFTMRC_SIM_KERNEL_WORKER_H

#include "fabric/fabric_node.h"
#include "fabric/fabric_path.h"
#include "sim/kernel/common.h"
#include "sim/kernel/memory.h"
#include "sim/kernel/random.h"
#include "sim/kernel/ranks.h"
#include "sim/kernel/sim_net.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Puts what comes to a unit in one window into its order.
 *
 * The keys are spread evenly, being times, so they are dealt into about as many buckets as there
 * are keys and an insertion sort does the rest: O(n), two passes, and the result does not depend
 * on the order in which they came, as keys differ.
 */
/* Something that comes: `when` (upper half, below the span) and a tie-break, and what it is. */
struct ms_key {
	uint64_t key;
	const struct ms_packet *p;
};

/* Buckets are at most this many. */
#define MS_ORDER_BUCKETS 8192u

/*
 * ms_order sorts n keys, all of whose upper halves are below `span` (1 .. 2^32). `other` has room
 * for n keys, `counts` for MS_ORDER_BUCKETS + 1 numbers. Returns where the result is: keys or
 * other.
 */
struct ms_key *ms_order(struct ms_key *keys, struct ms_key *other, uint32_t n, uint64_t span,
			uint32_t *counts);

/*
 * Where threads wait for each other, many thousand times a second.
 *
 * They spin for a moment and then let others run, since a thread may share its CPU.
 */
#define MS_BARRIER_SPINS 4000u

struct ms_barrier {
	_Atomic uint32_t arrived;
	_Atomic uint32_t round;
	uint32_t threads;
};

static inline void ms_barrier_init(struct ms_barrier *b, uint32_t threads)
{
	atomic_init(&b->arrived, 0);
	atomic_init(&b->round, 0);
	b->threads = threads;
}

/* ms_barrier_wait returns when all threads have called it. */
static inline void ms_barrier_wait(struct ms_barrier *b)
{
	uint32_t round = atomic_load_explicit(&b->round, memory_order_relaxed), spins = 0;

	if (b->threads == 1)
		return;
	if (atomic_fetch_add_explicit(&b->arrived, 1, memory_order_acq_rel) + 1 == b->threads) {
		atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);
		atomic_store_explicit(&b->round, round + 1, memory_order_release);
		return;
	}
	while (atomic_load_explicit(&b->round, memory_order_acquire) == round)
		if (++spins > MS_BARRIER_SPINS)
			sched_yield();
}

/*
 * How switches choose among equal-cost uplinks for packets that leave it to them (ECMP), and what
 * they know of dead links.
 *
 * A switch hashes what names a flow with a seed of its own, and the hash chooses one of its
 * uplinks that lead to the destination. A link that loses its carrier stays in the choice until
 * routing has reconverged, a given time later: until then flows that hash to it are lost. Then it
 * is left out wherever it would have to be passed, also far away, and most flows of such a switch
 * change their way, since the hash is spread over fewer uplinks. A link that comes back is used
 * again as long after it came back. Routing hears of carriers only: what is dropped silently it
 * never leaves.
 *
 * What routing knows changes between windows, at the first one that begins at the time or later,
 * and so does not depend on who asks.
 */
struct ms_unit;

/* What routing is going to know. */
struct ms_route_change {
	uint64_t at_ps;
	uint32_t link;
	bool down;
};

struct ms_routing {
	uint16_t *dead; /* by link: times that it is known to be down; NULL: no link ever was */
	uint32_t n_dead;
	MS_GROW(struct ms_route_change) change; /* from `first` on they are to come, by time */
	size_t first;
};

/*
 * ms_routing_add_change notes a fault that is about to happen; faults come in order of time.
 * Between windows, one thread. False: no memory.
 */
bool ms_routing_add_change(struct ms_net *net, const struct ms_fault *fault);
/* ms_routing_apply_changes brings what is known to the window that is about to be run; one
 * thread. */
void ms_routing_apply_changes(struct ms_net *net);
/*
 * ms_ecmp_uplink returns the uplink, from 0, by which a T0, or a T1 of three tiers, sends a packet
 * that has to go up. Where no path is known to be alive, all count as alive.
 */
uint32_t ms_ecmp_uplink(const struct ms_net *net, const struct ms_unit *unit,
			const struct ms_packet *p);

/*
 * Priority flow control: switches that hold back who sends to them instead of dropping.
 *
 * A switch counts, for each link that leads to it, the data bytes that came over it and wait in
 * any of its queues. More than xoff: the other end has to pause its data class, and goes on with
 * control packets only. No more than xon: it resumes. What still comes after a pause was sent
 * needs headroom; what comes beyond that is dropped. With PFC that is the only limit of data
 * queues. Hosts take all that comes and never send a pause, but obey.
 *
 * So a packet whose port is free waits behind one whose port is not (head-of-line blocking), and
 * pauses spread from switch to switch towards the senders.
 *
 * Counts are looked at when a window is over: queues are exact then, and a switch needs time to
 * act. A pause goes out behind the packet that is being sent on the way back, takes the time of 84
 * bytes, and is never lost; it holds until it is taken back.
 */
struct ms_unit;

/* What the body of a notice of PFC says: the port that sends on the link, and whether it pauses. */
enum {
	MS_PFC_BODY_PORT,
	MS_PFC_BODY_PAUSE,
};

/* Of a link, at the end that receives. */
struct ms_ingress {
	uint32_t bytes; /* that came over it and wait */
	bool asked;	/* a pause was sent to the other end */
	bool listed;	/* is to be looked at when the window is over */
	uint64_t said_ps;
};

/* Of a link, at the end that sends. */
struct ms_paused {
	uint64_t since_ps; /* while it is paused */
	uint64_t all_ps;   /* over all pauses that are over */
	uint32_t pauses;
};

/* Of a net; NULLs without PFC. */
struct ms_pfc {
	struct ms_ingress *ingress; /* by the port that sends on the link */
	struct ms_paused *paused;   /* likewise */
	uint32_t xon_bytes, limit_bytes;
};

/* ms_pfc_open allocates what a net with cfg.pfc.on needs; false: no memory. */
bool ms_pfc_open(struct ms_net *net);
void ms_pfc_close(struct ms_net *net);
/* ms_pfc_has_room says whether a data packet that has to wait at a switch finds room. */
bool ms_pfc_has_room(const struct ms_worker *worker, const struct ms_packet *p);
/* ms_pfc_count_enqueue and ms_pfc_count_dequeue count a data packet that begins and ends to wait at
 * a switch. */
void ms_pfc_count_enqueue(struct ms_worker *worker, const struct ms_packet *p);
void ms_pfc_count_dequeue(struct ms_worker *worker, const struct ms_packet *p);
/* ms_pfc_update sends pauses, or takes them back, when a switch has come to the window's end. */
void ms_pfc_update(struct ms_worker *worker, struct ms_unit *unit);
/* ms_pfc_paused_ps returns how long a port has been paused up to now_ps. */
uint64_t ms_pfc_paused_ps(const struct ms_net *net, uint32_t port, uint64_t now_ps);

/*
 * How the fabric is cut into pieces that are run one at a time, and its ports numbered.
 *
 * A unit is a switch or a group of neighbouring hosts. In one window of time units know nothing of
 * each other, so each is run through a whole window at once and what it touches stays in the
 * cache. The ports that a unit sends from lie side by side:
 *
 * 	host * planes + plane						NICs, host by host
 * 	n_hosts * planes + plane by plane, T0s, T1s, T2s: downlinks, uplinks	switches
 *
 * (Links as fabric/link.h numbers them would put the 512 ports of a large T1 on 512 pages.)
 */
/* A group holds at most this many hosts; one bit for each. */
#define MS_GROUP_LOG_MAX 6u

struct ms_unit {
	uint32_t index;	     /* of its tier in its plane; of a group: its first host */
	uint32_t first_port; /* that it sends from */
	uint32_t downlinks;  /* ports that lead down, which come first */
	uint32_t ports;
	uint32_t down_unit, down_step; /* where downlink i leads: down_unit + i * down_step */
	uint32_t up_unit;	       /* where uplink i leads: up_unit + i */
	uint32_t first_t0;	       /* of a T1: the T0 below downlink 0 */
	uint32_t backlog;	       /* ports with waiting packets */
	uint32_t first_word;	       /* of the bits that say which, one for each port */
	uint16_t worker;	       /* of all ranks */
	uint8_t tier;		       /* enum mf_tier; MF_HOST: a group */
	uint8_t plane;
	uint8_t up_kind, down_kind; /* enum ms_port_kind */
	bool faulty;		    /* a link that leads here is or was at fault */
};

struct ms_units {
	struct mf_topology t;
	uint32_t group_log;   /* 2^this hosts a group */
	uint32_t n_groups, n; /* n: groups and switches */
	uint32_t n_ports;
	uint32_t first_switch_port, plane_ports, t1_ports_at,
		t2_ports_at;		       /* the latter in a plane */
	uint32_t t0_ports, t1_ports, t2_ports; /* of each switch */
	uint32_t workers;
};

/* ms_units_init numbers the ports and units of a topology that `workers` threads are to run. */
void ms_units_init(struct ms_units *u, const struct mf_topology *t, uint32_t workers);
/* ms_units_fill describes unit `number`, with the worker that runs it. */
void ms_units_fill(const struct ms_units *u, uint32_t number, struct ms_unit *unit);
/* ms_units_port returns the port that sends on a link. */
uint32_t ms_units_port(const struct ms_units *u, uint32_t link);
/* ms_units_link returns the link of a port; the inverse of ms_units_port. */
uint32_t ms_units_link(const struct ms_units *u, uint32_t port);
/* ms_units_from and ms_units_to return the units at the two ends of a link. */
uint32_t ms_units_from(const struct ms_units *u, uint32_t link);
uint32_t ms_units_to(const struct ms_units *u, uint32_t link);

static inline uint32_t ms_units_of_host(const struct ms_units *u, uint32_t host)
{
	return host >> u->group_log;
}

/* ms_unit_peer returns the unit that a port leads to; port is one of the unit's, from its first. */
static inline uint32_t ms_unit_peer(const struct ms_units *u, const struct ms_unit *unit,
				    uint32_t port)
{
	if (unit->tier == MF_HOST) {
		uint32_t host = unit->index + mf_div_quotient(u->t.by_planes, port);
		uint32_t plane = mf_div_rest(u->t.by_planes, port);

		return u->n_groups + plane * u->t.plane_switches + mf_host_t0(&u->t, host);
	}
	if (port >= unit->downlinks)
		return unit->up_unit + (port - unit->downlinks);
	if (unit->tier == MF_T0)
		return (unit->index * u->t.cfg.hosts_per_t0 + port) >> u->group_log;
	return unit->down_unit + port * unit->down_step;
}

/* No window is longer than this, so that `when` of a group of hosts fits into 32 bits. */
#define MS_WINDOW_MAX_PS (UINT64_C(1) << 26)
/* Slots of the wheel of wake-ups. What is farther off is looked at again when the slot comes. */
#define MS_WHEEL_SLOTS 1024u
/* Inboxes reach at most this many windows ahead; what is farther off waits in a list of its own. */
#define MS_SLOTS_MAX 64u
/* A switch has at most so many ports; the hosts of a group have fewer. */
#define MS_UNIT_PORTS_MAX 8192u
/* Fraction bits of the time that a byte takes. */
#define MS_RATE_SHIFT 20u

enum ms_port_flags {
	MS_PORT_BACKLOG = 1u << 0, /* among its unit's ports with waiting packets */
	MS_PORT_FAULTY = 1u << 1,  /* look into the table of faults */
	MS_PORT_TAPPED = 1u << 2,
	MS_PORT_PAUSED = 1u << 3, /* data must wait, by PFC */
};

enum ms_class {
	MS_DATA,
	MS_CONTROL,
	MS_CLASSES,
};

/* The port that sends on a link: one cache line; all zero when nothing ever happened to it. */
struct ms_port {
	uint64_t free_ps;	   /* the last bit of what is being sent leaves */
	uint32_t head[MS_CLASSES]; /* waiting packets: numbers in the worker's slab */
	uint32_t tail[MS_CLASSES];
	uint32_t bytes[MS_CLASSES];
	uint32_t flags;
	uint64_t sent_bytes;
	uint32_t ecn_marks, trims, drops;
	uint32_t unused;
};

static_assert(sizeof(struct ms_port) == 64, "a port is one cache line");

/* What ports of a kind have in common. */
struct ms_wire {
	uint64_t rate_q; /* ps a byte << MS_RATE_SHIFT */
	uint64_t hop_ps; /* from the last bit sent to the next decision: latency and the switch's */
	struct ms_queue_cfg q;
	uint64_t ecn_scale; /* probability in 2^-32 for each byte above ecn_min, << 16 */
};

/* What is wrong with a link, seen from one of its ends. */
struct ms_link_fault {
	uint32_t key;  /* port * 2, + 1 for the receiving end; + 1 of that: 0 is an empty place */
	uint32_t down; /* times that it went down and has not come up */
	uint32_t cuts; /* times that it went down */
	uint32_t loss, corrupt, rate; /* parts per million */
	uint32_t blackhole;
};

/* Links at fault, a hash table of one worker; entries stay once they are there. */
struct ms_fault_table {
	struct ms_link_fault *entry;
	uint32_t used, room; /* room: a power of two, or 0 */
};

/* A packet that comes more windows ahead than there are slots. */
struct ms_far_packet {
	uint64_t window;
	uint32_t unit;
	struct ms_packet p;
};

/* A packet for a unit of another rank, as it crosses. */
struct ms_remote_packet {
	struct ms_packet p;
	uint32_t unit;
	uint32_t ahead; /* windows after the one in which it was sent */
};

struct ms_remote_packets {
	MS_GROW(struct ms_remote_packet) list;
};

/* The part of a net that one thread runs. Workers share no cache line. */
struct ms_worker {
	struct ms_net *net;
	uint32_t number; /* of this rank */
	uint32_t global; /* of all ranks */

	/* The window that is being run, and in it the host that is being called. */
	uint64_t window, start_ps, end_ps;
	uint32_t slot; /* of the window that was begun last */
	uint32_t host;
	uint64_t now_ps;
	struct ms_unit *unit;

	ms_tail *inbox;	 /* [slot * units + unit] */
	uint64_t *marks; /* [slot][unit / 64]: units to be run then, this worker's or another's */
	uint32_t marked[MS_SLOTS_MAX]; /* how often a slot was marked; 0: it has no marks */
	uint64_t *now_marks;	       /* [unit / 64]: own units to be run in this window */
	uint64_t *mine;		       /* [unit / 64]: units that this worker runs */
	struct ms_chunks chunks;
	/* Chunks of other workers that were read, by parity of the round: taken back in the
	 * next. */
	struct ms_chunk *returned[2][MS_THREADS_MAX];
	struct ms_slab slab;
	MS_GROW(struct ms_far_packet) far;
	struct ms_remote_packets *remote_packets; /* for each rank */
	MS_GROW(uint32_t) ingresses; /* links that PFC is to look at, of the unit that is run */

	ms_tail wheel[MS_WHEEL_SLOTS]; /* hosts */
	uint64_t wheel_used[MS_WHEEL_SLOTS / 64];
	uint64_t *due; /* for each group of hosts of this rank: a bit for each host to be woken */

	struct ms_fault_table faults;
	struct ms_key *keys, *keys_other;
	uint32_t keys_room;
	uint32_t counts[MS_ORDER_BUCKETS + 1];

	struct ms_counters c;
	uint64_t
		next_window; /* the earliest in which something is to be done, as far as it knows */
	struct ms_packet sink; /* what is written when memory has run out */
	uint8_t pad[64];
};

/* A fault that is to come. */
struct ms_pending_fault {
	struct ms_heap_key when; /* ps; in the order in which they were added */
	struct ms_fault f;
};

/* What a packet without length says, in `head`. */
enum ms_notice {
	MS_NOTICE_FAULT,
	MS_NOTICE_PFC,
};

/* What threads wait for before they begin. */
enum ms_gate {
	MS_GATE_CLOSED,
	MS_GATE_OPEN,
	MS_GATE_ABORTED,
};

struct ms_net {
	struct ms_net_cfg cfg;
	struct ms_units units;
	struct ms_unit *unit;
	struct ms_port *port;
	uint64_t *backlog; /* a bit for each port, from the unit's first word: packets wait */
	uint32_t backlog_words;
	struct ms_wire wire[MS_PORT_KINDS];
	uint64_t *wake_ps;     /* [host] + 1, 0: never; so that no host costs anything at first */
	uint64_t *wake_window; /* [host] + 1: for which window it stands in the wheel; 0: none */

	uint64_t window_ps;
	struct mf_div by_window;
	uint32_t slots; /* a power of two */
	uint32_t mark_words;

	struct ms_worker **worker;
	uint32_t threads;
	uint32_t rank, ranks;
	uint32_t first_worker; /* of this rank, of all workers */

	uint64_t window; /* the next to be run */
	uint64_t round;	 /* windows that were run, or are */
	uint64_t woken;	 /* the earliest window that ms_net_wake asked for, between windows */
	uint64_t next_edge_ps;
	MS_GROW(struct ms_pending_fault) faults; /* a heap */
	uint64_t faults_added;
	MS_GROW(struct ms_fault) now_faults; /* of the window that is about to be run */

	struct ms_routing routing;
	struct ms_pfc pfc;

	struct ms_barrier barrier;
	_Atomic uint32_t gate; /* enum ms_gate */
	_Atomic bool no_memory;
	bool ranks_lost;
	bool stop, over;
	uint64_t until_ps;
	enum ms_net_end end;
};

/* ---- calendar.c: inboxes, the list of what is far off, remote_packets ---- */

/*
 * ms_schedule_arrival returns the place for a packet that comes to a unit at at_ps, after the end
 * of the window that is being run; `at` is filled in, the rest is the caller's to write.
 */
struct ms_packet *ms_schedule_arrival(struct ms_worker *worker, uint32_t unit, uint64_t at_ps);
/* ms_schedule_arrival_at is ms_schedule_arrival for a window and a time in it that are known. */
struct ms_packet *ms_schedule_arrival_at(struct ms_worker *worker, uint32_t unit, uint64_t window,
					 uint32_t at);
/* ms_mark_unit has a unit run in a window, whether something comes to it or not. */
void ms_mark_unit(struct ms_worker *worker, uint32_t unit, uint64_t window);
/* ms_gather_arrivals collects what comes to a unit in this window from all workers; returns how
 * much. */
uint32_t ms_gather_arrivals(struct ms_worker *worker, uint32_t unit);
/* ms_prefetch_arrivals asks for what comes to a unit that is gathered soon. */
void ms_prefetch_arrivals(const struct ms_worker *worker, uint32_t unit);
/* ms_release_arrivals gives back the chunks that ms_gather_arrivals has read. */
void ms_release_arrivals(struct ms_worker *worker, uint32_t unit);
/* ms_calendar_begin takes back chunks that others have read and brings near what was far. */
void ms_calendar_begin(struct ms_worker *worker);
/* ms_calendar_end clears the slot of the window, when no worker reads it any more. */
void ms_calendar_end(struct ms_worker *worker);
/* ms_calendar_next returns the earliest window, after this one, with something to do. */
uint64_t ms_calendar_next(const struct ms_worker *worker);

/* ---- wake_wheel.c: wake-ups ---- */

/* ms_wheel_insert has a host looked at when its wake-up is due. */
void ms_wheel_insert(struct ms_worker *worker, uint32_t host);
/* ms_wheel_advance notes in worker->due, and marks the groups of, hosts to be woken in this
 * window. */
void ms_wheel_advance(struct ms_worker *worker);
/* ms_wheel_next returns the next window with an entry; MS_NEVER: none. */
uint64_t ms_wheel_next(const struct ms_worker *worker);

/* ---- port_queue.c: ports ---- */

/* ms_port_enqueue gives a port, one of the unit's from its first, a packet at t_ps. *p is
 * copied. */
void ms_port_enqueue(struct ms_worker *worker, struct ms_unit *unit, uint32_t port, uint64_t t_ps,
		     const struct ms_packet *p);
/* ms_port_advance sends what may begin to be sent at until_ps or before. */
void ms_port_advance(struct ms_worker *worker, struct ms_unit *unit, uint32_t port,
		     uint64_t until_ps);
/* ms_port_flush drops all that waits. */
void ms_port_flush(struct ms_worker *worker, struct ms_unit *unit, uint32_t port);
/* ms_port_prefetch asks for the memory of a port, and, closer to the time, of what waits in it. */
void ms_port_prefetch(const struct ms_worker *worker, const struct ms_unit *unit, uint32_t port);
void ms_port_prefetch_queue(const struct ms_worker *worker, const struct ms_unit *unit,
			    uint32_t port);
/* ms_backlog_advance brings the unit's ports to the end of the window. */
void ms_backlog_advance(struct ms_worker *worker, struct ms_unit *unit);

/* ---- sim_switch.c, host_group.c: one unit in one window ---- */

void ms_switch_run(struct ms_worker *worker, uint32_t unit);
void ms_group_run(struct ms_worker *worker, uint32_t unit);

/* ---- fault_apply.c ---- */

/* ms_faults_begin finds the faults of the window that is about to be run; one thread. */
void ms_faults_begin(struct ms_net *net);
/* ms_faults_post sends the window's faults to the worker's units. */
void ms_faults_post(struct ms_worker *worker);
/* ms_notice_apply does what a packet without length (`bytes` 0) says: a fault, or PFC. */
void ms_notice_apply(struct ms_worker *worker, struct ms_unit *unit, uint64_t t_ps,
		     const struct ms_packet *p);

/* ---- fault_table.c: what is wrong with links ---- */

/* ms_link_fault_find returns the state of a link's end; NULL: nothing is wrong with it. */
struct ms_link_fault *ms_link_fault_find(const struct ms_fault_table *table, uint32_t port,
					 bool receiving);
/* ms_link_fault_get makes the state of a link's end if it is new; NULL: no memory. */
struct ms_link_fault *ms_link_fault_get(struct ms_worker *worker, uint32_t port, bool receiving);
/* ms_fault_cut_packet says whether a packet that comes was on the wire when its link was cut. */
bool ms_fault_cut_packet(const struct ms_worker *worker, const struct ms_packet *p);

static inline uint64_t ms_wire_time(const struct ms_wire *w, uint32_t bytes)
{
	return bytes * w->rate_q >> MS_RATE_SHIFT;
}

/* ms_hash_arrival adds the arrival of a packet at a node to the hash of all events. */
static inline void ms_hash_arrival(struct ms_worker *worker, uint64_t t_ps,
				   const struct ms_packet *p)
{
	uint64_t what = (uint64_t)p->port << 32 ^ (uint64_t)p->bytes << 16 ^ p->head ^
			(uint64_t)p->cls << 8 ^ (uint64_t)p->ce << 12 ^ p->body[0];

	worker->c.hash += ms_mix(t_ps ^ what * UINT64_C(0x9E3779B97F4A7C15));
}

/* ms_wire_of returns what is common to the kind of a unit's port. */
static inline const struct ms_wire *ms_wire_of(const struct ms_net *net, const struct ms_unit *unit,
					       uint32_t port)
{
	return &net->wire[port < unit->downlinks ? unit->down_kind : unit->up_kind];
}

#endif
