/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_fixture.h - a device with two connected QPs for tests that drive libmrc over real sockets.
 *
 * Both QPs live in one process and on one NIC, which sends to itself over loopback; LIVE_FORK tests
 * use one fixture a process instead.
 */
#ifndef LIVE_LIVE_FIXTURE_H
#define LIVE_LIVE_FIXTURE_H

#include "support/test.h"

#include <errno.h>
#include <mrc.h>

#define FIXTURE_BYTES (1u << 20)
#define FIXTURE_DEPTH 64u
#define FIXTURE_QPS 2

/* The call returns -1 and errno is `err`. */
#define assert_minus_one(call, err)             \
	do {                                    \
		errno = 0;                      \
		assert_int_equal((call), -1);   \
		assert_int_equal(errno, (err)); \
	} while (0)

struct fixture_end {
	union ibv_gid gid;
	uint64_t address;
	uint32_t qpn, psn, rkey;
};

struct fixture {
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct mrc_context *ctx;
	struct mrc_comp_channel *channel;
	struct mrc_cq *cq[FIXTURE_QPS]; /* of sends and receives of the QP with that index */
	struct mrc_qp *qp[FIXTURE_QPS];
	struct fixture_end end[FIXTURE_QPS];
	uint8_t *memory; /* FIXTURE_BYTES for each QP, one after the other */
};

/* fixture_open opens everything; the QPs are in RESET. */
void fixture_open(struct fixture *r);
void fixture_close(struct fixture *r);
/* fixture_connect takes QP i from RESET to RTS with this peer. */
void fixture_connect(struct fixture *r, int i, const struct fixture_end *peer);

/* Fixtures: *state becomes a struct fixture, with QPs in RESET or connected to each other. */
int fixture_setup(void **state);
int fixture_setup_connected(void **state);
int fixture_teardown(void **state);

/* fixture_init_attr returns what fixture_open makes QP i with. */
struct mrc_qp_init_attr fixture_init_attr(const struct fixture *r, int i);
/* fixture_wr is a signaled WRITE of `bytes` from the start of QP i's memory to the other's. */
struct ibv_send_wr fixture_wr(const struct fixture *r, int i, struct ibv_sge *sge, uint32_t bytes);
void fixture_post_recv(struct fixture *r, int i, uint64_t wr_id);
/* fixture_poll waits, up to 10 s, for the next completion of CQ i. */
struct ibv_wc fixture_poll(struct fixture *r, int i);
/* fixture_state returns the state of QP i. */
enum ibv_qp_state fixture_state(const struct fixture *r, int i);

#endif
