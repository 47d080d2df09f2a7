/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_uc.c - a UC QP and a peer made of bare ports: its frames go to the peer, it takes those of
 * the peer alone, and a message is one packet.
 */
#include "unit/ud_nic_fixture.h"

#define UC_TEST(function, name) TEST_WITH(uc_setup, ud_teardown, function, name)
#define UC_MTU 1024u

static int uc_setup(void **state)
{
	return ud_open(state, MH_QPT_UC);
}

/* The attributes that each move needs. */
static int uc_move(struct ud_fixture *u, enum rd_qp_state state)
{
	static const uint32_t needs[RD_QPS_COUNT] = {
		[RD_QPS_INIT] = RD_QP_ACCESS,
		[RD_QPS_RTR] = RD_QP_DEST | RD_QP_PATH_MTU | RD_QP_RQ_PSN,
		[RD_QPS_RTS] = RD_QP_SQ_PSN,
	};
	struct rd_qp_attr attr = {.state = state,
				  .dest = u->ah.dest,
				  .dest_qpn = FIXTURE_PEER_QPN,
				  .path_mtu = UC_MTU,
				  .rq_psn = 4,
				  .sq_psn = 0xFFFFFF,
				  .access = RD_ACCESS_LOCAL_WRITE};

	return mh_qp_modify(u->qp, &attr, RD_QP_STATE | needs[state]);
}

static void uc_ready(struct ud_fixture *u)
{
	assert_i_eq(uc_move(u, RD_QPS_INIT), 0);
	assert_i_eq(uc_move(u, RD_QPS_RTR), 0);
	assert_i_eq(uc_move(u, RD_QPS_RTS), 0);
}

static struct rd_send_wr uc_wr(struct ud_fixture *u, struct rd_sge *sge, uint32_t len)
{
	*sge = (struct rd_sge){(uintptr_t)u->nic->buffer, len, mh_mr_lkey(u->nic->mr)};
	return (struct rd_send_wr){.wr_id = 7,
				   .sge = sge,
				   .n_sge = 1,
				   .flags = RD_SEND_SIGNALED,
				   .opcode = RD_WR_SEND};
}

static struct mw_datagram uc_packet(struct ud_fixture *u, uint32_t len)
{
	return (struct mw_datagram){.p_key = 0xFFFF,
				    .dqp = mh_qp_number(u->qp),
				    .q_key = MW_Q_KEY_UC,
				    .src_qpn = FIXTURE_PEER_QPN,
				    .payload_len = len,
				    .pad = -len & 3};
}

/* ---- sending ---- */

/* The WR says nothing of an address, and needs no memory. REQ(uc.carrier) */
UC_TEST(mh_qp_post_send, goes_to_the_peer)
{
	struct ud_fixture *u = *state;
	struct rd_send_wr wr = {
		.flags = RD_SEND_SIGNALED | RD_SEND_IMM, .imm = 0xABCD, .opcode = RD_WR_SEND};
	struct mw_datagram dg;
	struct mio_rx frame;
	size_t headers;

	assert_i_eq(ud_post(u, &wr), EINVAL); /* in RESET */
	uc_ready(u);
	assert_i_eq(ud_post(u, &wr), 0);
	assert_true(fixture_receive(u->nic, &frame) < FIXTURE_PLANES);
	assert_int_equal(mw_datagram_decode(frame.bytes, frame.len - 4, &dg, &headers), MW_OK);
	assert_u_eq(dg.dqp, FIXTURE_PEER_QPN);
	assert_u_eq(dg.src_qpn, mh_qp_number(u->qp));
	assert_u_eq(dg.q_key, MW_Q_KEY_UC);
	assert_u_eq(dg.psn, 0xFFFFFF);
	assert_u_eq(dg.imm, 0xABCD);
	assert_u_eq(dg.payload_len, 0);
	assert_u_eq(ud_poll(u).opcode, RD_WC_SEND);
}

/* REQ(uc.one-packet) */
UC_TEST(mh_qp_post_send, takes_the_path_mtu_and_no_more)
{
	struct ud_fixture *u = *state;
	struct rd_sge sge;
	struct rd_send_wr wr = uc_wr(u, &sge, UC_MTU + 1);

	uc_ready(u);
	assert_i_eq(ud_post(u, &wr), EINVAL);
	wr = uc_wr(u, &sge, UC_MTU);
	assert_i_eq(ud_post(u, &wr), 0);
	assert_u_eq(ud_poll(u).status, RD_WC_SUCCESS);
	assert_u_eq(fixture_counter(u->nic, "ud_tx_bytes"), UC_MTU);
	wr.opcode = RD_WR_WRITE;
	assert_i_eq(ud_post(u, &wr), EINVAL);
}

/* ---- receiving ---- */

UC_TEST(mu_receive, fills_a_receive_without_a_grh)
{
	struct ud_fixture *u = *state;
	struct mw_datagram dg = uc_packet(u, 8);
	struct mh_wc wc;

	uc_ready(u);
	memset(u->nic->buffer, 0, 9);
	ud_recv(u, 8);
	dg.with_imm = true;
	dg.imm = 9;
	ud_arrive(u, &dg, 0);
	wc = ud_poll(u);
	assert_u_eq(wc.status, RD_WC_SUCCESS);
	assert_u_eq(wc.byte_len, 8);
	assert_u_eq(wc.imm, 9);
	assert_u_eq(wc.flags, RD_WC_WITH_IMM);
	assert_bytes_eq(u->nic->buffer, "dddddddd\0", 9);
}

/* Whoever is not the peer's QP at the peer's address uses up nothing. REQ(uc.peer) */
UC_TEST(mu_receive, of_the_peer_alone)
{
	struct ud_fixture *u = *state;
	struct mw_datagram good = uc_packet(u, 8), dg = good;

	uc_ready(u);
	ud_dropped(u, &dg, 0, "ud_drop_no_recv");
	ud_recv(u, 8);
	dg.src_qpn++;
	ud_dropped(u, &dg, 0, "ud_drop_key");
	dg = good;
	dg.q_key = 0;
	ud_dropped(u, &dg, 0, "ud_drop_key");
	dg = good;
	dg.p_key = 0x7FFE;
	ud_dropped(u, &dg, 0, "ud_drop_key");
	dg = good;
	dg.payload_len = 12;
	ud_dropped(u, &dg, 0, "ud_drop_recv_too_short");
	ud_arrive(u, &good, 0);
	assert_u_eq(ud_poll(u).status, RD_WC_SUCCESS);
	assert_u_eq(fixture_counter(u->nic, "ud_rx"), 1);
}

/* The QPN is right, and the host another one. REQ(uc.peer) */
UC_TEST(mu_receive, of_the_peers_address_alone)
{
	struct ud_fixture *u = *state;
	struct mw_datagram dg = uc_packet(u, 8);

	memcpy(u->ah.dest.b, fixture_addr(0, 8, 0).ip, sizeof(u->ah.dest.b));
	uc_ready(u);
	ud_recv(u, 8);
	ud_dropped(u, &dg, 0, "ud_drop_key");
	assert_u_eq(fixture_counter(u->nic, "ud_rx"), 0);
}

/* ---- states ---- */

/* REQ(uc.states) */
UC_TEST(mh_qp_modify, wants_a_peer_and_keeps_it)
{
	struct ud_fixture *u = *state;
	struct rd_qp_attr attr = {.state = RD_QPS_RTR, .dest = u->ah.dest, .path_mtu = 256};
	struct rd_qp_attr init, rtr;
	uint32_t peer = RD_QP_STATE | RD_QP_DEST;

	assert_i_eq(uc_move(u, RD_QPS_RTR), EINVAL);
	assert_i_eq(uc_move(u, RD_QPS_INIT), 0);
	mh_qp_query(u->qp, &init);
	assert_u_eq(init.access, RD_ACCESS_LOCAL_WRITE);
	assert_u_eq(init.rq_psn, 0);
	assert_i_eq(mh_qp_modify(u->qp, &attr, RD_QP_STATE), EINVAL);
	assert_i_eq(mh_qp_modify(u->qp, &attr, peer), EINVAL); /* QPN 0 */
	attr.dest_qpn = 1u << 24;
	assert_i_eq(mh_qp_modify(u->qp, &attr, peer), EINVAL);
	assert_i_eq(mh_qp_modify(u->qp, &attr, RD_QP_Q_KEY), EINVAL);
	assert_i_eq(uc_move(u, RD_QPS_RTR), 0);
	mh_qp_query(u->qp, &rtr);
	assert_u_eq(rtr.path_mtu, UC_MTU);
	assert_u_eq(rtr.rq_psn, 4);
	attr.dest_qpn = 5;
	assert_i_eq(mh_qp_modify(u->qp, &attr, RD_QP_DEST), EINVAL);
	assert_i_eq(mh_qp_modify(u->qp, &attr, RD_QP_PATH_MTU), EINVAL);
	assert_i_eq(uc_move(u, RD_QPS_RTS), 0);
	mh_qp_query(u->qp, &attr);
	assert_u_eq(attr.dest_qpn, FIXTURE_PEER_QPN);
	assert_u_eq(attr.path_mtu, UC_MTU);
	assert_u_eq(attr.rq_psn, 4);
	assert_u_eq(attr.sq_psn, 0xFFFFFF);
	assert_u_eq(attr.q_key, 0);
}

/* The highest QPN and the MTU of the engine are allowed, a larger MTU is not; what no bit asks for
 * is not looked at. */
UC_TEST(mh_qp_modify, bounds_of_a_peer)
{
	struct ud_fixture *u = *state;
	uint32_t mtu = u->nic->dev->nic->env.mtu;
	struct rd_qp_attr attr = {.dest = u->ah.dest, .dest_qpn = RD_BITS_24, .path_mtu = mtu + 1};

	assert_i_eq(uc_move(u, RD_QPS_INIT), 0);
	assert_i_eq(mh_qp_modify(u->qp, &attr, RD_QP_DEST | RD_QP_PATH_MTU), EINVAL);
	assert_i_eq(mh_qp_modify(u->qp, &attr, RD_QP_DEST), 0);
	attr.path_mtu = mtu;
	assert_i_eq(mh_qp_modify(u->qp, &attr, RD_QP_PATH_MTU), 0);
	mh_qp_query(u->qp, &attr);
	assert_u_eq(attr.dest_qpn, RD_BITS_24);
	assert_u_eq(attr.path_mtu, mtu);
}

/* What is posted in SQD waits; ERR flushes; RESET forgets the peer. */
UC_TEST(mh_qp_modify, queues)
{
	struct ud_fixture *u = *state;
	struct rd_sge sge;
	struct rd_send_wr wr = uc_wr(u, &sge, 8);
	struct rd_qp_attr attr;
	struct mio_rx frame;

	uc_ready(u);
	assert_i_eq(uc_move(u, RD_QPS_SQD), 0);
	assert_i_eq(ud_post(u, &wr), 0);
	assert_i_eq(mh_qp_modify(u->qp, &(struct rd_qp_attr){.state = RD_QPS_RTS}, RD_QP_STATE), 0);
	assert_true(fixture_receive(u->nic, &frame) < FIXTURE_PLANES);
	assert_u_eq(ud_poll(u).status, RD_WC_SUCCESS);
	ud_recv(u, 8);
	assert_i_eq(uc_move(u, RD_QPS_ERR), 0);
	assert_u_eq(ud_poll(u).status, RD_WC_WR_FLUSH_ERR);
	assert_i_eq(uc_move(u, RD_QPS_RESET), 0);
	mh_qp_query(u->qp, &attr);
	assert_u_eq(attr.dest_qpn, 0);
	uc_ready(u);
}
