/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_verbs_ud.c - verbs' UD QPs and address handles over real sockets: two QPs of one process,
 * and two processes of which one answers what it gets by the address that came with it.
 */
#include "support/test.h"

#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define Q_KEY 0x11111111u
#define DEPTH 16
#define GRH 40
#define ROOM (GRH + 4096)
#define WAIT_MS 60000
#define ROUNDS 50

struct ud {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *memory; /* room for what arrives, then for what is sent */
	union ibv_gid gid;
	uint32_t mtu;
};

static struct ibv_qp *make_qp(struct ud *u)
{
	struct ibv_qp_init_attr init = {.send_cq = u->cq,
					.recv_cq = u->cq,
					.cap = {.max_send_wr = DEPTH,
						.max_recv_wr = DEPTH,
						.max_send_sge = 1,
						.max_recv_sge = 1},
					.qp_type = IBV_QPT_UD,
					.sq_sig_all = 1};
	struct ibv_qp *qp = ibv_create_qp(u->pd, &init);

	assert_non_null(qp);
	return qp;
}

static void ready(struct ibv_qp *qp)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = Q_KEY};
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .sq_psn = 7};

	assert_int_equal(
		ibv_modify_qp(qp, &init,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
		0);
	assert_int_equal(ibv_modify_qp(qp, &rtr, IBV_QP_STATE), 0);
	assert_int_equal(ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

static void ud_fill(struct ud *u)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;

	assert_non_null(list);
	u->ctx = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	assert_non_null(u->ctx);
	u->memory = calloc(2, ROOM);
	u->pd = ibv_alloc_pd(u->ctx);
	u->mr = ibv_reg_mr(u->pd, u->memory, 2 * ROOM, IBV_ACCESS_LOCAL_WRITE);
	u->cq = ibv_create_cq(u->ctx, 4 * DEPTH, NULL, NULL, 0);
	assert_non_null(u->mr);
	assert_non_null(u->cq);
	u->qp = make_qp(u);
	assert_int_equal(ibv_query_gid(u->ctx, 1, 0, &u->gid), 0);
	assert_int_equal(ibv_query_port(u->ctx, 1, &port), 0);
	u->mtu = 128u << port.active_mtu;
}

static void ud_empty(struct ud *u)
{
	assert_int_equal(ibv_destroy_qp(u->qp), 0);
	assert_int_equal(ibv_destroy_cq(u->cq), 0);
	assert_int_equal(ibv_dereg_mr(u->mr), 0);
	assert_int_equal(ibv_dealloc_pd(u->pd), 0);
	assert_int_equal(ibv_close_device(u->ctx), 0);
	free(u->memory);
}

static int ud_open(void **state)
{
	struct ud *u = calloc(1, sizeof(*u));

	assert_non_null(u);
	ud_fill(u);
	*state = u;
	return 0;
}

static int ud_close(void **state)
{
	ud_empty(*state);
	free(*state);
	return 0;
}

#define UD_TEST(function, name) TEST_WITH(ud_open, ud_close, function, name)

static struct ibv_ah_attr address(const union ibv_gid *gid)
{
	return (struct ibv_ah_attr){.is_global = 1, .port_num = 1, .grh.dgid = *gid};
}

static void post_recv(struct ud *u, struct ibv_qp *qp)
{
	struct ibv_sge sge = {(uintptr_t)u->memory, ROOM, u->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_recv(qp, &wr, &bad), 0);
}

static int post_send(struct ud *u, struct ibv_ah *ah, uint32_t qpn, uint32_t q_key, uint32_t len)
{
	struct ibv_sge sge = {(uintptr_t)u->memory + ROOM, len, u->mr->lkey};
	struct ibv_send_wr *bad, wr = {.wr_id = 2,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND_WITH_IMM,
				       .imm_data = htobe32(len),
				       .wr.ud = {ah, qpn, q_key}};

	return ibv_post_send(u->qp, &wr, &bad);
}

/* The next completion of this opcode; those of sends are as they should be, and passed over. */
static struct ibv_wc poll_for(struct ud *u, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc = {0};

	for (int ms = 0; ms < WAIT_MS; ms++) {
		while (ibv_poll_cq(u->cq, 1, &wc) == 1) {
			assert_int_equal(wc.status, IBV_WC_SUCCESS);
			if (wc.opcode == opcode)
				return wc;
		}
		poll(NULL, 0, 1);
	}
	fail_msg("no completion");
	return wc;
}

/* ---- address handles ---- */

static void refuse_ah(struct ud *u, struct ibv_ah_attr attr)
{
	errno = 0;
	assert_null(ibv_create_ah(u->pd, &attr));
	assert_int_equal(errno, EINVAL);
}

/* REQ(ud.ah) */
UD_TEST(ibv_create_ah, refusals)
{
	struct ud *u = *state;
	struct ibv_ah_attr good = address(&u->gid), attr = good;
	struct ibv_ah *ah = ibv_create_ah(u->pd, &good);

	assert_non_null(ah);
	assert_ptr_equal(ah->pd, u->pd);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	attr.is_global = 0;
	refuse_ah(u, attr);
	attr = good;
	attr.port_num = 2;
	refuse_ah(u, attr);
	attr = good;
	attr.grh.sgid_index = 4;
	refuse_ah(u, attr);
	attr = good;
	attr.grh.dgid.raw[0] = 0xff; /* a group */
	refuse_ah(u, attr);
}

/* Groups are not there; a QP or a GID that could not be of one is another matter. */
UD_TEST(ibv_attach_mcast, is_refused)
{
	struct ud *u = *state;
	union ibv_gid group = {.raw = {0xff, 0x0e}};

	assert_int_equal(ibv_attach_mcast(u->qp, &group, 0), EOPNOTSUPP);
	assert_int_equal(ibv_detach_mcast(u->qp, &group, 0), EOPNOTSUPP);
	assert_int_equal(ibv_attach_mcast(u->qp, &u->gid, 0), EINVAL);
}

/* ---- datagrams of one process ---- */

UD_TEST(ibv_post_send, to_oneself_with_all_that_a_completion_says)
{
	struct ud *u = *state;
	struct ibv_ah_attr attr = address(&u->gid), back;
	struct ibv_ah *ah = ibv_create_ah(u->pd, &attr);
	struct ibv_wc wc;

	assert_non_null(ah);
	ready(u->qp);
	test_rand_bytes(u->memory + ROOM, u->mtu);
	post_recv(u, u->qp);
	assert_int_equal(post_send(u, ah, u->qp->qp_num, Q_KEY, u->mtu), 0);
	wc = poll_for(u, IBV_WC_RECV);
	assert_u_eq(wc.byte_len, GRH + u->mtu);
	assert_u_eq(wc.wc_flags, IBV_WC_GRH | IBV_WC_WITH_IMM);
	assert_u_eq(be32toh(wc.imm_data), u->mtu);
	assert_u_eq(wc.src_qp, u->qp->qp_num);
	assert_u_eq(wc.qp_num, u->qp->qp_num);
	assert_bytes_eq(u->memory + GRH, u->memory + ROOM, u->mtu);
	assert_int_equal(ibv_init_ah_from_wc(u->ctx, 1, &wc, (struct ibv_grh *)u->memory, &back),
			 0);
	assert_bytes_eq(&back.grh.dgid, &u->gid, sizeof(u->gid));
	assert_true(back.is_global && back.port_num == 1);
	wc.wc_flags = 0;
	assert_int_equal(ibv_init_ah_from_wc(u->ctx, 1, &wc, (struct ibv_grh *)u->memory, &back),
			 -1);
	assert_int_equal(ibv_destroy_ah(ah), 0);
}

UD_TEST(ibv_post_send, refusals)
{
	struct ud *u = *state;
	struct ibv_ah_attr attr = address(&u->gid);
	struct ibv_pd *other = ibv_alloc_pd(u->ctx);
	struct ibv_ah *ah = ibv_create_ah(u->pd, &attr), *strange = ibv_create_ah(other, &attr);

	assert_int_equal(post_send(u, ah, 17, Q_KEY, 8), EINVAL); /* in RESET */
	ready(u->qp);
	assert_int_equal(post_send(u, NULL, 17, Q_KEY, 8), EINVAL);
	assert_int_equal(post_send(u, strange, 17, Q_KEY, 8), EINVAL);
	assert_int_equal(post_send(u, ah, 1 << 24, Q_KEY, 8), EINVAL);
	assert_int_equal(post_send(u, ah, 17, Q_KEY, 8), 0); /* nobody there: still sent */
	poll_for(u, IBV_WC_SEND);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	assert_int_equal(ibv_destroy_ah(strange), 0);
	assert_int_equal(ibv_dealloc_pd(other), 0);
}

/* Of two datagrams one has the wrong key: the receive is for the other. */
UD_TEST(ibv_post_send, wrong_q_key_is_not_received)
{
	struct ud *u = *state;
	struct ibv_ah_attr attr = address(&u->gid);
	struct ibv_ah *ah = ibv_create_ah(u->pd, &attr);

	ready(u->qp);
	post_recv(u, u->qp);
	assert_int_equal(post_send(u, ah, u->qp->qp_num, Q_KEY + 1, 11), 0);
	assert_int_equal(post_send(u, ah, u->qp->qp_num, Q_KEY, 12), 0);
	assert_u_eq(poll_for(u, IBV_WC_RECV).byte_len, GRH + 12);
	assert_int_equal(ibv_destroy_ah(ah), 0);
}

/* Two QPs, one queue of receives; a datagram that is longer than one leaves it there. */
UD_TEST(ibv_create_srq, serves_datagrams)
{
	struct ud *u = *state;
	struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = DEPTH, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(u->pd, &srq_init);
	struct ibv_qp_init_attr init = {.send_cq = u->cq,
					.recv_cq = u->cq,
					.srq = srq,
					.cap = {.max_send_wr = 1, .max_send_sge = 1},
					.qp_type = IBV_QPT_UD};
	struct ibv_ah_attr attr = address(&u->gid);
	struct ibv_ah *ah = ibv_create_ah(u->pd, &attr);
	struct ibv_sge sge = {(uintptr_t)u->memory, GRH + 100, u->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 5, .sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_qp *qp[2];

	assert_non_null(srq);
	ready(u->qp);
	for (int i = 0; i < 2; i++) {
		qp[i] = ibv_create_qp(u->pd, &init);
		assert_non_null(qp[i]);
		ready(qp[i]);
		assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
	}
	for (int i = 0; i < 2; i++) {
		struct ibv_wc wc;

		assert_int_equal(post_send(u, ah, qp[i]->qp_num, Q_KEY, 101), 0);
		assert_int_equal(post_send(u, ah, qp[i]->qp_num, Q_KEY, 100), 0);
		wc = poll_for(u, IBV_WC_RECV);
		assert_u_eq(wc.byte_len, GRH + 100);
		assert_u_eq(wc.wr_id, 5);
		assert_u_eq(wc.qp_num, qp[i]->qp_num);
		assert_int_equal(ibv_destroy_qp(qp[i]), 0);
	}
	assert_int_equal(ibv_destroy_ah(ah), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

/* REQ(ud.states) */
UD_TEST(ibv_modify_qp, wants_what_a_move_needs)
{
	struct ud *u = *state;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = Q_KEY};
	struct ibv_qp_init_attr init;

	assert_int_equal(
		ibv_modify_qp(u->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT),
		EINVAL);
	assert_int_equal(
		ibv_modify_qp(u->qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		EINVAL);
	ready(u->qp);
	attr.qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(u->qp, &attr, IBV_QP_STATE), EINVAL);
	assert_int_equal(ibv_query_qp(u->qp, &attr, IBV_QP_QKEY, &init), 0);
	assert_int_equal(attr.qp_state, IBV_QPS_RTS);
	assert_u_eq(attr.qkey, Q_KEY);
	assert_u_eq(attr.sq_psn, 7);
	assert_int_equal(init.qp_type, IBV_QPT_UD);
}

/* ---- two processes ---- */

/* Answers each datagram with itself; ends with the pipe. */
static void be_echo(int tell)
{
	struct ud u;

	ud_fill(&u);
	ready(u.qp);
	post_recv(&u, u.qp);
	if (write(tell, &u.qp->qp_num, sizeof(u.qp->qp_num)) != sizeof(u.qp->qp_num))
		_exit(2);
	for (;;) {
		struct ibv_wc wc = poll_for(&u, IBV_WC_RECV);
		struct ibv_ah *ah = ibv_create_ah_from_wc(u.pd, &wc, (struct ibv_grh *)u.memory, 1);

		assert_non_null(ah);
		memcpy(u.memory + ROOM, u.memory + GRH, wc.byte_len - GRH);
		post_recv(&u, u.qp);
		assert_int_equal(post_send(&u, ah, wc.src_qp, Q_KEY, wc.byte_len - GRH), 0);
		assert_int_equal(ibv_destroy_ah(ah), 0);
	}
}

/* ask sends a datagram until it is answered, for any may be lost. */
static void ask(struct ud *u, struct ibv_ah *ah, uint32_t qpn, uint32_t len)
{
	struct ibv_wc wc;

	test_rand_bytes(u->memory + ROOM, len);
	for (int tries = 0; tries < WAIT_MS / 10; tries++) {
		assert_int_equal(post_send(u, ah, qpn, Q_KEY, len), 0);
		for (int ms = 0; ms < 10; ms++) {
			while (ibv_poll_cq(u->cq, 1, &wc) == 1)
				if (wc.opcode == IBV_WC_RECV) {
					assert_int_equal(wc.status, IBV_WC_SUCCESS);
					post_recv(u, u->qp);
					if (wc.byte_len == GRH + len)
						return;
				}
			poll(NULL, 0, 1);
		}
	}
	fail_msg("no answer");
}

TEST(ibv_post_send, another_process_answers)
{
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;
	int pipes[2], status;
	struct ud u;
	uint32_t qpn;
	pid_t echo;

	assert_int_equal(pipe(pipes), 0);
	echo = fork();
	assert_true(echo >= 0);
	if (echo == 0)
		be_echo(pipes[1]);
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &qpn, sizeof(qpn)), sizeof(qpn));
	ud_fill(&u);
	ready(u.qp);
	post_recv(&u, u.qp);
	attr = address(&u.gid);
	ah = ibv_create_ah(u.pd, &attr);
	assert_non_null(ah);
	for (uint32_t i = 0; i < ROUNDS; i++)
		ask(&u, ah, qpn, i == 0 ? 0 : (uint32_t)test_rand_below(u.mtu + 1));
	assert_int_equal(ibv_destroy_ah(ah), 0);
	ud_empty(&u);
	close(pipes[0]);
	assert_int_equal(kill(echo, SIGKILL), 0);
	assert_int_equal(waitpid(echo, &status, 0), echo);
	assert_true(WIFSIGNALED(status)); /* it had not failed before */
}
