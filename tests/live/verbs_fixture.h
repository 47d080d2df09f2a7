/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_fixture.h - two RC QPs of the verbs device in one process, connected to each other over
 * real sockets, for tests of what programs find in the drop-in. Its owner changes what it is made
 * with.
 */
#ifndef LIVE_VERBS_FIXTURE_H
#define LIVE_VERBS_FIXTURE_H

#include "support/test.h"

#include <errno.h>
#include <infiniband/verbs.h>

#define VERBS_FIXTURE_BYTES (1u << 16)
#define VERBS_FIXTURE_DEPTH 64u

struct verbs_fixture {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint8_t *memory; /* VERBS_FIXTURE_BYTES for each QP, one after the other */
	struct ibv_cq *cq[2];
	struct ibv_qp *qp[2];
	struct ibv_srq *srq; /* of both; NULL: none. Destroyed with the fixture */
};

/* How long a QP waits and how often it tries, in the codes of ibv_qp_attr. */
struct verbs_fixture_patience {
	uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer;
};

/* verbs_fixture_open makes all but the QPs. */
void verbs_fixture_open(struct verbs_fixture *r);
/* verbs_fixture_init returns what QP i is made with, if the test says nothing else. */
struct ibv_qp_init_attr verbs_fixture_init(const struct verbs_fixture *r, int i);
/* verbs_fixture_init_ex returns that for an extended QP with these IBV_QP_EX_WITH_ operations. */
struct ibv_qp_init_attr_ex verbs_fixture_init_ex(const struct verbs_fixture *r, int i,
						 uint64_t ops);
/* verbs_fixture_make makes the QPs that are not there yet; verbs_fixture_qps connects both as
 * well. */
void verbs_fixture_make(struct verbs_fixture *r);
void verbs_fixture_qps(struct verbs_fixture *r);
/* verbs_fixture_connect takes QP i from RESET to RTS, towards the other one; it allows `access`. */
void verbs_fixture_connect(struct verbs_fixture *r, int i, unsigned int access);
/* verbs_fixture_connect_patient does so with other times than usual. */
void verbs_fixture_connect_patient(struct verbs_fixture *r, int i, unsigned int access,
				   const struct verbs_fixture_patience *p);
void verbs_fixture_close(struct verbs_fixture *r);

/* Fixtures: *state is a fixture; of the second with connected QPs, of the third with an SRQ as
 * well. */
int verbs_fixture_setup(void **state);
int verbs_fixture_setup_qps(void **state);
int verbs_fixture_setup_srq(void **state);
int verbs_fixture_teardown(void **state);

/* verbs_fixture_sge names `bytes` at an offset in QP i's memory. */
struct ibv_sge verbs_fixture_sge(const struct verbs_fixture *r, int i, uint32_t offset,
				 uint32_t bytes);
/* verbs_fixture_send posts a signaled SEND from the start of QP i's memory. */
void verbs_fixture_send(struct verbs_fixture *r, int i, uint64_t wr_id, uint32_t bytes);
/* verbs_fixture_write posts a signaled WRITE from the start of QP i's memory to the other's. */
void verbs_fixture_write(struct verbs_fixture *r, int i, uint64_t wr_id, uint32_t bytes);
/* verbs_fixture_poll waits, a minute and more, for the next completion of a CQ. */
struct ibv_wc verbs_fixture_poll(struct ibv_cq *cq);
/* verbs_fixture_start_poll waits as long for one of an extended CQ, which it returns, polled. */
struct ibv_cq_ex *verbs_fixture_start_poll(struct ibv_cq *cq);
/* verbs_fixture_event waits as long for the next asynchronous event; it is to be acknowledged. */
struct ibv_async_event verbs_fixture_event(struct verbs_fixture *r);

#endif
