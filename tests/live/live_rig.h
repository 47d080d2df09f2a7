/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_rig.h - a device with two connected QPs for tests that drive libmrc over real sockets.
 *
 * Both QPs live in one process and on one NIC, which sends to itself over loopback; LIVE_FORK tests
 * use one rig a process instead.
 */
#ifndef LIVE_LIVE_RIG_H
#define LIVE_LIVE_RIG_H

#include "support/test.h"

#include <mrc.h>

#define RIG_BYTES (1u << 20)
#define RIG_DEPTH 64u
#define RIG_QPS 2

struct rig_end {
	union ibv_gid gid;
	uint64_t address;
	uint32_t qpn, psn, rkey;
};

struct rig {
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct mrc_context *ctx;
	struct mrc_comp_channel *channel;
	struct mrc_cq *cq[RIG_QPS]; /* of sends and receives of the QP with that index */
	struct mrc_qp *qp[RIG_QPS];
	struct rig_end end[RIG_QPS];
	uint8_t *memory; /* RIG_BYTES for each QP, one after the other */
};

/* rig_open opens everything; the QPs are in RESET. */
void rig_open(struct rig *r);
void rig_close(struct rig *r);
/* rig_connect takes QP i from RESET to RTS with this peer. */
void rig_connect(struct rig *r, int i, const struct rig_end *peer);

/* Fixtures: *state becomes a struct rig, with QPs in RESET or connected to each other. */
int rig_setup(void **state);
int rig_setup_connected(void **state);
int rig_teardown(void **state);

/* rig_init_attr returns what rig_open makes QP i with. */
struct mrc_qp_init_attr rig_init_attr(const struct rig *r, int i);
/* rig_wr is a signaled WRITE of `bytes` from the start of QP i's memory to the other's. */
struct ibv_send_wr rig_wr(const struct rig *r, int i, struct ibv_sge *sge, uint32_t bytes);
void rig_post_recv(struct rig *r, int i, uint64_t wr_id);
/* rig_poll waits, up to 10 s, for the next completion of CQ i. */
struct ibv_wc rig_poll(struct rig *r, int i);
/* rig_state returns the state of QP i. */
enum ibv_qp_state rig_state(const struct rig *r, int i);

#endif
