/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_set.h - what a transport implements to be spoken by the simulated NICs; for mrc/ and roce/.
 *
 * A transport embeds three structs as the first members of its own: ms_nic_set in what it keeps for
 * all hosts, ms_nic_host in what it keeps for one, ms_flow_end in what it keeps for one end of a
 * flow. It is called through ms_nic_ops; in return it reports messages and flows that have passed.
 */
#ifndef SOFTMRC_SIM_NIC_NIC_SET_H
#define SOFTMRC_SIM_NIC_NIC_SET_H

#include "sim/kernel/memory.h"
#include "sim/nic/sim_nic.h"
#include "sim/workload/flow_app.h"

#define MS_PS_PER_S UINT64_C(1000000000000)
/* Seeds of hosts that are next to each other are far apart. */
#define MS_HOST_SEED_STEP UINT64_C(0x9E3779B97F4A7C15)

/* In a host's table of ends: the flow is over, all its messages have passed. */
#define MS_FLOW_OVER ((struct ms_flow_end *)(uintptr_t)1)

/* One end of a flow. */
struct ms_flow_end {
	uint64_t bytes;
	uint64_t message_bytes; /* message k begins at k * message_bytes */
	uint64_t placed_bytes;	/* at the destination */
	const uint32_t *sizes;	/* of a graph's messages; NULL: all alike, but for the last */
	uint32_t flow, slot;
	uint32_t messages;
	uint32_t depth;	 /* messages that may be posted and not passed */
	uint32_t posted; /* messages; at the destination: receives */
	uint32_t passed; /* messages acknowledged, at the destination arrived */
	uint32_t retransmits;
	bool outgoing;
	bool failed;
};

/* What belongs to a worker: no other thread touches it. */
struct ms_nic_worker {
	struct ms_arena arena;
	struct ms_nic_sums sums; /* memory: not kept here */
	bool no_memory;
	char violation[MS_WHY_BYTES];
	uint8_t apart[64]; /* from the next one */
};

struct ms_nic_set;

struct ms_nic_host {
	struct ms_nic_set *set;
	struct ms_nic_worker *worker;
	struct ms_flow_end **ends; /* by slot; NULL: not yet */
	uint32_t number;
	uint32_t n_slots, outgoing; /* slots below `outgoing` are of flows that begin here */
	uint64_t wake_ps;	    /* as asked of the net */
	struct ms_app_host app;
};

struct ms_nic_ops {
	const char *name; /* of the transport, for the checker's messages */
	/* open_host makes a host with ms_nic_host_alloc, when something first happens there. NULL:
	 * no memory. */
	struct ms_nic_host *(*open_host)(struct ms_nic_set *set, struct ms_nic_worker *own,
					 uint32_t number, uint64_t now_ns);
	void (*receive)(struct ms_nic_host *h, struct ms_worker *worker, const struct ms_packet *p,
			uint64_t now_ps);
	/* wake handles the timers that are due and calls ms_app_begin_due. */
	void (*wake)(struct ms_nic_host *h, uint64_t now_ps);
	/* carrier reports a port's carrier, which set->dark has already. NULL: not of interest. */
	void (*carrier)(struct ms_nic_host *h, uint32_t plane, bool up, uint64_t now_ps);
	/* pfc_resumed reports that a port may send data again. NULL: not of interest. */
	void (*pfc_resumed)(struct ms_nic_host *h, struct ms_worker *worker, uint32_t plane);
	/* round follows each of these calls: it sends what may be sent, handles what comes of it
	 * and returns when the host is to be woken next; MS_NEVER: not at all. */
	uint64_t (*round)(struct ms_nic_host *h, struct ms_worker *worker, uint64_t now_ps);
	/* open makes the source's end of a flow and enters it in h->ends; NULL: no memory, which
	 * was reported. */
	struct ms_flow_end *(*open)(struct ms_nic_host *h, uint32_t id, const struct ms_flow *f,
				    uint64_t now_ps);
	/* post posts message k; false: not now. */
	bool (*post)(struct ms_nic_host *h, struct ms_flow_end *e, uint32_t k, uint64_t now_ps);
	/* posted follows one or more posts to an end. NULL: not of interest. */
	void (*posted)(struct ms_nic_host *h, struct ms_flow_end *e, uint64_t now_ps);
	/* close takes back a source's end, all of whose messages were acknowledged. */
	void (*close)(struct ms_nic_host *h, struct ms_flow_end *e);
	/* count returns how many packets the transport counted as sent and as taken. */
	void (*count)(const struct ms_nic_set *set, uint64_t *sent, uint64_t *taken);
	void (*destroy)(struct ms_nic_set *set);
};

/* One transport at all hosts. */
struct ms_nic_set {
	const struct ms_nic_ops *ops;
	struct ms_nics *nics;
	const struct ms_workload *workload;
	uint32_t hosts, planes, workers;
	uint64_t packet_ps; /* to send the longest data packet */
	struct ms_nic_worker *worker;
	struct ms_nic_host **host; /* NULL: nothing has happened there */
	const uint32_t *dark;	   /* of each host: ports without carrier */
	struct ms_app app;
};

/*
 * Where the memory lies that a host's next packets will touch, one cache line for each host: what
 * the fabric says is to come soon can be prefetched without following any pointer. The first piece
 * is the host itself; the others are for the transport to choose.
 */
#define MS_PREFETCH_PIECES 5u
struct ms_nic_prefetch {
	const void *at[MS_PREFETCH_PIECES];
	uint16_t size[MS_PREFETCH_PIECES];
	uint16_t next; /* to be replaced */
};
_Static_assert(sizeof(struct ms_nic_prefetch) <= 64, "one cache line");

/* Of a flow, at its source and at its destination, which may belong to different threads. */
struct ms_source_record {
	uint64_t start_ns, acked_ns;
	uint32_t retransmits;
	uint32_t failed;
};

struct ms_nics {
	const struct ms_workload *workload;
	void *owner;
	uint32_t hosts, planes, threads;
	uint64_t port_bps;
	struct ms_nic_set *set[MS_TRANSPORTS]; /* NULL: no flow uses the transport */
	struct ms_nic_prefetch *prefetch;      /* NULL: no transport fills it in */
	uint32_t *dark;
	struct ms_graph_exec *play[MS_PARTS_MAX]; /* NULL: the part is no graph */
	struct ms_source_record *source;
	uint64_t *end_ns;
};

/*
 * ms_nic_set_init adds a transport to the NICs, which destroy it from then on, also when this
 * fails; longest is the length on the wire of its longest packet. False: no memory.
 */
bool ms_nic_set_init(struct ms_nic_set *set, struct ms_nics *nics, enum ms_transport transport,
		     const struct ms_nic_ops *ops, uint64_t longest);

/*
 * ms_nic_host_alloc makes a host of `size` bytes, which begins with ms_nic_host, zeroed and with
 * its table of ends; `behind` bytes, uninitialized, follow at *extra. NULL: no memory.
 */
struct ms_nic_host *ms_nic_host_alloc(struct ms_nic_set *set, struct ms_nic_worker *own,
				      uint32_t number, size_t size, size_t behind, void **extra);

/* ms_nic_report_violation notes what the checker found; the first of a worker is kept. */
__attribute__((format(printf, 2, 3))) void ms_nic_report_violation(struct ms_nic_worker *own,
								   const char *format, ...);
/* ms_nic_report_no_memory notes that there is none for a flow, which ends the run. */
void ms_nic_report_no_memory(const struct ms_nic_host *h, uint32_t flow);

/* ms_flow_end_init fills in an end of flow `id`, with at most `depth` messages at once. */
void ms_flow_end_init(struct ms_flow_end *e, const struct ms_workload *w, uint32_t id,
		      const struct ms_flow *f, uint32_t depth, bool outgoing);
/* ms_flow_end_message_bytes returns the bytes of message k. */
static inline uint64_t ms_flow_end_message_bytes(const struct ms_flow_end *e, uint32_t k)
{
	if (e->sizes)
		return e->sizes[k];
	return k + 1 < e->messages ? e->message_bytes : e->bytes - e->message_bytes * k;
}

/* As ms_app wants them: ms_nic_begin_flow posts what may be posted of a flow that begins at a host,
 * ms_nic_passed returns how many messages of a flow have passed at its end in a slot. */
void ms_nic_begin_flow(void *host, uint32_t id, uint64_t now_ps);
uint32_t ms_nic_passed(const void *host, uint32_t slot, uint32_t messages);
/* ms_nic_message_acked counts message k at its source, ends or continues the flow, and begins what
 * waited for it. The end may be gone afterwards. */
void ms_nic_message_acked(struct ms_nic_host *h, struct ms_flow_end *e, uint32_t k,
			  uint64_t now_ps);
/* ms_nic_flow_arrived records that the last message of a flow is at its destination. */
void ms_nic_flow_arrived(struct ms_nic_host *h, const struct ms_flow_end *e, uint64_t now_ps);
/* ms_nic_flow_failed records that the transport gave up an end of a flow. */
void ms_nic_flow_failed(struct ms_nic_host *h, struct ms_flow_end *e);

#endif
