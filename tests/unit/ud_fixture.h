/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ud_fixture.h - a UD engine whose adapter is the test: it says how much each port may send, and
 * keeps what it is told. Each of three ports has one EV.
 */
#ifndef UNIT_UD_FIXTURE_H
#define UNIT_UD_FIXTURE_H

#include "support/test.h"

#include <stdlib.h>

#include "ud/ud_private.h"

#define UD_TEST(function, name) TEST_WITH(ud_setup, ud_teardown, function, name)
#define EVS 3u
#define PORTS 3u
#define ALL_PORTS 7u
#define EV_BASE 700u
#define DEPTH 4u
#define QPN 5u
#define Q_KEY 77u
#define KEPT 16u

/* What a QP has completed. */
struct user {
	uint32_t completions, last_wqes;
	struct mu_completion done[KEPT];
};

struct adapter {
	struct mu_engine *e;
	struct mu_qp *qp;
	struct user user;
	uint32_t room[PORTS]; /* of datagrams, which sending takes */
	uint32_t sent, flushed;
	struct mt_tx_desc tx[KEPT];
};

static inline uint32_t may_send(void *ctx, uint32_t port, uint64_t now_ns)
{
	const struct adapter *a = ctx;

	(void)now_ns;
	return a->room[port];
}

static inline bool take_datagram(void *ctx, const struct mt_tx_desc *d,
				 const struct mw_datagram *headers, uint8_t traffic_class)
{
	struct adapter *a = ctx;

	(void)headers;
	(void)traffic_class;
	assert_true(a->room[d->port] > 0);
	a->room[d->port]--;
	a->tx[a->sent++ % KEPT] = *d;
	return true;
}

static inline void take_flush(void *ctx, uint32_t port, uint64_t now_ns)
{
	struct adapter *a = ctx;

	(void)port;
	(void)now_ns;
	a->flushed = a->sent;
}

static inline void take_completion(void *qp_user, const struct mu_completion *c)
{
	struct user *u = qp_user;

	u->done[u->completions++ % KEPT] = *c;
}

static inline void take_last_wqe(void *qp_user)
{
	struct user *u = qp_user;

	u->last_wqes++;
}

static inline struct mu_qp *find_only_qp(void *ctx, uint32_t qpn)
{
	struct adapter *a = ctx;

	return qpn == QPN ? a->qp : NULL;
}

static inline struct mu_engine *create_engine(struct adapter *a, uint64_t seed)
{
	const struct mu_env env = {.ctx = a,
				   .tx_budget = may_send,
				   .tx = take_datagram,
				   .tx_flush = take_flush,
				   .find_qp = find_only_qp,
				   .complete = take_completion,
				   .last_wqe = take_last_wqe};
	struct mt_ev evs[EVS];
	struct mu_cfg cfg = {.mtu = 1024,
			     .qpn_index_bits = 14,
			     .n_evs = EVS,
			     .n_ports = PORTS,
			     .evs = evs,
			     .seed = seed};

	for (uint32_t i = 0; i < EVS; i++)
		evs[i] = (struct mt_ev){.value = EV_BASE + i, .port = (uint8_t)(i % PORTS)};
	return mu_create(&cfg, &env);
}

static inline struct mu_qp *create_qp(struct mu_engine *e, struct mt_srq *srq, struct user *user)
{
	struct mt_qp_cap cap = {
		.sq_depth = DEPTH, .rq_depth = DEPTH, .max_sge = 1, .max_recv_sge = 1, .srq = srq};

	return mu_qp_create(e, &cap, 0, QPN, MU_QPT_UD, user);
}

static inline int ud_setup(void **state)
{
	struct adapter *a = calloc(1, sizeof(*a));

	*state = a;
	a->e = create_engine(a, 1);
	a->qp = create_qp(a->e, NULL, &a->user);
	return !a->qp;
}

static inline int ud_teardown(void **state)
{
	struct adapter *a = *state;

	mu_qp_destroy(a->qp);
	mu_destroy(a->e);
	free(a);
	return 0;
}

static inline void move(struct mu_qp *qp, enum rd_qp_state to)
{
	struct rd_qp_attr attr = {.state = to, .q_key = Q_KEY};

	assert_true(mu_qp_modify(qp, &attr, RD_QP_STATE | RD_QP_Q_KEY));
}

static inline void make_ready(struct mu_qp *qp)
{
	move(qp, RD_QPS_INIT);
	move(qp, RD_QPS_RTR);
	move(qp, RD_QPS_RTS);
}

/* post_send posts a datagram of one byte to the host with this number. */
static inline bool post_send(struct mu_qp *qp, uint8_t host, uint32_t qpn)
{
	static uint8_t byte;
	const struct rd_ah ah = {.dest = {{host}}};
	struct rd_sge sge = {(uintptr_t)&byte, 1, 0};
	struct rd_send_wr wr = {.sge = &sge,
				.n_sge = 1,
				.flags = RD_SEND_INLINE,
				.opcode = RD_WR_SEND,
				.ud = {&ah, qpn, Q_KEY}};

	return mu_qp_post_send(qp, &wr);
}

/* run lets each port send so many, and returns how many were. */
static inline uint32_t run(struct adapter *a, uint32_t room, uint64_t now_ns)
{
	for (uint32_t i = 0; i < PORTS; i++)
		a->room[i] = room;
	return mu_run(a->e, ALL_PORTS, now_ns);
}

#endif
