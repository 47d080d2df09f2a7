/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn.h - the MRC objects of one end of `mrc perf`: device, memory, CQ, QPs, all connected.
 *
 * Memory: `bytes` to send from, `bytes` for the peer to write to, and for each QP a credit that the
 * peer writes and one to write from. A credit is how many immediates a QP has taken so far: the
 * other end may have as many under way as there are receives beyond it.
 */
#ifndef SOFTMRC_CLI_PERF_PERF_CONNECTION_H
#define SOFTMRC_CLI_PERF_PERF_CONNECTION_H

#include "cli/perf/peer_link.h"
#include "cli/perf/perf_plan.h"

#include <mrc.h>

struct perf_qp {
	struct mrc_qp *qp;
	uint32_t qpn, psn;
	uint32_t peer_qpn, peer_psn;
	uint64_t *posted_ns;   /* when each message in flight was posted; a ring of `depth` */
	uint64_t posted, done; /* messages */
	uint64_t received;     /* immediates taken */
	uint64_t credited;     /* of these, the peer was told */
	bool crediting;	       /* a credit is under way */
};

struct perf_connection {
	const struct perf_plan *plan;
	struct ibv_context *device;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct mrc_context *context;
	struct mrc_cq *cq;
	struct perf_qp qp[PERF_QPS_MAX];
	uint8_t *memory;
	uint64_t bytes;	   /* of a message at most, rounded up to pages */
	uint32_t receives; /* of each QP, always posted */
	uint64_t peer_memory, peer_bytes;
	uint32_t peer_rkey;
	union ibv_gid gid, peer_gid;
	enum ibv_mtu mtu;   /* agreed */
	const char *form;   /* what carries packets here; NULL: statistics do not tell */
	char peer_form[24]; /* there; empty: the peer does not tell */
	char error[240];
};

/* What a completion is of, in the low bits of wr_id; the QP's index is above. */
enum perf_wr { PERF_WR_DATA, PERF_WR_CREDIT, PERF_WR_RECV };
#define PERF_WR_BITS 2u

/* perf_connection_open makes everything up to QPs in INIT. 0, or -1; perf_connection_close in any
 * case. */
int perf_connection_open(struct perf_connection *r, const struct perf_plan *plan);
void perf_connection_close(struct perf_connection *r);

/* perf_connection_describe returns what the peer must know; perf_connection_connect takes the
 * peer's. 0 or -1. */
json_t *perf_connection_describe(struct perf_connection *r);
int perf_connection_connect(struct perf_connection *r, json_t *peer);

/* perf_connection_write posts `size` bytes on QP i. 0, 1 when there is no room, -1. */
int perf_connection_write(struct perf_connection *r, uint32_t i, uint64_t size, bool imm,
			  uint32_t value);
/* perf_connection_can_write says whether QP i has room for one more message, and credit for an
 * immediate. */
bool perf_connection_can_write(const struct perf_connection *r, uint32_t i, bool imm);
/* perf_connection_received notes an immediate taken by QP i, posts its receive again and gives
 * credit. */
int perf_connection_received(struct perf_connection *r, uint32_t i);
/* perf_connection_credited notes that a credit has arrived at the peer. 0 or -1. */
int perf_connection_credited(struct perf_connection *r, uint32_t i);
/* perf_connection_poll takes completions, checks them, and returns how many, or -1. */
int perf_connection_poll(struct perf_connection *r, struct ibv_wc *wc, int n);

#endif
