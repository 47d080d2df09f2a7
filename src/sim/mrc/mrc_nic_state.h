/* SPDX-License-Identifier: BSD-2-Clause */
/* nic_state.h - what the NICs consist of; for nic*.c only. */
#ifndef SOFTMRC_SIM_MRC_MRC_NIC_STATE_H
#define SOFTMRC_SIM_MRC_MRC_NIC_STATE_H

#include <string.h>

#include "core/engine.h"
#include "sim/kernel/arena.h"
#include "sim/mrc/mrc_nic.h"
#include "sim/workload/flow_app.h"

/* QPNs are this plus the slot: above those that IBTA keeps, whatever the size of the table. */
#define MS_QPN_BASE (UINT32_C(1) << 20)
#define MS_SLOTS_MAX MS_QPN_BASE
/* In a host's slots: the connection is over, all its messages have passed. */
#define MS_CONN_DONE ((struct ms_conn *)(uintptr_t)1)

/* One end of a flow. */
struct ms_conn {
	struct mt_qp *qp;
	uint64_t *placed; /* at the destination: a bit for each packet; NULL elsewhere */
	uint64_t placed_bytes;
	uint64_t bytes;
	uint64_t message_bytes; /* of a graph: of the longest; message k has sizes[k] */
	uint64_t region_bytes;	/* the memory region: message k begins at k * message_bytes */
	const uint32_t *sizes;	/* of a graph's messages; NULL: all alike, but for the last */
	uint32_t flow, slot;
	uint32_t messages;
	uint32_t per_message; /* packets */
	uint32_t posted;      /* messages; at the destination: receives */
	uint32_t passed;      /* messages acknowledged, at the destination arrived */
	uint32_t rkey;
	uint32_t retransmits;
	struct ms_conn *next; /* that lingers */
	uint64_t heard_ns;    /* while it lingers: when the last packet came */
	uint16_t depth;
	bool outgoing;
	bool lingers;
	bool failed;
};

struct ms_host {
	struct mt_engine *engine;
	struct ms_nics *nics;
	struct ms_conn **conns; /* by slot; NULL: not yet */
	struct ms_worker_state *worker;
	uint32_t number;
	uint32_t n_slots, outgoing;
	uint32_t accepted, most_accepted; /* connections that others opened; see reserve */
	uint64_t wake_ps;		  /* as asked of the net */
	uint64_t deadline_ps;
	struct ms_app_host app;
	struct ms_conn *linger_first, *linger_last;
	uint64_t free_ps[MF_PLANES_MAX]; /* when each port will have sent what it was given */
};

/* What belongs to a worker: nobody else touches it. */
struct ms_worker_state {
	struct ms_arena arena;
	struct ms_nic_sums sums; /* core, memory: not kept here */
	bool no_memory;
	char violation[MS_WHY_BYTES];
	uint8_t apart[64]; /* from the next one */
};

/* Of a flow, at its source and at its destination, which may belong to different threads. */
struct ms_source_record {
	uint64_t start_ns, acked_ns;
	uint32_t retransmits;
	uint32_t failed;
};

/*
 * Where the memory lies that a host's next packets will touch, one cache line for each host: what
 * the fabric says is to come soon can be asked for without following any pointer. The first piece
 * is the host with its engine; then two for each of two connections.
 */
#define MS_AHEAD_CONNS 2u
struct ms_ahead {
	const void *at[1 + MS_AHEAD_CONNS * MT_QP_PIECES];
	uint16_t size[1 + MS_AHEAD_CONNS * MT_QP_PIECES];
	uint16_t turn;
};
_Static_assert(sizeof(struct ms_ahead) <= 64, "one cache line");

struct ms_nics {
	struct ms_nic_cfg cfg;
	const struct ms_workload *workload;
	uint32_t hosts, planes, n_evs;
	uint32_t packet_ps; /* to send the longest data packet */
	uint32_t workers;
	struct ms_worker_state *worker;
	struct mt_ev *ev_sets; /* of which each host has one */
	uint32_t n_ev_sets;
	struct ms_host **host; /* NULL: nothing has happened there */
	struct ms_ahead *ahead;
	uint32_t *dark; /* of each host: ports without carrier */
	struct ms_app app;
	struct ms_graph_exec
		*play[MS_PARTS_MAX]; /* of all graphs, RoCE's too; NULL: the part is none */
	struct ms_source_record *source;
	uint64_t *end_ns;
};

/* rd_gid of a host: its number in the last four bytes. */
static inline struct rd_gid ms_addr_of(uint32_t host)
{
	struct rd_gid a = {{0xFD}};

	memcpy(&a.b[12], &host, sizeof(host));
	return a;
}

static inline uint32_t ms_addr_host(const struct rd_gid *a)
{
	uint32_t host;

	memcpy(&host, &a->b[12], sizeof(host));
	return host;
}

/* ms_nic_report_violation notes what the checker found; the first of a worker is kept. */
__attribute__((format(printf, 2, 3))) void ms_nic_report_violation(struct ms_worker_state *worker,
								   const char *format, ...);

/* ms_nic_host makes a host with its engine, or returns it; NULL: no memory. */
struct ms_host *ms_nic_host(struct ms_nics *nics, struct ms_worker_state *worker, uint32_t number,
			    uint64_t now_ns);
/* ms_nic_set_prefetch notes where a connection's memory lies, or that it is gone. */
void ms_nic_set_prefetch(struct ms_host *h, const struct ms_conn *c, bool gone);
/* ms_nic_grow_engine gives an engine the memory that it found missing; false: there is none. */
bool ms_nic_grow_engine(struct ms_host *h);
/* ms_nic_evs returns how many EVs of a plane a configuration gives each host. */
uint32_t ms_nic_evs(const struct ms_nic_cfg *cfg);
/*
 * ms_nic_window returns the window, in units of 128 PSNs, of a connection that has at most so many
 * packets to send: no larger than these, or than three of the largest congestion windows, fill.
 */
uint8_t ms_nic_window(const struct ms_nic_cfg *cfg, uint64_t packets);
/* ms_nic_engine_cfg fills in the configuration of an engine with so many slots. */
void ms_nic_engine_cfg(const struct ms_nic_cfg *cfg, uint32_t slots, uint32_t incoming,
		       struct mt_engine_cfg *engine);

/* As ms_app wants them: ms_conn_progress returns how many messages of a flow have passed at an end
 * that is here, ms_conn_begin posts what may be posted of an outgoing flow. */
uint32_t ms_conn_progress(const void *host, uint32_t slot, uint32_t messages);
void ms_conn_begin(void *host, uint32_t id, uint64_t now_ps);
/* ms_conn_accept makes the destination's end of a flow whose first packet has come. */
void ms_conn_accept(struct ms_host *h, uint32_t slot, uint64_t now_ns);
/* ms_conn_event takes an event of the engine. */
void ms_conn_event(struct ms_host *h, const struct mt_event *ev, uint64_t now_ps);
/* ms_conn_reap_idle takes down the connections on which nothing came for long enough. */
void ms_conn_reap_idle(struct ms_host *h, uint64_t now_ns);
/* ms_conn_linger_ns returns when it is to be called again; UINT64_MAX: never. */
uint64_t ms_conn_linger_ns(const struct ms_host *h);
/* ms_conn_place is the core's placement: it marks bytes as placed and complains of any other. */
bool ms_conn_place(void *ctx, void *mr_user, uint64_t offset, const void *src, uint32_t len);
/* ms_conn_message_bytes returns the bytes of message k. */
static inline uint64_t ms_conn_message_bytes(const struct ms_conn *c, uint32_t k)
{
	if (c->sizes)
		return c->sizes[k];
	return k + 1 < c->messages ? c->message_bytes : c->bytes - c->message_bytes * k;
}

/* ms_conn_message_is_complete says whether all of message k has been placed. */
bool ms_conn_message_is_complete(const struct ms_conn *c, uint32_t k, uint32_t mtu);

#endif
