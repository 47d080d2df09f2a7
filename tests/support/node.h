/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node.h - an engine for tests whose peer is the test, writing its packets by hand.
 *
 * A node is an engine with one EV profile, one CC profile, one MR and one QP. PSNs in both
 * directions begin NODE_PSNS_TO_WRAP before the wrap, so that every longer test crosses it.
 */
#ifndef SUPPORT_NODE_H
#define SUPPORT_NODE_H

#include "core/state/engine_state.h"
#include "core/state/qp.h"
#include "support/engine_node.h"

#define NODE_EVS_MAX 64u
#define NODE_PD 7u
#define NODE_MR_INDEX 1u
#define NODE_KEY (NODE_MR_INDEX << 8 | 0x5Au)
#define NODE_MR_START UINT64_C(0x7000001000)
#define NODE_MR_BYTES 65536u
/* The payload of all WRITEs: this many bytes, of which each differs from its neighbours. */
#define NODE_PAYLOAD_BYTES 65536u
#define NODE_PSNS_TO_WRAP 4u
#define NODE_ALL_PORTS UINT32_MAX
#define NODE_MTU 256u

/* What a node is made with; node_opts_default fills it in, tests change what they are about. */
struct node_opts {
	struct mt_engine_cfg cfg; /* 2 ports, 4 QPs */
	struct mt_ev evs[NODE_EVS_MAX];
	struct mt_ev_profile_cfg ev_profile; /* 8 EVs, all active; .evs is set by node_open */
	struct mt_cc_profile_cfg cc_profile; /* none */
	struct mt_qp_cap cap;		     /* 64 send and receive WRs, 4 SGEs */
	struct rd_qp_attr attr;		     /* MTU 256, MPR 1; dest is set by node_open */
};

struct node {
	struct engine_node base;
	struct mt_engine *engine; /* that of base */
	struct mt_qp *qp;
	struct node_opts opts;
	struct rd_gid self, peer;
	uint32_t qpn, peer_qpn;
	uint8_t *memory;  /* of its MR */
	unsigned placed;  /* calls of env->place */
	uint64_t last_at; /* offset and length of the last one */
	uint32_t last_len;
	bool memory_gone; /* placing fails */
};

void node_opts_default(struct node_opts *o);
/* node_open makes the engine with all but its connection; the QP is in INIT. side: 0 or 1. */
void node_open(struct node *n, const struct node_opts *o, unsigned side);
/* node_connect takes the QP to RTS. */
void node_connect(struct node *n);
void node_close(struct node *n);
/* node_modify calls mt_qp_modify at time 0, with more memory when it asks for it. */
int node_modify(struct node *n, struct mt_qp *qp, const struct rd_qp_attr *attr, uint32_t mask);
/* node_check_attr_eq compares attributes field by field and fails the case where two differ. */
void node_check_attr_eq(const struct rd_qp_attr *got, const struct rd_qp_attr *want);
/* node_exhaust takes all memory that the engine has left; it gets more when it asks for it. */
void node_exhaust(struct node *n);
/* node_add_qp makes another QP, connected like the first one, but to peer QPN `dest`. */
struct mt_qp *node_add_qp(struct node *n, uint32_t qpn, uint32_t dest, void *user);
/* node_payload returns the byte at an offset of every WRITE's payload. */
const uint8_t *node_payload(uint32_t offset);

/* node_post queues a WRITE of len bytes to offset 0 of the peer's MR, with more memory if
 * needed. */
int node_post(struct node *n, struct mt_qp *qp, uint64_t wr_id, uint32_t len, uint32_t flags);
/* node_tx takes at most max packets, data from all ports. */
uint32_t node_tx(struct node *n, uint64_t now_ns, struct mt_tx_desc *descs, uint32_t max);
/* node_tx_opcode takes packets until one has this opcode; false when none is left. */
bool node_tx_opcode(struct node *n, uint64_t now_ns, uint8_t opcode, struct mt_tx_desc *desc);
/* node_drain throws away everything that may be sent now and returns how many packets that was. */
uint32_t node_drain(struct node *n, uint64_t now_ns);
/*
 * node_until_timeout lets time pass to the first timeout of the engine, throws away what is sent,
 * and returns how many tail probes went out at it.
 */
uint64_t node_until_timeout(struct node *n);
bool node_poll(struct node *n, struct mt_event *ev);
/* node_check_completion fails the case unless the next event is that of this send WR. */
void node_check_completion(struct node *n, uint64_t wr_id, enum rd_wc_status status);
/* node_check_no_event fails the case if there is one. */
void node_check_no_event(struct node *n);
struct mt_stats node_stats(const struct node *n);

/* ---- packets of a peer that is written by hand; change them before node_rx ---- */

/* node_psn returns the 64-bit number of the i-th PSN of a QP, node_wire_psn what travels of it. */
uint64_t node_psn(uint64_t i);
uint32_t node_wire_psn(uint64_t i);
/*
 * node_write is the i-th PSN, part of message msn: len bytes of payload of `whole`, to the offset
 * that the test says.
 */
struct mw_packet node_write(const struct node *n, uint8_t opcode, uint64_t i, uint16_t msn,
			    uint32_t len, uint32_t whole);
/* node_sack was caused by `trigger` and says that all PSNs before the expected-th have arrived. */
struct mw_packet node_sack(const struct node *n, const struct mt_tx_desc *trigger,
			   uint64_t expected);
struct mw_packet node_nack(const struct node *n, const struct mt_tx_desc *trigger, uint8_t reason);
/* node_ack names the last PSN of the messages below msn. */
struct mw_packet node_ack(const struct node *n, uint8_t syndrome, uint32_t msn);
struct mw_packet node_probe(const struct node *n, uint16_t id);

/* node_meta: from the peer, on port 0 with EV 0xE0E1E2E3, whole, not marked. */
struct mt_rx_meta node_meta(const struct node *n);
void node_rx(struct node *n, uint64_t now_ns, const struct mw_packet *pkt);
void node_rx_meta(struct node *n, uint64_t now_ns, const struct mt_rx_meta *meta,
		  const struct mw_packet *pkt);

#endif
