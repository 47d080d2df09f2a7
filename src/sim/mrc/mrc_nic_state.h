/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc_nic_state.h - what MRC keeps of hosts and connections; for mrc_nic*.c only. */
#ifndef SOFTMRC_SIM_MRC_MRC_NIC_STATE_H
#define SOFTMRC_SIM_MRC_MRC_NIC_STATE_H

#include "core/engine.h"
#include "core/types.h"
#include "sim/kernel/sim_net.h"
#include "sim/mrc/mrc_nic.h"
#include "sim/nic/nic_set.h"

#include <string.h>

/*
 * An MRC packet in the record that travels through the fabric, and back.
 *
 * The record has 42 bytes for the protocol, the longest MRC headers have 48. What the core says in
 * two places is carried once: a SACK's PSN is its cack_psn. Everything else that any packet of the
 * core may say is kept bit for bit; what no packet says (reserved bits, another version) is not.
 */
/*
 * What a frame costs on the wire in addition to MRC's headers and payload: preamble and gap (20),
 * Ethernet and its checksum (18), outer and inner IPv6 (80), UDP (8), ICRC (4).
 * REQ(wire.overhead.srv6)
 */
#define MS_FRAME_BYTES 130u

/* ms_frame_bytes returns the bytes of a packet's MRC headers, payload and pad. */
uint32_t ms_frame_bytes(const struct mw_packet *pkt);
/*
 * ms_frame_pack writes what a packet says into head and body of *to; the other fields are the
 * caller's. The packet is one that the core made (asserted).
 */
void ms_frame_pack(const struct mw_packet *pkt, struct ms_packet *to);
/* ms_frame_unpack is the way back. */
void ms_frame_unpack(const struct ms_packet *from, struct mw_packet *pkt);
/* ms_frame_dqp returns the destination QPN without unpacking the rest. */
static inline uint32_t ms_frame_dqp(const struct ms_packet *p)
{
	return (uint32_t)p->body[0] & MW_QPN_MAX;
}

/* QPNs are this plus the slot: above those that IBTA keeps, whatever the size of the table. */
#define MS_QPN_BASE (UINT32_C(1) << 20)
#define MS_SLOTS_MAX MS_QPN_BASE

/* One end of a flow. */
struct ms_conn {
	struct ms_flow_end end;
	struct mt_qp *qp;
	uint64_t *placed;      /* at the destination: a bit for each packet; NULL elsewhere */
	uint64_t region_bytes; /* the memory region: message k begins at k * message_bytes */
	uint32_t per_message;  /* packets */
	uint32_t rkey;
	struct ms_conn *next; /* that lingers */
	uint64_t heard_ns;    /* while it lingers: when the last packet came */
	bool lingers;
};

struct ms_mrc_host {
	struct ms_nic_host nic;
	struct mt_engine *engine;
	struct ms_mrc *mrc;
	uint32_t accepted, most_accepted; /* connections that others opened; see reserve_wqes */
	size_t reserve[2];		  /* the largest blocks of one */
	size_t most_used;		  /* by the engine when an EV last changed */
	uint64_t deadline_ps;
	struct ms_conn *linger_first, *linger_last;
	uint64_t free_ps[MF_PLANES_MAX]; /* when each port will have sent what it was given */
};

/* The connections whose memory is prefetched for a host. */
#define MS_PREFETCH_CONNS 2u
_Static_assert(1 + MS_PREFETCH_CONNS * MT_QP_PIECES <= MS_PREFETCH_PIECES, "one cache line");

struct ms_mrc {
	struct ms_nic_set set;
	struct ms_mrc_cfg cfg;
	uint32_t n_evs;
	struct mt_ev *ev_sets; /* of which each host has one */
	uint32_t n_ev_sets;
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

/* As ms_nic_ops wants them. */
struct ms_nic_host *ms_mrc_host_open(struct ms_nic_set *set, struct ms_nic_worker *own,
				     uint32_t number, uint64_t now_ns);
/* ms_mrc_set_prefetch notes where a connection's memory lies, or that it is gone. */
void ms_mrc_set_prefetch(struct ms_mrc_host *h, const struct ms_conn *c, bool gone);
/* ms_mrc_grow_engine gives an engine the memory that it found missing; false: there is none. */
bool ms_mrc_grow_engine(struct ms_mrc_host *h);
/* ms_mrc_evs returns how many EVs of a plane a configuration gives each host. */
uint32_t ms_mrc_evs(const struct ms_mrc_cfg *cfg);
/*
 * ms_mrc_window returns the window, in units of 128 PSNs, of a connection that has at most so many
 * packets to send: no larger than these, or than three of the largest congestion windows, fill.
 */
uint8_t ms_mrc_window(const struct ms_mrc_cfg *cfg, uint64_t packets);
/* ms_mrc_engine_cfg fills in the configuration of an engine with so many slots. */
void ms_mrc_engine_cfg(const struct ms_mrc_cfg *cfg, uint32_t slots, uint32_t incoming,
		       struct mt_engine_cfg *engine);

/* What ms_nic_ops wants of connections; see there. */
struct ms_flow_end *ms_conn_open(struct ms_nic_host *h, uint32_t id, const struct ms_flow *f,
				 uint64_t now_ps);
bool ms_conn_post(struct ms_nic_host *h, struct ms_flow_end *e, uint32_t k, uint64_t now_ps);
void ms_conn_close(struct ms_nic_host *h, struct ms_flow_end *e);
/* ms_conn_accept makes the destination's end of a flow whose first packet has come. */
void ms_conn_accept(struct ms_mrc_host *h, uint32_t slot, uint64_t now_ns);
/* ms_conn_event takes an event of the engine. */
void ms_conn_event(struct ms_mrc_host *h, const struct mt_event *ev, uint64_t now_ps);
/* ms_conn_reap_idle takes down the connections on which nothing came for long enough. */
void ms_conn_reap_idle(struct ms_mrc_host *h, uint64_t now_ns);
/* ms_conn_linger_ns returns when it is to be called again; UINT64_MAX: never. */
uint64_t ms_conn_linger_ns(const struct ms_mrc_host *h);
/* ms_conn_place is the core's placement: it marks bytes as placed and reports any others. */
bool ms_conn_place(void *ctx, void *mr_user, uint64_t offset, const void *src, uint32_t len);
/* ms_conn_message_is_complete says whether all of message k has been placed. */
bool ms_conn_message_is_complete(const struct ms_conn *c, uint32_t k, uint32_t mtu);

#endif
